//! One file per verb: read the arguments, call the libraries, print.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod evaluate;
pub(crate) mod example;
pub(crate) mod experiment;
pub(crate) mod init;
pub(crate) mod load;
pub(crate) mod profile;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod rewrite;
pub(crate) mod taxonomy;
