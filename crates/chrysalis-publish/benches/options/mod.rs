//! The arguments of benchmarks: a file, then `--name value` in any order.

use std::collections::BTreeMap;

/// The file and the options by name. Cargo adds a `--bench` of its own.
pub(crate) fn options() -> (String, BTreeMap<String, String>) {
    let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
    let file = arguments.next().expect("a CSV file");
    let mut options = BTreeMap::new();
    while let Some(name) = arguments.next() {
        options.insert(name.trim_start_matches("--").to_owned(), arguments.next().expect("a value"));
    }
    (file, options)
}
