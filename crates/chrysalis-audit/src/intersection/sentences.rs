//! What an intersection says, as a check and as an attack.

use chrysalis_criteria::Rational;
use chrysalis_table::exact::BigRational;
use num_bigint::BigInt;

use crate::attack::{chance, count, counted, percent};
use crate::findings::Findings;
use crate::form::names_of;
use crate::{
    Check, Finding, Intersection, IntersectionLeft, IntersectionOver, NotCounted, SHARE_ERROR_PERCENT, Shares,
    SharesOver,
};

impl Intersection {
    pub(super) fn check(&self) -> Check {
        let mut findings = Findings::new("intersection");
        let (with, n, whom) = (&self.with, self.people, self.whom());
        let (fewest, promised) = (self.fewest.unwrap_or(0), self.promised);
        let (less, kept) = match self.left {
            IntersectionLeft::Values => (
                "are left with fewer sensitive values than promised",
                format!("keep at least {fewest} sensitive values each"),
            ),
            IntersectionLeft::People => {
                ("hide among fewer people than promised", format!("hide among at least {fewest} people each"))
            }
        };
        if self.narrowed > 0 {
            findings.add("narrowed", || {
                let narrowed = self.narrowed;
                format!("together with {with}, {narrowed} of {n} {whom} {less} ({fewest} in the worst case, {promised} promised)")
            });
        }
        if let Some(above) = self.shares.as_ref().ok().and_then(Shares::above_in_words) {
            findings.add("shares", || format!("together with {with}, {above}"));
        }
        if self.contradicted > 0 {
            findings.add("contradicted", || {
                let contradicted = self.contradicted;
                format!("together with {with}, {contradicted} of {n} {whom} {}", self.contradiction())
            });
        }
        // Rows of one release need not be people of the others; the microdata are said to be those of all of them.
        let is_known = |shares: &&Shares| shares.impossible > 0 && shares.over == SharesOver::People;
        if let Some(shares) = self.shares.as_ref().ok().filter(is_known) {
            findings.add("impossible", || format!("together with {with}, {}", shares.impossible_in_words()));
        }
        findings.check(match self.fewest {
            Some(_) => format!("together with {with}, {n} {whom} {kept}{}", self.shares_kept()),
            None => format!("no group has anybody in common with one of {with}"),
        })
    }

    /// The second half of what a check that holds says.
    fn shares_kept(&self) -> String {
        match &self.shares {
            Err(NotCounted::NothingProtected) => String::new(),
            Err(reason) => format!("; {}", reason.sentence()),
            Ok(shares) => shares.largest.map_or_else(String::new, |_| format!("; {}", shares.largest_in_words())),
        }
    }

