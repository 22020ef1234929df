//! One file per verb: read the arguments, call the libraries, print.

pub(crate) mod audit;
pub(crate) mod example;
pub(crate) mod init;
pub(crate) mod profile;
pub(crate) mod publish;
