//! Parameters that vary between runs: `{name}` in the texts of a run stands for one of several values.

use std::collections::BTreeMap;

use chrysalis::{Error, Number, ReleaseDraft};

/// The values of the varied parameters, by name.
pub(super) type VariedValues = BTreeMap<String, String>;

/// Fills in values and records which of them were used.
pub(super) struct BlankFiller<'a> {
    varied: &'a VariedValues,
    used: Vec<String>,
}

impl<'a> BlankFiller<'a> {
    pub(super) fn new(varied: &'a VariedValues) -> Self {
        BlankFiller { varied, used: Vec::new() }
    }

    /// A release with every `{name}` replaced.
    pub(super) fn release(&mut self, release: &ReleaseDraft) -> Result<ReleaseDraft, Error> {
        let mut full = release.clone();
        for text in full.require.iter_mut().flatten() {
            *text = self.text(text)?;
        }
        for text in [&mut full.method, &mut full.partitioner, &mut full.metric].into_iter().flatten() {
            *text = self.text(text)?;
        }
        for number in [&mut full.suppress, &mut full.time_limit].into_iter().flatten() {
            *number = Number::Text(self.text(&number.text())?);
        }
        Ok(full)
    }

    /// A text with every `{name}` replaced.
    pub(super) fn text(&mut self, text: &str) -> Result<String, Error> {
        let mut full = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let known = after.split_once('}').and_then(|(key, after)| Some((key, self.varied.get(key)?, after)));
            let Some((key, value, after)) = known else {
                let message = format!("nothing says what to put for the braces in `{text}`");
                return Err(Error::request(message, "name it in the run's `vary`, with the values that it takes"));
            };
            full += before;
            full += value;
            self.used.push(key.to_owned());
            rest = after;
        }
        Ok(full + rest)
    }

    /// A value that is never used is a mistake.
    pub(super) fn check_all_used(&self) -> Result<(), Error> {
        match self.varied.keys().find(|key| !self.used.contains(key)) {
            Some(key) => Err(Error::request(
                format!("`{key}` varies, but nothing depends on it"),
                format!("write `{{{key}}}` where its values go, for example in a requirement: `{key}={{{key}}}`"),
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(text: &str) -> ReleaseDraft {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_run_keeps_what_it_does_not_say() {
        let base = release("method = 'anatomy'\npartitioner = 'anatomize'\nrequire = ['l=4']");
        let merged = release("require = ['l=6']").over(&base).unwrap();
        assert_eq!((merged.method.as_deref(), merged.partitioner.as_deref()), (Some("anatomy"), Some("anatomize")));
        assert_eq!(merged.require.unwrap(), ["l=6"]);
    }

    #[test]
    fn what_fits_another_method_is_left_behind() {
        let base = release(
            "method = 'angel'\npartitioner = 'mondrian'\nmarginals = [['age']]\nrequire = ['l=4']\nrelaxed = true",
        );
        let merged = release("method = 'anatomy'").over(&base).unwrap();
        assert_eq!((merged.partitioner, merged.marginals, merged.relaxed), (None, None, None));
        let merged = release("method = 'angel'").over(&base).unwrap();
        assert_eq!((merged.partitioner.as_deref(), merged.marginals.map(|it| it.len())), (Some("mondrian"), Some(1)));
        let base = release("partitioner = 'full-domain'\nsuppress = 0.05\nrequire = ['k=5']");
        assert!(release("partitioner = 'compact'").over(&base).unwrap().suppress.is_none());
        assert!(release("method = 'generalize'").over(&base).unwrap().suppress.is_some());
    }

    #[test]
    fn names_in_braces_get_their_values() {
        let varied = VariedValues::from([("l".to_owned(), "4".to_owned()), ("k".to_owned(), "10".to_owned())]);
        let mut filling = BlankFiller::new(&varied);
        let full = filling.release(&release("require = ['l={l}', 'k={k}']\nsuppress = '0.0{l}'")).unwrap();
        assert_eq!(full.require.unwrap(), ["l=4", "k=10"]);
        assert_eq!(full.suppress.unwrap().text(), "0.04");
        filling.check_all_used().unwrap();
        for text in ["require = ['l={m}', 'l={l}{k}']", "require = ['l={l', 'k={k}']", "require = ['l={l}']"] {
            let mut filling = BlankFiller::new(&varied);
            assert!(filling.release(&release(text)).and_then(|_| filling.check_all_used()).is_err(), "{text}");
        }
    }
}
