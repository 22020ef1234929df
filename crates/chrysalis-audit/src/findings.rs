use chrysalis_table::Watch;

use crate::Check;

/// Runs one check after another; between any two the audit can be stopped.
pub(crate) fn in_turn(looks: &[&dyn Fn() -> Check], watch: &dyn Watch) -> Vec<Check> {
    let look = |look: &&dyn Fn() -> Check| {
        watch.pause();
        look()
    };
    looks.iter().map(look).collect()
}

/// How many findings of one kind are spelled out.
const LISTED: usize = 5;

/// Collects the findings of one check.
pub(crate) struct Findings {
    name: &'static str,
    kinds: Vec<Kind>,
}

struct Kind {
    name: &'static str,
    listed: Vec<String>,
    count: u64,
}

impl Findings {
    pub(crate) fn new(name: &'static str) -> Findings {
        Findings { name, kinds: Vec::new() }
    }

    /// Notes a finding of some kind; only the first few of a kind are spelled out, the rest are counted.
    pub(crate) fn add(&mut self, kind: &'static str, sentence: impl FnOnce() -> String) {
        let index = self.kinds.iter().position(|known| known.name == kind).unwrap_or_else(|| {
            self.kinds.push(Kind { name: kind, listed: Vec::new(), count: 0 });
            self.kinds.len() - 1
        });
        let kind = &mut self.kinds[index];
        kind.count += 1;
        if kind.listed.len() < LISTED {
            kind.listed.push(sentence());
        }
    }

    /// Whether nothing was found so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The check: all findings, or `fine` where there are none.
    pub(crate) fn check(self, fine: String) -> Check {
        let mut findings = Vec::new();
        for kind in self.kinds {
            let more = kind.count - kind.listed.len() as u64;
            findings.extend(kind.listed);
            if more > 0 {
                findings.push(format!("{more} more: {}", kind.name));
            }
        }
        let ok = findings.is_empty();
        Check { name: self.name, ok, detail: if ok { fine } else { findings.join("; ") }, findings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_few_of_a_kind_are_spelled_out() {
        let mut findings = Findings::new("ranges");
        (0..8).for_each(|group| findings.add("ranges that end before they begin", || format!("group {group} is odd")));
        findings.add("other", || "something else".into());
        let check = findings.check("fine".into());
        assert!(!check.ok);
        assert_eq!(check.findings.len(), 7);
        assert_eq!(check.findings[5], "3 more: ranges that end before they begin");
        assert!(check.detail.ends_with("; something else"));
        assert_eq!(Findings::new("ranges").check("12 ranges".into()).detail, "12 ranges");
    }
}
