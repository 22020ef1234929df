//! Statements over several releases of a series: which release each question is about, and what is computed from their
//! answers (step 11 of `spec.md`).

use chrysalis_release::Manifest;
use chrysalis_table::Progress;

use crate::answer::{AggregateAnswer, Answer, AnswerRow, Explanation};
use crate::inquiry::{Output, Post, Reply, Scalar};
use crate::question::Function;
use crate::statement::{Expr, Statement};
use crate::{EstimateMode, Inquiry, OpenRelease, Position, QueryError, Tables};

/// A statement bound to the releases of a series, or to a single release.
#[derive(Clone, Debug)]
pub struct Versioned {
    /// The questions about single releases.
    pub questions: Vec<OfRelease>,
    /// What is computed from their answers; none if the answer of the only question is the answer.
    outputs: Vec<Output>,
}

/// A question about one release.
#[derive(Clone, Debug)]
pub struct OfRelease {
    /// Its place among the releases.
    pub release: usize,
    /// The question.
    pub inquiry: Inquiry,
}

impl Versioned {
    /// Binds a statement to releases, the latest last. Their chain was checked.
    pub fn new(statement: &Statement, manifests: &[&Manifest], tables: &Tables) -> Result<Versioned, QueryError> {
        let mut binder = Binder { manifests, tables, questions: Vec::new() };
        if !statement.is_of_answers {
            binder.bind(statement)?;
            return Ok(Versioned { questions: binder.questions, outputs: Vec::new() });
        }
        let mut outputs: Vec<Output> = Vec::with_capacity(statement.items.len());
        for item in &statement.items {
            if outputs.iter().any(|output| output.name == item.name) {
                let problem = format!("two columns of the answer are named `{}`", item.name);
                return Err(QueryError::question(item.at, problem, "ask once, or name one of them with AS"));
            }
            let post = binder.post(&item.expr)?;
            outputs.push(Output { name: item.name.clone(), has_alias: item.has_alias, post });
        }
        Ok(Versioned { questions: binder.questions, outputs })
    }

    /// The only question, if its answer is the answer.
    pub fn single(&self) -> Option<&OfRelease> {
        self.questions.first().filter(|_| self.outputs.is_empty())
    }

    /// Answers it from the releases it was bound to; `open` has those that [`Versioned::questions`] name. `progress` is a
    /// place to stop: it is told nothing.
    pub fn answer<'r>(
        &self,
        open: impl Fn(usize) -> Option<&'r OpenRelease>,
        mode: EstimateMode,
        progress: Progress<'_>,
    ) -> Result<Reply, QueryError> {
        let mut replies = Vec::with_capacity(self.questions.len());
        for question in &self.questions {
            let release = open(question.release).ok_or_else(|| QueryError::broken("a release was not opened"))?;
            replies.push(release.inquire_watched(&question.inquiry, mode, progress)?);
        }
        if self.outputs.is_empty() {
            return replies.pop().ok_or_else(|| QueryError::broken("there is no question"));
        }
        let (mut numbers, mut because, mut notes) = (Vec::new(), Explanation::default(), Vec::new());
        for reply in replies {
            notes.extend(reply.notes);
            // PROOF: a question without GROUP BY, HAVING and LIMIT has one row, and this one asks one number.
            for row in reply.answer.rows {
                because.add(&row.because);
                numbers.extend(row.aggregates);
            }
        }
        let whole: Vec<bool> = self.questions.iter().map(|question| is_whole(&question.inquiry)).collect();
        let outputs = self.outputs.iter();
        let aggregates: Vec<AggregateAnswer> =
            outputs.map(|output| output.computed(&numbers, &whole, &mut notes)).collect();
        let row = AnswerRow { group: Vec::new(), aggregates, because };
        Ok(Reply { answer: Answer { keys: Vec::new(), rows: vec![row] }, notes })
    }
}

struct Binder<'a> {
    manifests: &'a [&'a Manifest],
    tables: &'a Tables,
    questions: Vec<OfRelease>,
}

