//! Errors as exceptions: one class per fault, with a remedy in the words of Python.

use chrysalis::{Error, Fault, Knob, Remedy};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::knobs::{Keywords, keyword};

/// The classes are written in Python, where they have several bases and a page of the manual.
const MODULE: &str = "chrysalis._errors";

/// The class of a fault.
fn class_of(fault: Fault) -> &'static str {
    match fault {
        Fault::Request => "RequestError",
        Fault::Infeasible => "InfeasibleError",
        Fault::Question => "QuestionError",
        Fault::Stopped => "StoppedError",
        Fault::Internal => "InternalError",
    }
}

/// An error as the exception that Python raises.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import(MODULE)?.getattr(class_of(error.fault))?;
        let said = PyDict::new(py);
        said.set_item("remedy", error.remedy.spelled(&Keywords))?;
        Ok(PyErr::from_value(class.call((in_keywords(&error.message),), Some(&said))?))
    };
    made().unwrap_or_else(|failed| failed)
}

/// A message with knobs by the names that they have here: what a knob goes with, or has no effect on, is said of a keyword.
fn in_keywords(message: &str) -> String {
    let renamed = Knob::ALL.into_iter().filter(|knob| keyword(*knob) != knob.name());
    renamed.fold(message.to_owned(), |message, knob| {
        [" goes with ", " has no effect"].iter().fold(message, |message, said| {
            message.replace(&format!("`{knob}`{said}"), &format!("`{}`{said}", keyword(knob)))
        })
    })
}

/// An error of the request, as an exception.
pub(crate) fn refused(py: Python<'_>, message: impl Into<String>, remedy: impl Into<Remedy>) -> PyErr {
    exception(py, &Error::request(message, remedy))
}

/// Raises what went wrong.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<Error>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error.into()))
    }
}
