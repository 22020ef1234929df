/// The position of a value in its [`Domain`](crate::Domain).
pub type Code = u32;

/// One code per row, in one, two or four bytes each: memory follows the domain, not the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codes {
    /// For domains of up to 256 values.
    U8(Vec<u8>),
    /// For domains of up to 65,536 values.
    U16(Vec<u16>),
    /// For all others.
    U32(Vec<u32>),
}

/// Runs `$body` with `$codes` bound to the vector inside, whatever its width.
#[macro_export]
macro_rules! each_width {
    ($codes:expr, $inner:ident => $body:expr) => {
        match $codes {
            $crate::Codes::U8($inner) => $body,
            $crate::Codes::U16($inner) => $body,
            $crate::Codes::U32($inner) => $body,
        }
    };
}

impl Codes {
    /// No codes yet, wide enough for a domain of `domain_len` values.
    pub fn with_capacity(domain_len: usize, rows: usize) -> Self {
        if domain_len <= 1 << 8 {
            Codes::U8(Vec::with_capacity(rows))
        } else if domain_len <= 1 << 16 {
            Codes::U16(Vec::with_capacity(rows))
        } else {
            Codes::U32(Vec::with_capacity(rows))
        }
    }

    /// Collects codes below `domain_len`.
    pub fn collect(domain_len: usize, codes: impl Iterator<Item = Code>) -> Self {
        let mut all = Codes::with_capacity(domain_len, codes.size_hint().0);
        match &mut all {
            // PROOF: with_capacity chose a width that holds every code below `domain_len`.
            Codes::U8(all) => all.extend(codes.map(|code| code as u8)),
            Codes::U16(all) => all.extend(codes.map(|code| code as u16)),
            Codes::U32(all) => all.extend(codes),
        }
        all
    }

    /// Appends a code, widening all of them when it does not fit.
    pub fn push(&mut self, code: Code) {
        match self {
            Codes::U8(codes) => match u8::try_from(code) {
                Ok(code) => codes.push(code),
                Err(_) => self.widen_and_push(code),
            },
            Codes::U16(codes) => match u16::try_from(code) {
                Ok(code) => codes.push(code),
                Err(_) => self.widen_and_push(code),
            },
            Codes::U32(codes) => codes.push(code),
        }
    }

    #[cold]
    fn widen_and_push(&mut self, code: Code) {
        let mut wider = match self {
            Codes::U8(codes) if code <= Code::from(u16::MAX) => {
                Codes::U16(codes.iter().map(|&code| u16::from(code)).collect())
            }
            _ => Codes::U32(self.iter().collect()),
        };
        wider.push(code);
        *self = wider;
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        each_width!(self, codes => codes.len())
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of a row.
    pub fn get(&self, row: usize) -> Code {
        match self {
            Codes::U8(codes) => Code::from(codes[row]),
            Codes::U16(codes) => Code::from(codes[row]),
            Codes::U32(codes) => codes[row],
        }
    }

    /// All codes, in row order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = Code> + '_> {
        match self {
            Codes::U8(codes) => Box::new(codes.iter().map(|&code| Code::from(code))),
            Codes::U16(codes) => Box::new(codes.iter().map(|&code| Code::from(code))),
            Codes::U32(codes) => Box::new(codes.iter().copied()),
        }
    }

    /// The codes of the given rows, in their order.
    pub fn gather(&self, rows: &[u32]) -> Codes {
        match self {
            Codes::U8(codes) => Codes::U8(rows.iter().map(|&row| codes[row as usize]).collect()),
            Codes::U16(codes) => Codes::U16(rows.iter().map(|&row| codes[row as usize]).collect()),
            Codes::U32(codes) => Codes::U32(rows.iter().map(|&row| codes[row as usize]).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pushing_widens_and_keeps_every_code() {
        let mut codes = Codes::with_capacity(1, 0);
        let expected: Vec<Code> = vec![0, 255, 256, 7, 65_535, 65_536, 1];
        expected.iter().for_each(|&code| codes.push(code));
        assert_eq!(codes.iter().collect::<Vec<_>>(), expected);
        assert!(matches!(codes, Codes::U32(_)));
        assert_eq!(codes.gather(&[5, 0]).iter().collect::<Vec<_>>(), [65_536, 0]);
    }
}