impl Binder<'_> {
    /// Binds a question to the release that it is about, and returns its place among the questions.
    fn bind(&mut self, statement: &Statement) -> Result<usize, QueryError> {
        let release = self.release(statement.version, statement.at)?;
        let inquiry = Inquiry::new(statement, self.manifests[release], self.tables)?;
        self.questions.push(OfRelease { release, inquiry });
        Ok(self.questions.len() - 1)
    }

    /// The place of a release, by its number in the series.
    fn release(&self, version: Option<u64>, at: Option<Position>) -> Result<usize, QueryError> {
        let nothing = || QueryError::broken("there is no release to ask");
        let latest = self.manifests.len().checked_sub(1).ok_or_else(nothing)?;
        let Some(version) = version else { return Ok(latest) };
        let number = |manifest: &Manifest| manifest.series.as_ref().map(|entry| entry.number);
        if let Some(place) = self.manifests.iter().position(|manifest| number(manifest) == Some(version)) {
            return Ok(place);
        }
        let numbers: Vec<u64> = self.manifests.iter().filter_map(|manifest| number(manifest)).collect();
        let (problem, hint) = match numbers[..] {
            [] => (
                format!("release {version} of a series is asked, but this release belongs to none"),
                chrysalis_table::Remedy::from("leave VERSION AS OF out"),
            ),
            [only] => (
                format!("release {version} of the series is asked, and this is release {only}"),
                chrysalis_table::Remedy::from("name the releases in between as well, with ")
                    .knob(chrysalis_table::Knob::With, ""),
            ),
            [first, .., last] => (
                format!("release {version} of the series is asked, and there are releases {first} to {last}"),
                chrysalis_table::Remedy::from("ask one of them, or name more with ")
                    .knob(chrysalis_table::Knob::With, ""),
            ),
        };
        Err(QueryError::question(at, problem, hint))
    }

    /// An expression of answers.
    fn post(&mut self, expr: &Expr) -> Result<Post, QueryError> {
        let mut boxed = |expr: &Expr| self.post(expr).map(Box::new);
        Ok(match expr {
            Expr::Question(statement) => {
                let place = self.bind(statement)?;
                check_number(&self.questions[place].inquiry, statement)?;
                Post::Atom(place)
            }
            Expr::Constant(constant, _) => Post::Constant(Scalar::of_constant(constant)),
            Expr::Negate(x) => Post::Negate(boxed(x)?),
            Expr::Arithmetic(a, operator, b) => Post::Arithmetic(boxed(a)?, *operator, boxed(b)?),
            Expr::Call(function, given) => {
                Post::Call(*function, given.iter().map(|part| self.post(part)).collect::<Result<_, _>>()?)
            }
            other => {
                let problem =
                    "a SELECT without FROM computes with the answers of questions in parentheses, and with numbers";
                let hint = "write SELECT (SELECT COUNT(*) FROM microdata VERSION AS OF 4 WHERE …) - (SELECT COUNT(*) FROM \
                            microdata VERSION AS OF 3 WHERE …)";
                return Err(QueryError::question(other.at(), problem, hint));
            }
        })
    }
}

impl Output {
    fn computed(&self, numbers: &[AggregateAnswer], whole: &[bool], notes: &mut Vec<String>) -> AggregateAnswer {
        let (answer, is_open) = self.post.of_answers(&self.name, numbers, whole);
        if is_open {
            notes.push(format!("`{}` has no bounds: its divisor may be 0, or as close to it as one likes", self.name));
        }
        answer
    }
}

/// A question in parentheses has to give one number.
fn check_number(inquiry: &Inquiry, statement: &Statement) -> Result<(), QueryError> {
    let (keys, numbers) = match inquiry.plan() {
        Some(plan) => (plan.keys.len(), plan.aggregates.len()),
        None => (inquiry.keys.keys.len(), inquiry.outputs.len()),
    };
    let is_cut = inquiry.having.is_some() || inquiry.limit.is_some() || inquiry.offset > 0;
    if keys == 0 && numbers == 1 && !is_cut {
        return Ok(());
    }
    let problem = "a question in parentheses has to give one number";
    let hint = "ask one aggregate there, without GROUP BY, HAVING and LIMIT; put conditions into WHERE";
    Err(QueryError::question(statement.at, problem, hint))
}

/// Whether the one number of a question is a whole number.
fn is_whole(inquiry: &Inquiry) -> bool {
    match (inquiry.plan(), inquiry.outputs.first()) {
        (Some(plan), _) => plan.aggregates.iter().all(|aggregate| aggregate.function == Function::Count),
        (None, Some(Output { post: Post::Atom(atom), .. })) => inquiry.atoms[*atom].is_whole,
        _ => false,
    }
}
