//! How the page is told that something went wrong.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chrysalis::{Error, Fault, Knob, Remedy, Spelling};
use serde_json::{Value, json};

/// An answer in JSON, or why there is none.
pub(crate) type Reply = Result<Json, Failure>;

/// A value that is sent as JSON.
pub(crate) struct Json(pub(crate) Value);

impl IntoResponse for Json {
    fn into_response(self) -> Response {
        ([("content-type", "application/json")], self.0.to_string()).into_response()
    }
}

/// The fault of what was asked. It is an ordinary answer: browsers log any other status, and nothing is wrong with the
/// server.
pub(crate) struct Failure(pub(crate) Error);

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.into())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        Json(json!({"error": shown(&self.0)})).into_response()
    }
}

/// A refusal at the door: the request is none that the page makes.
pub(crate) fn refused(status: StatusCode, sentence: &'static str) -> Response {
    let body = json!({"error": {"fault": "refused", "message": sentence, "remedy": "", "knobs": []}});
    (status, Json(body)).into_response()
}

/// An error as JSON: whose fault it is, what is wrong, and what to do about it. Knobs are listed, too, so that the page
/// can offer to turn them.
pub(crate) fn shown(error: &Error) -> Value {
    let fault = match error.fault {
        Fault::Request => "request",
        Fault::Infeasible => "infeasible",
        Fault::Question => "question",
        Fault::Stopped => "stopped",
        Fault::Internal => "internal",
    };
    let knobs = error.remedy.knobs().map(|(knob, value)| json!({"knob": knob.name(), "value": value}));
    json!({
        "fault": fault,
        "message": error.message,
        "remedy": error.remedy.spelled(&OnThePage),
        "knobs": knobs.collect::<Vec<_>>(),
    })
}

/// How the page calls what can be set.
pub(crate) struct OnThePage;

impl Spelling for OnThePage {
    fn knob(&self, knob: Knob, value: &str) -> String {
        let said = if value.is_empty() { String::new() } else { format!(" {value}") };
        match knob {
            Knob::Require => format!("the promise{said}"),
            Knob::Quasi => format!("the role “others may know it”{said}"),
            Knob::Sensitive => format!("the role “secret”{said}"),
            Knob::Other => format!("the role “kept as it is”{said}"),
            Knob::Person => format!("the role “numbers people”{said}"),
            Knob::Weight => format!("the role “how many people a row stands for”{said}"),
            Knob::Prepare => format!("“round, shorten or replace”{said}"),
            Knob::Key => "the file with your key".to_owned(),
            Knob::PopulationTable => "the second table".to_owned(),
            Knob::Taxonomy => "groups of values".to_owned(),
            Knob::Method => format!("the way of publishing{said}"),
            Knob::Accept => format!("the consent “{value}”"),
            Knob::Out => "“a new folder”, in the step “Publish”".to_owned(),
            Knob::Force => "`chrysalis publish --force` in a terminal".to_owned(),
            _ if value.is_empty() => format!("`{knob}` in the recipe"),
            _ => format!("`{knob} = {value}` in the recipe"),
        }
    }

    fn manual(&self) -> String {
        "the guide of the command line".to_owned()
    }
}

/// What was asked for is not in memory.
pub(crate) fn gone(what: &str) -> Error {
    Error::request(format!("this {what} is no longer in memory"), Remedy::from("open it again"))
}
