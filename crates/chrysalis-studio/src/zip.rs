//! A folder as one file to download. Tables are packed already, so nothing is packed again.

use chrysalis::{Error, Remedy};
use flate2::Crc;

/// Writes files one after the other, as they are (method `stored`, PKWARE APPNOTE 6.3, without the parts for files of
/// four gigabytes or more). No time and no owner are written.
pub(crate) fn zip(files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (name, bytes) in files {
        let mut crc = Crc::new();
        crc.update(bytes);
        let (length, start) = (number(bytes.len())?, number(archive.len())?);
        let mut entry = Vec::new();
        // Version 2.0, names in UTF-8, stored, 1 January 1980.
        for field in [20u16, 1 << 11, 0, 0, 33] {
            entry.extend(field.to_le_bytes());
        }
        entry.extend(crc.sum().to_le_bytes());
        entry.extend(length.to_le_bytes());
        entry.extend(length.to_le_bytes());
        entry.extend(u16::try_from(name.len()).map_err(|_| too_large())?.to_le_bytes());
        entry.extend(0u16.to_le_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&entry);
        archive.extend(name.as_bytes());
        archive.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&entry);
        // No comment, first disk, no attributes.
        directory.extend([0; 10]);
        directory.extend(start.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (start, length) = (number(archive.len())?, number(directory.len())?);
    let n = u16::try_from(files.len()).map_err(|_| too_large())?;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend(n.to_le_bytes());
    archive.extend(n.to_le_bytes());
    archive.extend(length.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend([0; 2]);
    Ok(archive)
}

fn number(length: usize) -> Result<u32, Error> {
    u32::try_from(length).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::request("this release is too large for a zip file", Remedy::from("publish it to a folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_laid_out_as_the_note_says() {
        let files = [("r/a.txt".to_owned(), b"hello".to_vec()), ("b".to_owned(), Vec::new())];
        let archive = zip(&files).unwrap();
        assert!(archive.starts_with(b"PK\x03\x04\x14\x00\x00\x08\x00\x00\x00\x00\x21\x00"));
        // The CRC of `hello`, its length twice, the length of its name.
        assert_eq!(archive[14..30], [0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(&archive[30..42], b"r/a.txthello");
        let end = &archive[archive.len() - 22..];
        assert_eq!((&end[..4], end[8], end[10]), (&b"PK\x05\x06"[..], 2, 2));
        let start = u32::from_le_bytes([end[16], end[17], end[18], end[19]]) as usize;
        assert_eq!(&archive[start..start + 4], b"PK\x01\x02");
    }
}