    fn whom(&self) -> &'static str {
        match self.over {
            IntersectionOver::People => "people of the microdata",
            IntersectionOver::Conceivable => "conceivable people",
        }
    }

    /// What contradicts the claim that all releases are of this table.
    pub(crate) fn contradiction(&self) -> &'static str {
        match self.left {
            IntersectionLeft::Values => {
                "are left with no sensitive value, or fit no group of one release: the releases do not have the same \
                 rows, so one of them was not made from this table (it may be from another month); nothing can be \
                 concluded about these people, and the others were still checked"
            }
            IntersectionLeft::People => {
                "fit no group of one of the releases: they do not have the same rows, so that one was not made from \
                 this table (it may be from another month); nothing can be concluded about these people, and the \
                 others were still checked"
            }
        }
    }

    /// The attack in words.
    pub fn finding(&self) -> Finding {
        let whom = match self.over {
            IntersectionOver::People => counted(self.people, "person of the microdata", "people of the microdata"),
            IntersectionOver::Conceivable => counted(self.people, "conceivable person", "conceivable people"),
        };
        let (with, narrowed) = (&self.with, count(self.narrowed));
        let mut sentence = match (self.fewest, self.left) {
            (None, _) if self.contradicted > 0 => String::new(),
            (None, _) => format!("The release has nobody in common with {with}."),
            (Some(fewest), IntersectionLeft::Values) => format!(
                "An attacker who also has {with} can rule out values that one of the releases does not allow: of {whom}, \
                 {narrowed} keep fewer than the {} promised, and the worst off keep {fewest}.",
                counted(self.promised, "value", "values"),
            ),
            (Some(fewest), IntersectionLeft::People) => format!(
                "An attacker who also has {with} sees who is in the same groups everywhere: of {whom}, {narrowed} \
                 hide among fewer than the {} promised, themselves included, and the worst off among {fewest}.",
                counted(self.promised, "person", "people"),
            ),
        };
        if self.fewest.is_some() {
            match &self.shares {
                Ok(shares) => sentence.push_str(&format!(" {}", shares.sentence())),
                Err(NotCounted::NothingProtected) => {}
                Err(reason) => {
                    let words = reason.sentence();
                    sentence.push_str(&format!(" {}{}.", words[..1].to_uppercase(), &words[1..]));
                }
            }
        }
        if self.contradicted > 0 {
            let gap = if sentence.is_empty() { "" } else { " " };
            let (contradicted, what) = (count(self.contradicted), self.contradiction());
            sentence.push_str(&format!("{gap}Together with {with}, {contradicted} of {whom} {what}."));
        }
        let subtracted = match self.counts_differ_by {
            Some(1) => {
                " One sensitive value came or went between the two releases: anybody who knows whose it is knows it \
                 for certain."
            }
            Some(2) => {
                " Two sensitive values came or went between the two releases: anybody who knows whose they are knows \
                 both for certain, and which is whose if one person came and another left."
            }
            _ => "",
        };
        sentence.push_str(subtracted);
        let above = self.shares.as_ref().map_or(0, |shares| shares.above);
        let prevention = match (self.narrowed.max(above), self.left) {
            (0, _) if !subtracted.is_empty() => {
                "handing out the same release again, or a new one only after many people have come and gone.".to_owned()
            }
            (0, _) => String::new(),
            (_, IntersectionLeft::Values) => {
                let forms = names_of(|form| form.shape().marginals.is_some()).join(", ");
                format!("one release with marginals instead of several ({forms}), or the same groups in all of them.")
            }
            (_, IntersectionLeft::People) => {
                let forms = names_of(|form| form.shape().has_users).join(", ");
                format!("one release for all users ({forms}) instead of several, or the same groups in all of them.")
            }
        };
        Finding::new("intersection", sentence, prevention)
    }
}

impl NotCounted {
    /// The reason in words.
    pub fn sentence(self) -> &'static str {
        match self {
            NotCounted::NobodyKnown => {
                "shares were not counted: nobody knows who the people are without the microdata, so it cannot be \
                 determined whether a bet is better than promised"
            }
            NotCounted::TooManyOverlaps => {
                "shares were not counted: so many groups may hold the same people that it cannot be determined \
                 whether a bet is better than promised"
            }
            NotCounted::NothingProtected => "shares do not apply: a release protects no column",
        }
    }
}

