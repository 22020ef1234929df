"""Every sentence with which a question is refused, raised once from Python: asked of a release, or rewritten as SQL."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chrysalis as ch
import pandas
import pytest
from catalogue import ASKING, flags_in, pattern, questions, sites
from months import month, two
from test_catalogue import FRAME, SWAPPED, publish

Case = tuple[str, Callable[[Path], object], str]

#: As many different values as nobody lists.
MANY = pandas.DataFrame({
    "n": range(12_000), "m": [at * 1000 for at in range(12_000)], "disease": list("abcd") * 3_000,
    "cost": [3 * at for at in range(12_000)],
})
_RANDOM = random.Random(1)
#: Wide ranges in two columns.
GRID = pandas.DataFrame({
    "a": [_RANDOM.randrange(5_000) for _ in range(5_000)], "b": [_RANDOM.randrange(5_000) for _ in range(5_000)],
    "disease": list("abcde") * 1_000,
})
WEIGHED = FRAME.assign(w=[1 + at % 5 for at in range(300)])
#: Columns that differ only in case.
ALIKE = FRAME.assign(Age=FRAME["age"])
TABLES = {
    "frame": FRAME, "many": MANY, "grid": GRID, "weighed": WEIGHED, "alike": ALIKE,
    "large": FRAME.assign(cost=range(2**62, 2**62 + 300)), "real": FRAME.assign(r=FRAME["age"] / 7),
}
WORDS = pandas.DataFrame({"code": ["F", "M"], "word": ["women", "men"]})

EXACT: dict[str, Any] = {"method": "anatomy"}
COST: dict[str, Any] = {"method": "anatomy", "sensitive": "cost"}
BOTH: dict[str, Any] = {"method": "anatomy", "sensitive": ["disease", "cost"], "require": ["disease:l=3"],
                        "accept": "disclosure"}
OF_MANY: dict[str, Any] = {"table": "many", "quasi": ["n", "m"], "require": "l=2", "method": "anatomy"}
COST_OF_MANY: dict[str, Any] = {**OF_MANY, "quasi": ["n"], "sensitive": "cost", "accept": "disclosure"}
BOTH_OF_MANY: dict[str, Any] = {**COST_OF_MANY, "sensitive": ["disease", "cost"], "require": ["disease:l=2"]}
DATES: dict[str, Any] = {"method": "anatomy", "quasi": ["admission_date", "sex"]}
WEIGHTED: dict[str, Any] = {"table": "weighed", "weight": "w"}

_MADE: dict[str, ch.Release] = {}


def release(table: str = "frame", **said: Any) -> ch.Release:
    """A release of one of the tables; the same is made once."""
    key = json.dumps([table, said], sort_keys=True)
    if key not in _MADE:
        _MADE[key] = publish(TABLES[table], **said).release
    return _MADE[key]


def ask(
    sentence: str, question: str, remedy: str = "", tables: dict[str, object] | None = None, **said: Any
) -> Case:
    """A question that ends in this sentence."""
    return sentence, lambda here: release(**said).query(question, tables=tables), remedy


def count(sentence: str, rest: str, remedy: str = "", tables: dict[str, object] | None = None, **said: Any) -> Case:
    """A question for a number of people."""
    return ask(sentence, f"SELECT COUNT(*) FROM microdata {rest}", remedy, tables, **said)


def write(sentence: str, question: str, remedy: str = "ask the release itself", **said: Any) -> Case:
    """A question that is answered, and not rewritten."""

    def call(here: Path) -> object:
        one = release(**said)
        one.query(question)
        return one.rewrite(question)

    return sentence, call, remedy


def series(sentence: str, call: Callable[[Path], object], remedy: str) -> Case:
    return sentence, call, remedy


VERSION = "SELECT COUNT(*) FROM microdata VERSION AS OF 7"
WORD = {"words": WORDS}
#: Sets of costs that differ in one digit of their numbers in base 2: together they tell 2,048 sets apart.
BITS = [", ".join(str(3 * at) for at in range(2_048) if at >> bit & 1) for bit in range(11)]


def any_of(n: int, one: Callable[[int], str]) -> str:
    return " OR ".join(f"({one(at)})" for at in range(n))


CASES = [
    # What is no question.
    ask("there is no question", "", "ask, for example"),
    ask("there are {n} statements", "SELECT COUNT(*) FROM microdata; SELECT COUNT(*) FROM microdata", "one at a time"),
    ask("the question cannot be read: {}", "SELECT 'a", "ask, for example"),
    ask("the question cannot be read: expected {said}", "how many?", "ask, for example"),
    count("the question cannot be read: {said}", "WHERE age = CAST(1 AS VARCHAR(99999999999999999999999))"),
    count("the question goes on with", "AS m m", "ask, for example"),
    count("the question is nested too deeply", f"WHERE {'- ' * 60} age > 3", "simpler"),
    count("parentheses are nested", f"WHERE {'(' * 40}age > 3{')' * 40}", "simpler"),
    count("the question has more than {MAX_JOINTS}", f"WHERE age = 1 {'OR age = 1 ' * 1_100}", "simpler"),
    count("the question has more than {MAX_TOKENS}", f"WHERE age IN ({', '.join(['1'] * 60_000)})", "simpler"),
    ask("only SELECT statements", "DELETE FROM microdata", "ask, for example"),
    ask("rows cannot be selected", "SELECT * FROM microdata", "COUNT(*)"),
    ask("no aggregate is asked for", "SELECT sex FROM microdata GROUP BY sex", "COUNT(*)"),
    ask("{clause} cannot be asked", "SELECT DISTINCT sex FROM microdata", "GROUP BY"),
    # Clauses.
    count("GROUP BY ALL, ROLLUP", "GROUP BY ALL", "columns and expressions"),
    count("there is no column number {place}", "ORDER BY 7", "it has 1 columns"),
    count("this ORDER BY is not understood", "ORDER BY sex WITH FILL", "after it"),
    count("LIMIT takes a number", "LIMIT age", "LIMIT 10"),
    count("FETCH is not understood", "FETCH FIRST 3 ROWS ONLY", "LIMIT 10"),
    count("LIMIT BY is not understood", "LIMIT 3 BY sex", "LIMIT 10"),
    ask("two columns of the answer", "SELECT COUNT(*) AS n, COUNT(*) AS n FROM microdata", "AS"),
    ask("`{name}` is selected, but not", "SELECT sex, COUNT(*) FROM microdata", "GROUP BY sex"),
    count("GROUP BY has a constant", "GROUP BY 'a'", "leave it out"),
    # Tables.
    ask("the question has no FROM", "SELECT COUNT(*)", "FROM microdata"),
    ask("the question joins tables without", "SELECT COUNT(*) FROM microdata, words", "FROM microdata"),
    ask("the question asks something other", "SELECT COUNT(*) FROM (SELECT 1) AS x", "FROM microdata"),
    ask("there is no table `{shown}` to ask", "SELECT COUNT(*) FROM people", "FROM microdata"),
    count("there is no table `{shown}` in this", "WHERE x.age > 3", "microdata"),
    count("the question joins something other", "JOIN (SELECT 1) AS x ON TRUE", "public table"),
    count("microdata is joined with itself", "JOIN microdata ON age = age", "a question of its own"),
    count("only JOIN and LEFT JOIN", "FULL JOIN words ON sex = words.code", "JOIN table", WORD),
    count("a JOIN is understood with one equation", "JOIN words ON sex > words.code", "JOIN table", WORD),
    count("a JOIN is understood with one column", "JOIN words USING (code, word)", "JOIN table", WORD),
    count("a JOIN is understood between", "JOIN words ON LOWER(sex) = words.code", "JOIN table", WORD),
    count("there is no public table", "JOIN regions ON sex = regions.code", "with `tables`"),
    count("the public table `{}` has no column", "JOIN words ON sex = words.nothing", "it has code, word", WORD),
    count("`{}.{name}` has '{shown}'", "JOIN words ON sex = words.code", "unique",
          {"words": WORDS.assign(code="F")}),
    count("two public tables are called", "JOIN words ON sex = words.code", "of its own", {"words": WORDS, "WORDS": WORDS}),
    count("the public table `{name}` has more than", "JOIN words ON sex = words.code", "only the columns",
          {"words": pandas.DataFrame({"code": range(1_000_001)})}),
    count("the public table `{name}` has two columns", "JOIN words ON sex = words.a", "rename",
          {"words": pandas.DataFrame({"a": ["F"], "A": ["M"]})}),
    count("the condition on the public table", "WHERE sex IN (SELECT code FROM words WHERE word LIKE 'a%')", "use =", WORD),
    count("a question inside a question is not answered: its rows", "WHERE EXISTS (SELECT 1 FROM microdata)", "first"),
    count("a question inside a question is not answered, except", "WHERE sex IN (SELECT sex FROM microdata GROUP BY sex)",
          "IN (SELECT column"),
    # Columns and constants.
    count("the release has no column", "WHERE wage > 3", "the columns that can be asked are: age, sex, disease"),
    count("`{}` could be several columns", "WHERE AGE > 3", "double quotes", table="alike", quasi=["age", "Age"]),
    count("{constant} is not a value", "WHERE age = 'old'"),
    count("`{}` has no value '{shown}'", "WHERE sex < 'X'", "F, M", kind={"sex": "ordinal"}, order={"sex": ["F", "M"]}),
    ask("'{shown}' is not a value", "SELECT admission_date, COUNT(*) FROM microdata GROUP BY admission_date HAVING "
        "admission_date > 'soon'", "YYYY-MM-DD", **DATES),
    count("double quotes name columns", 'WHERE sex = "F"', "'F'"),
    count("`{shown}` is too large a number", "WHERE age < 1e999", "1e308"),
    count("this constant is not understood", "WHERE sex = X'ff'", "single quotes"),
    count("LIKE asks about words", "WHERE age LIKE '4%'", "BETWEEN"),
    count("the {what} of LIKE", "WHERE sex LIKE 3", "single quotes"),
    count("ESCAPE takes one letter", "WHERE sex LIKE 'a' ESCAPE 'ab'", "ESCAPE '!'"),
    count("LIKE is understood for a column", "WHERE LOWER(sex) LIKE 'f%'", "= or IN"),
    count("a value stands where a condition", "WHERE age", "compare it"),
    count("{} is an aggregate, and stands", "WHERE COUNT(*) > 3", "HAVING"),
    # Expressions.
    count("`{shown}` is not understood", "WHERE sex || 'a' = 'b'", "use +"),
    count("an expression is nested", f"WHERE age {'= 1 ' * 120}", "simpler"),
    ask("more than {MAX_CHAIN} numbers", f"SELECT SUM(age {'+ 1 ' * 250}) FROM microdata", "shorter"),
    ask("`{shown}` is no part of a date", "SELECT COUNT(*) FROM microdata WHERE EXTRACT(CENTURY FROM age) = 3", "YEAR"),
    count("{text} does not take these", "WHERE ABS(age, 1) = 3", "use +"),
    count("`{}` holds values of kind {}, and parts", "WHERE YEAR(age) = 3", "dates"),
    ask("'{shown}' is a text", "SELECT SUM(age + 'a') FROM microdata", "without quotes"),
    ask("`{}` holds values of kind {}, which are not", "SELECT SUM(sex + 1) FROM microdata", "numbers"),
    # Aggregates.
    ask("the function `{text}` is not answered", "SELECT GEOMEAN(age) FROM microdata", "COUNT(*)"),
    ask("{text} OVER a window", "SELECT SUM(age) OVER () FROM microdata", "GROUP BY"),
    ask("{text} takes one column or", "SELECT SUM(age, age) FROM microdata", "COUNT(*)"),
    ask("{text} takes a share", "SELECT PERCENTILE_CONT(2) WITHIN GROUP (ORDER BY age) FROM microdata", "0.9"),
    ask("percentile_cont needs", "SELECT PERCENTILE_CONT(0.5) FROM microdata", "ORDER BY"),
    ask("`{shown}` stands where a constant", "SELECT PERCENTILE_CONT(age) WITHIN GROUP (ORDER BY age) FROM microdata",
        "work it out"),
    ask("only a number can have a sign", "SELECT PERCENTILE_CONT(-'a') WITHIN GROUP (ORDER BY age) FROM microdata"),
    ask("{text} WITHIN GROUP", "SELECT SUM(age) WITHIN GROUP (ORDER BY age) FROM microdata", "COUNT(*)"),
    ask("{text}(DISTINCT …) is not answered", "SELECT SUM(DISTINCT age) FROM microdata", "COUNT(DISTINCT"),
    ask("an aggregate of an aggregate", "SELECT SUM(COUNT(*)) FROM microdata", "GROUP BY"),
    ask("`{}` is used beside aggregates", "SELECT COUNT(*) + age FROM microdata", "GROUP BY age"),
    ask("CASE, LIKE and IN", "SELECT CASE WHEN COUNT(*) > 3 THEN 1 END FROM microdata", "WHERE"),
    ask("{} needs numbers, but `{}`", "SELECT MIN(disease) FROM microdata", "COUNT(*)"),
    ask("{} needs numbers, but {problem}", "SELECT SUM(sex) FILTER (WHERE age > 30) FROM microdata", "COUNT(*)"),
    ask("{} is answered only for a sensitive", "SELECT AVG(sex) FROM microdata", "COUNT(*)"),
    ask("{} is answered for whole numbers", "SELECT SUM(cost) FROM microdata", "COUNT(*)", table="large", **COST),
    ask("{} tells apart values of several", "SELECT COUNT(DISTINCT CASE WHEN age > 30 THEN sex ELSE disease END) FROM "
        "microdata", "one column", **EXACT),
    ask("{} mixes columns", "SELECT SUM(age + cost) FROM microdata", "SUM(a) + SUM(b)", **COST),
    ask("{} adds up products", "SELECT SUM(CASE WHEN sex = 'F' THEN age * cost ELSE age END) FROM microdata", "apart", **COST),
    ask("{} is over a product", "SELECT MAX(age * cost) FROM microdata", "SUM or AVG", **COST),
    ask("one question asks about the values of two", "SELECT SUM(cost), MIN(disease) FROM microdata", "of its own", **BOTH),
    # What a form does not tell.
    count("a release by {} does not tell", "", "publish the table with", **SWAPPED),
    count("`{}` is published beside generalized", "WHERE occupation = 'nurse'", "age, sex, disease", other=["occupation"],
          accept="disclosure"),
    ask("`{}` is published as ranges of reals", "SELECT r, COUNT(*) FROM microdata GROUP BY r", "BETWEEN", table="real",
        quasi=["r"]),
    count("one comparison is about several", "WHERE age < cost", "AND and OR", **COST),
    count("an expression in GROUP BY is about", "GROUP BY age + cost", "one column each", **COST),
    # More than is counted.
    count("the condition falls into more than {MAX_BOXES}",
          "WHERE " + any_of(70, lambda at: f"age = {at} AND sex = '{'FM'[at % 2]}'"), "fewer ORs"),
    count("the condition falls into more than {MAX_PIECES}",
          "WHERE " + any_of(70, lambda at: f"cost = {3 * at} AND n = {at}") + " ORDER BY 1", "fewer ORs", **COST_OF_MANY),
    count("an OR joins conditions", "WHERE " + any_of(70, lambda at: f"cost = {3 * at} AND n = {at}"), "separate questions",
          **COST_OF_MANY),
    count("the condition tests `{}`", "WHERE " + any_of(11, lambda bit: f"cost IN ({BITS[bit]}) AND n = {bit}")
          + " ORDER BY 1", "fewer ORs", **COST_OF_MANY),
    ask("GROUP BY asks for too many", "SELECT a, b, COUNT(*) FROM microdata GROUP BY a, b", "fewer columns", table="grid",
        quasi=["a", "b"], require=["l=3", "k=10"]),
    count("GROUP BY asks for more than {MAX_COMBOS}", "GROUP BY n % 1000, m // 1000000", "coarser", **OF_MANY),
    ask("the question falls into too many parts", "SELECT "
        + ", ".join(f"COUNT(*) FILTER (WHERE m > {at}) AS c{at}" for at in range(11)) + " FROM microdata GROUP BY n % 1999",
        "fewer aggregates", **OF_MANY),
    ask("GROUP BY names two sensitive columns, {}", "SELECT disease, cost, COUNT(*) FROM microdata GROUP BY disease, cost",
        "one of them", **BOTH_OF_MANY),
    ask("GROUP BY names two sensitive columns, and", "SELECT disease, cost, COUNT(*) FROM microdata GROUP BY disease, cost "
        "ORDER BY 3", "one of them", **BOTH_OF_MANY),
    count("an expression over `{}` has more than", "GROUP BY n + 1", "coarser", **OF_MANY),
    count("`{}` has too many values to decide", "WHERE m % 7 = 1", "rises or falls", **{**OF_MANY, "method": "generalize"}),
    ask("`{}` can have more than {MAX_KEYS}", "SELECT m, COUNT(*) FROM microdata GROUP BY m", "WHERE",
        **{**OF_MANY, "method": "generalize"}),
    # Series.
    ask("VERSION AS OF takes", "SELECT COUNT(*) FROM microdata VERSION AS OF june", "VERSION AS OF 3"),
    ask("release {version} of a series is asked", VERSION, "leave VERSION AS OF out"),
    series("release {version} of the series is asked, and this is", lambda here: month(here).release.query(VERSION),
           "`others`"),
    series("release {version} of the series is asked, and there are", lambda here: two(here, 2)[0].query(
        VERSION, others=[here / "release-1"]), "`others`"),
    ask("a SELECT without FROM computes", "SELECT (SELECT COUNT(*) FROM microdata) - age", "VERSION AS OF"),
    ask("a question in parentheses", "SELECT (SELECT COUNT(*) FROM microdata GROUP BY sex) - 1", "one aggregate"),
    ask("a SELECT of answers has one row", "SELECT (SELECT COUNT(*) FROM microdata) LIMIT 1", "in parentheses"),
    # What is answered, and not rewritten.
    write("a SELECT of answers is not rewritten", "SELECT (SELECT COUNT(*) FROM microdata) - 1", "one by one"),
    write("the statement would be a union", "SELECT COUNT(*) FROM microdata GROUP BY n % 300", **OF_MANY),
    write("an expression in GROUP BY has words and numbers",
          "SELECT COUNT(*) FROM microdata GROUP BY CASE WHEN age > 30 THEN 'old' ELSE 3 END"),
    write("the bounds of {} are found by halving", "SELECT SUM(cost * w) / SUM(w) FROM microdata", **WEIGHTED, **COST),
    write("the bounds of {} are found by a search", "SELECT STDDEV(cost) FROM microdata WHERE age > 33",
          **{**COST, "method": "generalize"}),
    write("`{name}` is published as ranges", "SELECT AVG(age) FROM microdata"),
    write("an aggregate over a column that is not sensitive",
          "SELECT AVG(age) FROM microdata WHERE disease = 'influenza' AND cost > 500", **BOTH),
    write("the weights of this release stand in other rows than the values asked for, and such an aggregate",
          "SELECT MEDIAN(w) FROM microdata WHERE disease = 'influenza'", **WEIGHTED, **{**BOTH, "method": "generalize"}),
    write("the weights of this release stand in other rows than the values asked for, and such a sum",
          "SELECT SUM(w) FROM microdata WHERE disease = 'influenza'", **WEIGHTED, method="angel", require=["l=3", "k=5"]),
    write("of a weight, only SUM", "SELECT AVG(w) FROM microdata", **WEIGHTED, **EXACT),
    write("a sum of weights with conditions on several",
          "SELECT SUM(w) FROM microdata WHERE disease = 'influenza' AND cost > 500", **WEIGHTED, **BOTH),
    write("a sum of products of columns that stand", "SELECT SUM(age * cost) FROM microdata",
          **{**COST, "method": "generalize"}),
    write("% of an aggregate", "SELECT COUNT(*) % 3 FROM microdata"),
    write("% of numbers with decimals", "SELECT SUM((age / 2) % 2.5) FROM microdata", **EXACT),
    write("ROUND to a number of decimals", "SELECT ROUND(AVG(cost), COUNT(*)) FROM microdata", **COST),
    write("a condition on several columns inside", 
          "SELECT SUM(age * CASE WHEN sex = zip_code THEN 1 ELSE 0 END) FROM microdata", **EXACT,
          quasi=["age", "sex", "zip_code"]),
    write("an expression of words or dates",
          "SELECT SUM(age * COALESCE(YEAR(admission_date), age)) FROM microdata", **EXACT,
          quasi=["age", "admission_date"]),
    write("an expression over `{name}` has", "SELECT COUNT(DISTINCT n % 5000) FROM microdata", **OF_MANY),
    write("the question is about columns that are shown together",
          "SELECT COUNT(*) FROM microdata WHERE disease = 'influenza' AND cost > 500", **BOTH, together=[["disease", "cost"]]),
]

_PLAIN = "a plain question that is not understood is read as one that is more than plain, and its errors are those that are told"
#: Sentences that no question from Python can end in, and why.
UNREACHABLE = {
    **dict.fromkeys(
        [
            "a question inside a question is not answered",
            "a column stands where a condition is expected",
            "`{shown}` is not understood as a condition",
            "the operator `{other}` is not understood in a condition",
            "two columns are compared with each other, which a release cannot answer",
            "no column of the table is compared here",
            "the condition compares no column: it is the same for everybody",
            "a condition must start with a column",
            "`{}` is selected, but not in GROUP BY",
            "the question has more than FROM, WHERE and GROUP BY",
            "the question joins tables, and a release has only one to ask",
            "GROUP BY ALL is not understood",
            "GROUP BY with a modifier is not understood",
            "GROUP BY takes columns only",
            "only aggregates and GROUP BY columns can be selected",
            "{text} with FILTER, OVER or the like is not answered",
            "{text} takes one column",
            "{text}(DISTINCT …) is not answered: which values people share is what the release hides",
            "{text} takes a column, not an expression",
        ],
        _PLAIN,
    ),
    "this is more than a plain question": "only experiments read plain questions alone",
    "{} is more than a plan can answer": "plans are made of plain questions, whose functions they all answer",
    "line {} of the public table `{name}` has {} cells, and its header {}": "every row of a data frame has all columns",
    "no table of the release has all of {}": "beside marginals there is a table of all quasi columns; ReleaseError::MissingTable",
    "a product of columns that stand in different rows is not rewritten as SQL for this form of release":
        "where rows are not known exactly, such a product is refused when it is asked, or for the sum of it",
    "the question asks nothing": "a question without aggregates is refused before",
    "a sum of products and of other numbers is not rewritten as SQL": "such a sum is refused when it is asked",
    "{} cannot be rewritten as SQL": "functions that plans do not rewrite are answered without plans",
    "a sum of weights is not rewritten as SQL beside other aggregates": "such statements are written apart",
}


def begins(sentence: str, start: str) -> bool:
    """Whether a sentence begins so. A whole sentence means itself only."""
    return sentence == start or sentence.startswith(start) and start not in questions()


@pytest.mark.parametrize(("start", "call", "remedy"), CASES, ids=[one[0] for one in CASES])
@pytest.mark.filterwarnings("ignore::chrysalis.ChrysalisWarning")
def test_a_question_is_refused_as_it_is_written(
    start: str, call: Callable[[Path], object], remedy: str, tmp_path: Path
) -> None:
    with pytest.raises(ch.ChrysalisError) as caught:
        call(tmp_path)
    error = caught.value
    assert type(error) is ch.QuestionError, error
    (written,) = [sentence for sentence in questions() if begins(sentence, start)]
    assert pattern(written).match(error.message), (written, error.message)
    assert error.remedy and remedy in error.remedy, error.remedy
    for text in (str(error), error.message, error.remedy):
        assert not flags_in(text), text


def test_a_letter_that_escapes_nothing() -> None:
    """The only sentence that is written where patterns are read."""
    with pytest.raises(ch.QuestionError, match="of the pattern escapes nothing") as caught:
        release().query("SELECT COUNT(*) FROM microdata WHERE sex LIKE 'F!x' ESCAPE '!'")
    assert "before %, _ or itself" in caught.value.remedy


def test_every_refusal_of_a_question_is_raised() -> None:
    """A new one needs a case, or a reason why there is none; what is gone from the sources goes from here, too."""
    known = questions()
    assert {site.argument for site in sites(*ASKING) if not site.sentences} == set(), "a sentence was not found"
    raised = {sentence for sentence in known for one in CASES if begins(sentence, one[0])}
    assert sorted(raised & UNREACHABLE.keys()) == [], "raised, and said to be out of reach"
    assert sorted({*known} - raised - {*UNREACHABLE}) == [], "neither raised nor said to be out of reach"
    assert sorted({*UNREACHABLE} - {*known}) == [], "no such sentence"
    assert [one[0] for one in CASES if not any(begins(sentence, one[0]) for sentence in known)] == []
