use std::fmt;
use std::str::FromStr;

/// What the values of a column are, and therefore whether they form ranges or sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whole numbers that fit 64 bits.
    Integer,
    /// Finite numbers.
    Real,
    /// Calendar dates, written `YYYY-MM-DD`.
    Date,
    /// Dates with a time of day, written `YYYY-MM-DDTHH:MM:SS`.
    DateTime,
    /// Words in an order that was given.
    Ordinal,
    /// Words without an order; possibly with a taxonomy.
    Category,
}

impl Kind {
    /// Every kind, in the order the documentation lists them.
    pub const ALL: [Kind; 6] = [Kind::Integer, Kind::Real, Kind::Date, Kind::DateTime, Kind::Ordinal, Kind::Category];

    /// Ordered kinds are published as ranges, the others as labels.
    pub fn is_ordered(self) -> bool {
        self != Kind::Category
    }

    /// Numbers that can be subtracted and added up.
    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Integer | Kind::Real)
    }

    /// Whether values have distances: numbers, dates in days, and datetimes in seconds.
    pub fn has_distances(self) -> bool {
        matches!(self, Kind::Integer | Kind::Real | Kind::Date | Kind::DateTime)
    }

    /// Whether values are whole numbers of a unit, as [`crate::Value::whole`] counts them.
    pub fn is_whole(self) -> bool {
        matches!(self, Kind::Integer | Kind::Date | Kind::DateTime)
    }

    /// The word used in specs and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "real",
            Kind::Date => "date",
            Kind::DateTime => "datetime",
            Kind::Ordinal => "ordinal",
            Kind::Category => "category",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.name() == text)
            .ok_or_else(|| format!("`{text}` is not a kind: integer, real, date, datetime, ordinal or category"))
    }
}

/// What a column may do in a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Names a person; never published.
    Identifier,
    /// May be known to an attacker from elsewhere.
    QuasiIdentifier,
    /// What an attacker wants to learn.
    Sensitive,
    /// Kept as it is, because the owner asked for it by name.
    Other,
}

impl Role {
    /// Every role, in the order the documentation lists them.
    pub const ALL: [Role; 4] = [Role::Identifier, Role::QuasiIdentifier, Role::Sensitive, Role::Other];

    /// The word used in specs and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::QuasiIdentifier => "quasi",
            Role::Sensitive => "sensitive",
            Role::Other => "other",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Role::ALL
            .into_iter()
            .find(|role| role.name() == text)
            .ok_or_else(|| format!("`{text}` is not a role: identifier, quasi, sensitive or other"))
    }
}