impl Shares {
    fn whom(&self) -> &'static str {
        match self.over {
            SharesOver::People => "people of the microdata",
            SharesOver::Rows => "rows with exact quasi values (taken for people)",
        }
    }

    /// Everybody who fits all releases.
    fn tried(&self) -> u64 {
        self.people + self.impossible
    }

    /// `33.3 % (1/3)`, `about 81.0 %`.
    fn largest_said(&self) -> String {
        let about = if self.is_largest_exact { "" } else { "about " };
        format!("{about}{}", percent(self.largest.unwrap_or(0.0)))
    }

    /// The largest share, compared with the promise.
    pub(super) fn largest_in_words(&self) -> String {
        let largest = self.largest_said();
        let of = "of the worlds that fit all releases";
        match self.promised {
            None => {
                format!("somebody's value is the same in {largest} {of}, and no release promises a limit")
            }
            Some(promised) if self.is_within_error() => format!(
                "somebody's value is the same in {largest} {of}, where at most {} is promised: the difference is \
                 within the error of the estimate, {SHARE_ERROR_PERCENT} %",
                said(promised)
            ),
            Some(promised) => {
                let promised = said(promised);
                format!("nobody's value is the same in more than {largest} {of}, where at most {promised} is promised")
            }
        }
    }

    /// Whether nobody is counted as above a promise although somebody's estimate is.
    fn is_within_error(&self) -> bool {
        let promised = self.promised.map(|promised| *promised.numer() as f64 / *promised.denom() as f64);
        let is_over = promised.zip(self.largest).is_some_and(|(promised, largest)| largest > promised * 1.000_1);
        self.above == 0 && !self.is_largest_exact && is_over
    }

    /// How many people the releases together let an attacker bet on; `None` where nobody is above a promise.
    pub(super) fn above_in_words(&self) -> Option<String> {
        let promised = self.promised.filter(|_| self.above > 0)?;
        let (above, tried, whom) = (self.above, self.tried(), self.whom());
        let (largest, promised) = (self.largest_said(), said(promised));
        Some(format!(
            "for {above} of {tried} {whom} a bet is better than promised: one of their values has a share of up to \
             {largest} of the worlds that fit all releases, where at most {promised} is promised"
        ))
    }

    fn impossible_in_words(&self) -> String {
        let (impossible, tried, whom) = (self.impossible, self.tried(), self.whom());
        format!(
            "no way of assigning the values fits {impossible} of {tried} {whom}: the releases do not have the same \
             rows (one may be from another month), and nothing was counted for these people"
        )
    }

    /// How far the numbers can be relied on.
    fn exactness(&self) -> String {
        match self.estimated {
            0 => "All shares are exact.".to_owned(),
            n if n == self.people => format!(
                "All shares are estimates, which count as above the promise only if they exceed it by more than \
                 {SHARE_ERROR_PERCENT} %."
            ),
            n => format!(
                "The shares of {} of them are exact, those of {} are estimates, which count as above the promise only \
                 if they exceed it by more than {SHARE_ERROR_PERCENT} %.",
                count(self.people - n),
                count(n)
            ),
        }
    }

    /// The attack in words.
    pub(super) fn sentence(&self) -> String {
        let whom = match self.over {
            SharesOver::People => counted(self.people, "person of the microdata", "people of the microdata"),
            SharesOver::Rows => {
                let rows = counted(self.people, "row", "rows");
                format!("{rows} with exact quasi values (taken for people)")
            }
        };
        if self.largest.is_none() {
            return "Shares were not counted: nobody fits all releases.".to_owned();
        }
        let fit = "who fit all releases";
        let largest = self.largest_said();
        let mut sentence = match self.promised {
            None => format!(
                "Over all worlds that fit the releases, of {whom} {fit}, somebody has one value in {largest}; no \
                 release promises how large such a share may be."
            ),
            Some(promised) => format!(
                "Over all worlds that fit the releases, of {whom} {fit}, {} can be bet on with better odds than the \
                 {} promised, at best with {largest}.",
                count(self.above),
                said(promised),
            ),
        };
        if let Some(right) = self.right.filter(|_| self.above > 0) {
            let share = percent(right as f64 / self.above as f64);
            sentence.push_str(&format!(" Such bets are right for {} of them ({share}).", count(right)));
        }
        if self.is_within_error() {
            sentence.push_str(" That is above the promise, but within the error of the estimate.");
        }
        if self.impossible > 0 {
            let words = self.impossible_in_words();
            sentence.push_str(&format!(" {}{}.", words[..1].to_uppercase(), &words[1..]));
        }
        format!("{sentence} {}", self.exactness())
    }
}

/// `33.3 % (1/3)`.
fn said(share: Rational) -> String {
    chance(&BigRational::new(BigInt::from(*share.numer()), BigInt::from(*share.denom())))
}
