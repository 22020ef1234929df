//! Tables in formats that we do not read, known by the names and the first bytes of their files.

use std::fmt;
use std::path::Path;

use chrysalis_table::Remedy;

/// A format that other programs keep tables in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignFormat {
    /// `.json`.
    Json,
    /// `.jsonl`: a JSON value per line.
    JsonLines,
    /// `.xlsx`.
    Workbook,
    /// `.xls`.
    OldWorkbook,
    /// `.ods`.
    OpenDocument,
    /// `.sav`.
    Spss,
    /// `.dta`.
    Stata,
    /// A zip file, which may be a workbook.
    Zip,
}

const ZIP: &[u8] = b"PK\x03\x04";
const OLD_WORKBOOK: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
const STATA: &[u8] = b"<stata_dta>";
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl ForeignFormat {
    /// The format of a file, if its name or its first bytes give it away.
    pub(crate) fn of(name: &str, start: &[u8]) -> Option<Self> {
        ForeignFormat::of_name(name).or_else(|| ForeignFormat::of_bytes(start))
    }

    fn of_name(name: &str) -> Option<Self> {
        let mut path = Path::new(name);
        let extension = |path: &Path| Some(path.extension()?.to_str()?.to_lowercase());
        if extension(path).is_some_and(|end| end == "gz" || end == "zst") {
            path = Path::new(path.file_stem()?);
        }
        match extension(path)?.as_str() {
            "json" => Some(ForeignFormat::Json),
            "jsonl" | "ndjson" => Some(ForeignFormat::JsonLines),
            "xlsx" | "xlsm" => Some(ForeignFormat::Workbook),
            "xls" => Some(ForeignFormat::OldWorkbook),
            "ods" => Some(ForeignFormat::OpenDocument),
            "sav" | "zsav" => Some(ForeignFormat::Spss),
            "dta" => Some(ForeignFormat::Stata),
            _ => None,
        }
    }

    fn of_bytes(start: &[u8]) -> Option<Self> {
        match start {
            _ if start.starts_with(ZIP) => Some(ForeignFormat::Zip),
            _ if start.starts_with(OLD_WORKBOOK) => Some(ForeignFormat::OldWorkbook),
            _ if start.starts_with(b"$FL2") || start.starts_with(b"$FL3") => Some(ForeignFormat::Spss),
            _ if start.starts_with(STATA) => Some(ForeignFormat::Stata),
            _ => json(start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start)),
        }
    }

    /// What to do with it.
    pub(crate) fn hint(self) -> Remedy {
        let call = match self {
            ForeignFormat::Workbook | ForeignFormat::OldWorkbook | ForeignFormat::OpenDocument => {
                return "save the sheet as CSV (UTF-8) in the program that made it, and name that file".into();
            }
            ForeignFormat::Zip => {
                return "if it is a workbook, save its sheet as CSV (UTF-8), else unpack it; then name that file"
                    .into();
            }
            ForeignFormat::Json => "read_json(…)",
            ForeignFormat::JsonLines => "read_json(…, lines=True)",
            ForeignFormat::Spss => "read_spss(…)",
            ForeignFormat::Stata => "read_stata(…)",
        };
        let example = format!("for example with pandas: {call}.to_csv(…, index=False)");
        format!("save it as CSV or Parquet and name that file, {example}").into()
    }
}

/// The first two characters tell JSON from the header of a CSV file such as `[id],name`.
fn json(start: &[u8]) -> Option<ForeignFormat> {
    let mut letters = start.iter().filter(|letter| !letter.is_ascii_whitespace());
    match (letters.next()?, letters.next()?) {
        (b'[', b'{' | b'[' | b']') => Some(ForeignFormat::Json),
        (b'{', b'"' | b'}') => {
            let mut lines = start.split(|letter| *letter == b'\n').map(<[u8]>::trim_ascii);
            let is_whole = lines.next().is_some_and(|line| line.ends_with(b"}"));
            let is_followed = lines.next().is_some_and(|line| line.starts_with(b"{"));
            Some(if is_whole && is_followed { ForeignFormat::JsonLines } else { ForeignFormat::Json })
        }
        _ => None,
    }
}

impl fmt::Display for ForeignFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ForeignFormat::Json => "JSON",
            ForeignFormat::JsonLines => "JSON lines",
            ForeignFormat::Workbook => "an Excel workbook (.xlsx)",
            ForeignFormat::OldWorkbook => "an old Excel workbook (.xls)",
            ForeignFormat::OpenDocument => "an OpenDocument spreadsheet (.ods)",
            ForeignFormat::Spss => "an SPSS file (.sav)",
            ForeignFormat::Stata => "a Stata file (.dta)",
            ForeignFormat::Zip => "a zip file, as Excel workbooks are",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_first_bytes_give_formats_away() {
        let check = |name: &str, start: &[u8], expected: Option<ForeignFormat>| {
            assert_eq!(ForeignFormat::of(name, start), expected, "{name} {start:?}");
        };
        check("a.json", b"", Some(ForeignFormat::Json));
        check("folder.csv/A.JSON.gz", b"\x1f\x8b", Some(ForeignFormat::Json));
        check("a.ndjson", b"{}", Some(ForeignFormat::JsonLines));
        check("a.xlsx", b"PK\x03\x04", Some(ForeignFormat::Workbook));
        check("a.csv", b"PK\x03\x04", Some(ForeignFormat::Zip));
        check("a.csv", OLD_WORKBOOK, Some(ForeignFormat::OldWorkbook));
        check("a.ods", b"PK\x03\x04", Some(ForeignFormat::OpenDocument));
        check("a.sav", b"$FL2", Some(ForeignFormat::Spss));
        check("standard input", b"$FL3", Some(ForeignFormat::Spss));
        check("standard input", b"<stata_dta><header>", Some(ForeignFormat::Stata));
        check("a.dta", b"r", Some(ForeignFormat::Stata));
        check("standard input", b" [\n  {\"age\": 1}]", Some(ForeignFormat::Json));
        check("standard input", b"\xef\xbb\xbf{\"age\": [1, 2]}", Some(ForeignFormat::Json));
        check("standard input", b"{\n  \"age\": 1\n}\n", Some(ForeignFormat::Json));
        check("standard input", b"{\"age\": 1}\r\n{\"age\": 2}", Some(ForeignFormat::JsonLines));
        // Headers of CSV files.
        check("a.csv", b"age,sex\n", None);
        check("a.csv", b"[id],[name]\n", None);
        check("a.csv", b"{id},name\n", None);
        check("json", b"PK,name\n", None);
        check("a.csv.gz", b"\x1f\x8b", None);
    }
}
