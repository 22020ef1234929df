"""The catalogue of errors, as the sources write it: every variant of an error, and every request that the hall refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

CRATES = Path(__file__).resolve().parents[2]

#: The errors that a call from Python can end in, and where they are written.
ENUMS = {
    "TableError": "chrysalis-table",
    "TaxonomyError": "chrysalis-table",
    "CriteriaError": "chrysalis-criteria",
    "ReleaseError": "chrysalis-release",
    "PublishError": "chrysalis-publish",
    "QueryError": "chrysalis-query",
    "AuditError": "chrysalis-audit",
    "EvaluateError": "chrysalis-evaluate",
    "SampleError": "chrysalis-sample",
    "RiskError": "chrysalis-risk",
    "StoreError": "chrysalis-store",
    "ArrowTableError": "chrysalis-arrow",
}
#: Variants that hold nothing but what their makers say: the crates of the makers, and how these begin.
SPOKEN = {
    "CriteriaError::Parameter": (["chrysalis-criteria"], ["CriteriaError::Parameter {"]),
    "CriteriaError::Column": (["chrysalis-criteria"], ["CriteriaError::Column {"]),
    "PublishError::Request": (["chrysalis-publish"], ["PublishError::request(", "PublishError::remedied("]),
    "QueryError::Question": (["chrysalis-query", "chrysalis-sql"], ["question("]),
    "QueryError::Unanswerable": (["chrysalis-query", "chrysalis-sql"], ["unanswerable("]),
    "EvaluateError::Workload": (["chrysalis-evaluate"], ["EvaluateError::Workload {"]),
}
#: Variants that say only which file another error is about.
HELD = {
    "StoreError::Table": ["TableError"],
    "StoreError::Batches": ["ArrowTableError", "TableError"],
    "StoreError::Release": ["ReleaseError"],
}


class Maker(NamedTuple):
    """A call that makes an error."""

    #: The crate, or the folder in it, where it is called.
    place: str
    #: How it begins.
    call: str
    #: Which of its arguments is the sentence.
    argument: int = 0
    #: Or, where it is written as what it is, the field that holds the sentence.
    field: str = ""


#: The calls with which requests are refused: by the hall, the publisher below it, comparisons, and the package itself.
REFUSING = [
    Maker("chrysalis/src", "Error::request("),
    Maker("chrysalis-publish/src", "PublishError::request("),
    Maker("chrysalis-publish/src", "PublishError::remedied("),
    Maker("chrysalis-lab/src/compare", "Error::request("),
    Maker("chrysalis-python/src", "Error::request("),
    Maker("chrysalis-python/src", "refused(", 1),
    Maker("chrysalis/src", r"(?<![\w:])Error \{", field="message"),
]
#: The calls with which questions are refused.
ASKING = [
    *(
        Maker(place, call, 1)
        for place in ("chrysalis-query/src", "chrysalis-sql/src", "chrysalis/src")
        for call in ("QueryError::question(", "QueryError::unanswerable(")
    ),
    Maker("chrysalis-sql/src/rewrite", "refused("),
    Maker("chrysalis-sql/src/rewrite", r"QueryError::Question \{", field="problem"),
]
#: Calls whose sentence another one has written, and which one.
PASSED_ON = {
    ("chrysalis/src/error.rs", "error.to_string()"): "an error of the crates below",
    ("chrysalis/src/error.rs", 'format!("{what}: {}", self.message)'): "the same error, preceded by what it is about",
    ("chrysalis/src/error.rs", "message.into()"): "the definition",
    ("chrysalis/src/files.rs", 'format!("{knob}: {problem}")'): "a value that is written in a wrong way: test_errors.py",
    ("chrysalis/src/files.rs", "error.to_string()"): "an error of the store",
    ("chrysalis/src/partitioner.rs", 'format!("{knob}: {problem}")'): "a value that is written in a wrong way: test_errors.py",
    ("chrysalis/src/recipe/mod.rs", 'format!("{}: {problem}", Knob::Memory)'): "a value that is written in a wrong way",
    ("chrysalis-publish/src/error.rs", "problem"): "the definition",
    ("chrysalis-python/src/keywords.rs", "error.to_string()"): "what serde says of a whole draft: test_errors.py",
    ("chrysalis-python/src/keywords.rs", "message"): "what serde says of a keyword: test_errors.py",
    ("chrysalis-python/src/release.rs", "problem"): "a value that is written in a wrong way: test_errors.py",
    ("chrysalis/src/population.rs", "error.to_string()"): "an error of the store",
}


_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.S)


@cache
def variants() -> dict[str, str]:
    """Every variant, as `TableError::NoRows`, and its message. What only passes on another error is not one."""
    found = {}
    for name, crate in ENUMS.items():
        source = _source(CRATES / crate / "src" / "error.rs")
        start = source.index(f"pub enum {name} {{")
        body = _balanced(source, source.index("{", start))
        for at in re.finditer(r"#\[error\(", body):
            said = _balanced(body, at.end() - 1)
            # Attributes and comments may stand between a message and its variant.
            rest = re.sub(r"^\s*//.*$|#\[[^\]]*\]", "", body[at.end() + len(said) - 1 :], flags=re.M)
            variant = re.search(r"\b([A-Z]\w*)", rest)
            text = _TEXT.search(said)
            if text and variant:
                found[f"{name}::{variant[1]}"] = _unescaped(text[1])
        # Nothing was overlooked.
        held = body.count("#[error(transparent)]")
        assert sum(it.startswith(f"{name}::") for it in found) == body.count("#[error(") - held, name
    return found


@cache
def refusals() -> dict[str, Path]:
    """Every sentence with which a request is refused, and the file that it is in."""
    return {text: site.path for site in sites(*REFUSING) for text in site.sentences}


@cache
def questions() -> dict[str, Path]:
    """Every sentence with which a question is refused, and the file that it is in."""
    return {text: site.path for site in sites(*ASKING) for text in site.sentences}


class Site(NamedTuple):
    """A place in the sources where an error is made."""

    path: Path
    #: The argument that is the sentence, as it is written.
    argument: str
    #: What it may say; empty where another one has written the sentence.
    sentences: list[str]


@cache
def sites(*makers: Maker) -> list[Site]:
    """All places in the sources where one of these calls is."""
    found = []
    for maker in makers:
        for path in sorted((CRATES / maker.place).rglob("*.rs")):
            if path.name != "tests.rs" and "tests" not in path.relative_to(CRATES).parts:
                source = _source(path)
                for at, said in (_fields if maker.field else _calls)(source, maker):
                    found.append(Site(path.relative_to(CRATES), said, _said(source, path, said, at)))
    return found


def _calls(source: str, maker: Maker) -> Iterator[tuple[int, str]]:
    # Another one's method of this name is none; what follows two dots is. The definition itself is none.
    for at in re.finditer(r"(?<!\w)(?<![^.]\.)" + re.escape(maker.call), source):
        if not source[: at.start()].endswith("fn "):
            yield at.start(), _arguments(source, at.end())[maker.argument]


def _fields(source: str, maker: Maker) -> Iterator[tuple[int, str]]:
    for at in re.finditer(maker.call, source):
        # A definition, and the type that a function returns, have no values.
        if re.search(r"(struct|impl|->|for) *\Z", source[: at.start()]):
            continue
        body = _balanced(source, at.end() - 1)
        value = re.search(rf"(?<![\w.]){maker.field}(?:: |(?=[,}} ]))", body)
        if value:
            yield at.start(), _until(body[:-1] + ")", value.end(), ",").strip() or maker.field


def _said(source: str, path: Path, argument: str, at: int, depth: int = 0) -> list[str]:
    """What an argument may be: the texts in it, or those that its name was given, by a `let` or by whoever calls."""
    joined = re.fullmatch(r'(\w+)\.join\("[^"]*"\)', argument)
    argument = joined[1] if joined else argument
    texts = [_unescaped(text) for text in _TEXT.findall(argument)]
    if texts:
        sentences = [text for text in texts if is_sentence(text)]
        # A sentence may be made of another: `{form} {problem}`.
        parts = [(text, name) for text in texts if is_any(text) for name in re.findall(r"\{(problem|message)\}", text)]
        for text, name in parts if not sentences else []:
            for inner in _said(source, path, name, at, depth + 1):
                sentences.append(text.replace(f"{{{name}}}", inner))
        return sentences
    method = re.fullmatch(r"self\.(\w+)\(\)", argument)
    if method:
        start = source.index(f"fn {method[1]}(")
        body = _balanced(source, source.index("{", start))
        return [_unescaped(text) for text in _TEXT.findall(body) if is_sentence(_unescaped(text))]
    name = re.fullmatch(r"\s*&?([a-z_]+)(?:\(\))?(?:\.(?:to_owned|to_string|into|clone)\(\))?\s*", argument)
    if not name or depth > 2:
        return []
    begin = max(source.rfind("\nfn ", 0, at), source.rfind(" fn ", 0, at), 0)
    body, word = source[begin:at], re.escape(name[1])
    told: list[str] = []
    # A closure or a function is told the sentence: its calls refuse as well.
    closure = None
    for closure in re.finditer(r"let (\w+) =\s*(?:move )?\|([^|]*)\|", body):
        place = _place(closure[2], name[1])
        if place is not None and not _is_over(body, closure.end()):
            rest = re.split(r"\n(?:    )?(?:pub(?:\([^)]*\))? )?fn |\n}\n", source[at:], maxsplit=1)[0]
            for call in re.finditer(rf"(?<![\w.]){closure[1]}\(", rest):
                given = _arguments(source, at + call.end())[place]
                told += _said(source, path, given, at + call.start(), depth + 1)
            return told
    given = [*re.finditer(rf"let (?:mut )?{word}(?:: [^=]+)? =", body)][-1:]
    both = [*re.finditer(rf"let \((?:\w+, )*{word}(?:, \w+)*\) =", body)][-1:]
    for found in given:
        told += [_unescaped(text) for text in _TEXT.findall(_until(source, begin + found.end(), ";"))]
        # What is pushed later belongs to it.
        told += [_unescaped(text) for more in re.finditer(rf"\b{word}\.push\(", body) for text in _TEXT.findall(_arguments(body, more.end())[0])]
    for found in both:
        # Of tuples, only the sentence, which stands first.
        pairs = _until(source, begin + found.end(), ";")
        told += [_unescaped(text) for text in re.findall(r'(?<![\w!])\(\s*(?:format!\(\s*)?"((?:[^"\\]|\\.)*)"', pairs)]
        told += [_unescaped(text) for text in re.findall(r'let message =\s*(?:format!\(\s*)?"((?:[^"\\]|\\.)*)"', pairs)]
    if not given and not both:
        header = re.match(r"\s*fn (\w+)(?:<[^>]*>)?\(([^)]*)\)", body)
        place = _place(header[2], name[1]) if header else None
        if header and place is not None and header[1] not in ("request", "internal", "question", "unanswerable", "remedied", "from", "about"):
            crate = CRATES / path.relative_to(CRATES).parts[0] / "src"
            for other in sorted(crate.rglob("*.rs")):
                text = _source(other)
                for call in re.finditer(rf"(?<!fn )(?<!\w){header[1]}\(", text):
                    arguments = _arguments(text, call.end())
                    if len(arguments) > place:
                        told += _said(text, other, arguments[place], call.start(), depth + 1)
    return [text for text in told if is_sentence(text)]


def _place(parameters: str, name: str) -> int | None:
    """The place of a parameter, not counting `self`."""
    names = [one.split(":")[0].strip() for one in parameters.split(",")]
    names = [one for one in names if one not in ("self", "&self", "&mut self", "")]
    return names.index(name) if name in names else None


def _is_over(body: str, start: int) -> bool:
    """Whether what begins here has ended: a closure, at its semicolon."""
    depth = 0
    for _, token in _tokens(body, start):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
        if depth == 0 and token == ";":
            return True
    return False


#: What only a command line has: flags, long and short, and the words for them.
_FLAG = re.compile(
    r"(?<![\w-])--[A-Za-z]|(?:^|(?<=[\s`'(\"]))-[A-Za-z](?![\w-])|\bflags?\b|\bcommand[- ]line\b|\bswitch(?:es)?\b"
    r"|\b(?:an?|the|this|these|no) options?\b|\boptions? `",
    re.I,
)


def flags_in(text: str) -> list[str]:
    """What of a text only makes sense on a command line."""
    return _FLAG.findall(text)


def knobs_of_remedies() -> set[str]:
    """The keywords for the knobs that remedies name, unless a remedy leaves them out where there are none."""
    spelled = dict(re.findall(r'Knob::(\w+) => "(\w+)"', _source(CRATES / "chrysalis-table/src/remedy.rs")))
    spelled |= dict(re.findall(r'Knob::(\w+) => "(\w+)"', _source(CRATES / "chrysalis-python/src/knobs.rs")))
    doors = ("chrysalis-cli", "chrysalis-studio", "chrysalis-load", "chrysalis-door", "chrysalis-table")
    named: set[str] = set()
    for path in CRATES.glob("*/src/**/*.rs"):
        parts = path.relative_to(CRATES).parts
        # Experiments are files of the command's.
        if parts[0] not in doors and "experiment" not in parts:
            named.update(re.findall(r"(?:\.knob|Remedy::set)\(\s*(?:chrysalis_table::|chrysalis::)?Knob::(\w+)", _source(path)))
    return {spelled[name] for name in named}


def sentences(variant: str) -> list[str]:
    """What a variant may say: its own message, that of what it holds, or all sentences in the files of its makers."""
    known = variants()
    if variant in HELD:
        return [text for name, text in known.items() if name.split("::")[0] in HELD[variant]]
    if not is_any(known[variant]):
        return [known[variant]]
    crates, makers = SPOKEN[variant]
    sources = [_source(path) for crate in crates for path in (CRATES / crate / "src").rglob("*.rs")]
    texts = [text for source in sources if any(maker in source for maker in makers) for text in _TEXT.findall(source)]
    said = [_unescaped(text) for text in texts]
    # Three words make a sentence.
    return [text for text in said if len(re.findall(r"\w+", re.sub(r"\{[^}]*\}", "", text))) > 2]


def pattern(template: str) -> re.Pattern[str]:
    """What a message looks like: placeholders stand for anything. What it is about may stand before it."""
    parts = re.split(r"\{\{|\}\}|(\{[^}]*\})", template)
    literal = "".join(".*" if part and part.startswith("{") else re.escape(part or "") for part in parts)
    return re.compile(rf"(?:.*: )?{literal}\Z", re.S)


def is_any(template: str) -> bool:
    """Whether a message is nothing but what its maker says."""
    return not re.search("[a-z]", re.sub(r"\{[^}]*\}", "", template))


def is_sentence(text: str) -> bool:
    """Whether a text says something, and not only half of it."""
    return " " in text.strip() and text == text.rstrip() and not is_any(text)


def _source(path: Path) -> str:
    """A file without its tests."""
    return re.split(r"#\[cfg\(test\)\]\nmod \w+ \{", path.read_text())[0]


def _balanced(text: str, at: int) -> str:
    """What stands in the brackets that open at a place, brackets included."""
    depth = 0
    for end, token in _tokens(text, at):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
        if depth == 0:
            return text[at:end]
    raise ValueError(f"a bracket is never closed: {text[at : at + 40]}")


def _tokens(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Characters that are neither in texts nor in comments, each with the place behind it."""
    skipped = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|\'(?:[^\'\\]|\\.)\'', re.S)
    while at < len(text):
        found = skipped.match(text, at)
        if found:
            at = found.end()
        else:
            at += 1
            yield at, text[at - 1]


def _arguments(source: str, at: int) -> list[str]:
    """The arguments of the call whose bracket opened just before a place."""
    found, depth, start = [], 0, at
    for place, token in _tokens(source, at):
        if depth == 0 and token in (",", ")"):
            found.append(source[start : place - 1].strip())
            start = place
            if token == ")":
                return [said for said in found if said]
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
    raise ValueError("a call never ends")


def _until(source: str, at: int, end: str) -> str:
    depth = 0
    for place, token in _tokens(source, at):
        if depth == 0 and token in (end, ")"):
            return source[at : place - 1]
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
    raise ValueError("an argument never ends")


def _unescaped(text: str) -> str:
    return re.sub(r"\\\n\s*", "", text).replace('\\"', '"')
