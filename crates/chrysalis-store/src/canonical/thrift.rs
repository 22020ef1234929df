//! The compact protocol of Thrift, in which Parquet writes its footer and the headers of its pages, read strictly: a
//! number that is spelled longer than it must be is an error, because the spelling itself could carry information.

/// A value. The number of its field says what it means in the format.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Thrift {
    Bool(bool),
    /// Whole numbers of any width.
    Int(i64),
    /// Text, or anything else that is bytes.
    Bytes(Vec<u8>),
    List(Vec<Thrift>),
    Struct(Fields),
}

/// The fields of a struct by their numbers, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Fields(Vec<(i64, Thrift)>);

impl Fields {
    pub(super) fn get(&self, field: i64) -> Option<&Thrift> {
        self.0.iter().find(|(known, _)| *known == field).map(|(_, value)| value)
    }

    pub(super) fn int(&self, field: i64) -> Option<i64> {
        match self.get(field) {
            Some(Thrift::Int(number)) => Some(*number),
            _ => None,
        }
    }

    pub(super) fn fields(&self, field: i64) -> Option<&Fields> {
        match self.get(field) {
            Some(Thrift::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    pub(super) fn list(&self, field: i64) -> &[Thrift] {
        match self.get(field) {
            Some(Thrift::List(values)) => values,
            _ => &[],
        }
    }

    /// The structs of a list.
    pub(super) fn structs(&self, field: i64) -> impl Iterator<Item = &Fields> {
        self.list(field).iter().filter_map(|value| match value {
            Thrift::Struct(fields) => Some(fields),
            _ => None,
        })
    }

    /// The first field that is none of these.
    pub(super) fn beyond(&self, known: &[i64]) -> Option<i64> {
        self.0.iter().map(|(field, _)| *field).find(|field| !known.contains(field))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How deep structs may be nested: Parquet has seven levels, and no file may exhaust our stack.
const DEEPEST: usize = 16;

/// Reads one struct from the start of some bytes, and says how many it takes. `None` if they end too soon, or are not
/// spelled as a writer spells them.
pub(super) fn read(bytes: &[u8]) -> Option<(Fields, usize)> {
    let mut reader = Reader { bytes, at: 0 };
    let fields = reader.fields(0)?;
    Some((fields, reader.at))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn bytes(&mut self, n: usize) -> Option<Vec<u8>> {
        let end = self.at.checked_add(n)?;
        let bytes = self.bytes.get(self.at..end)?.to_vec();
        self.at = end;
        Some(bytes)
    }

    /// Seven bits per byte, the lowest first; the last byte is not zero unless it is the only one.
    fn unsigned(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return (byte != 0 || shift == 0).then_some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.unsigned()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn fields(&mut self, depth: usize) -> Option<Fields> {
        if depth > DEEPEST {
            return None;
        }
        let mut fields = Vec::new();
        let mut last = 0i64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Some(Fields(fields));
            }
            let field = match i64::from(header >> 4) {
                // Written out only if the step is too large for four bits.
                0 => self.signed().filter(|&field| field > last.saturating_add(15))?,
                step => last + step,
            };
            last = field;
            let value = match header & 0x0f {
                1 => Thrift::Bool(true),
                2 => Thrift::Bool(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((field, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Option<Thrift> {
        Some(match kind {
            1 | 2 => match self.byte()? {
                1 => Thrift::Bool(true),
                2 => Thrift::Bool(false),
                _ => return None,
            },
            3 => Thrift::Int(i64::from(self.byte()? as i8)),
            4..=6 => Thrift::Int(self.signed()?),
            7 => Thrift::Bytes(self.bytes(8)?),
            8 => {
                let n = usize::try_from(self.unsigned()?).ok()?;
                Thrift::Bytes(self.bytes(n)?)
            }
            9 | 10 => self.list(depth)?,
            12 => Thrift::Struct(self.fields(depth + 1)?),
            _ => return None,
        })
    }

    fn list(&mut self, depth: usize) -> Option<Thrift> {
        if depth > DEEPEST {
            return None;
        }
        let header = self.byte()?;
        let n = match header >> 4 {
            15 => self.unsigned().filter(|&n| n >= 15)?,
            n => u64::from(n),
        };
        let mut values = Vec::new();
        for _ in 0..n {
            values.push(self.value(header & 0x0f, depth + 1)?);
        }
        Some(Thrift::List(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_texts_lists_and_structs_are_read() {
        // 1: int 300; 2: "ab"; 4: [true, false]; 20: {1: {}}; 21: true
        let bytes = [0x15, 0xd8, 0x04, 0x18, 2, b'a', b'b', 0x29, 0x21, 1, 2, 0x0c, 40, 0x1c, 0, 0, 0x11, 0, 9];
        let (fields, end) = read(&bytes).unwrap();
        assert_eq!(end, bytes.len() - 1);
        assert_eq!(fields.int(1), Some(300));
        assert_eq!(fields.get(2), Some(&Thrift::Bytes(b"ab".to_vec())));
        assert_eq!(fields.list(4), [Thrift::Bool(true), Thrift::Bool(false)]);
        assert!(fields.fields(20).unwrap().fields(1).unwrap().is_empty());
        assert_eq!(fields.get(21), Some(&Thrift::Bool(true)));
        assert_eq!((fields.beyond(&[1, 2, 4, 20, 21]), fields.beyond(&[1, 2, 20, 21])), (None, Some(4)));
    }

    #[test]
    fn what_is_spelled_longer_than_it_must_be_is_refused() {
        assert!(read(&[0x15, 0xd8, 0x04, 0]).is_some());
        for (what, bytes) in [
            ("a number with a zero more", &[0x15, 0xd8, 0x84, 0x00, 0][..]),
            ("a field number written out", &[0x05, 2, 0x02, 0][..]),
            ("a field before the last one", &[0x25, 2, 0x05, 2, 2, 0][..]),
            ("a length written out", &[0x19, 0xf5, 1, 2, 0][..]),
            ("a bool that is neither", &[0x19, 0x11, 3, 0][..]),
            ("a kind that there is not", &[0x1f, 0][..]),
            ("an end too soon", &[0x18, 200, 1][..]),
            ("no end", &[0x15, 2][..]),
        ] {
            assert_eq!(read(bytes), None, "{what}");
        }
        assert_eq!(read(&[0x1c; 100_000]), None, "deeper than anybody writes");
        assert_eq!(read(&[0x19; 100_000]), None, "deeper than anybody writes");
    }
}
