"""The catalogue of errors, as the sources write it: every variant of an error, and every request that the hall refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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
#: What stands before a sentence with which the hall, or the publisher below it, refuses a request.
REFUSING = {
    "chrysalis": ["Error::request("],
    "chrysalis-publish": ["PublishError::request(", "PublishError::remedied("],
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
    """Every sentence with which the hall or the publisher refuses a request, and the file that it is in.

    Sentences of another error, which the hall only passes on, are not among them.
    """
    found = {}
    for crate, path in ((crate, path) for crate in REFUSING for path in sorted((CRATES / crate / "src").rglob("*.rs"))):
        source, makers = _source(path), REFUSING[crate]
        # A closure that is told the sentence: its calls refuse as well.
        closure = r"let (\w+) =\s*(?:move )?\|(?:message|problem)\b[^|]*\|(?:[^;]*?|\s*\{[^}]*?)" + re.escape(makers[0])
        for call in (*makers, *(f"{name}(" for name in re.findall(closure, source))):
            # Another one's method of this name is none; what follows two dots is.
            for at in re.finditer(r"(?<!\w)(?<![^.]\.)" + re.escape(call), source):
                # The definition itself is none.
                if not source[: at.start()].endswith("fn "):
                    found.update(dict.fromkeys(_message(source, at.end()), path.relative_to(CRATES)))
    return found


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


def _message(source: str, at: int) -> list[str]:
    """The texts of the first argument of a call; if it is a name, those of what the name was given."""
    said = _until(source, at, ",")
    name = re.fullmatch(r"\s*([a-z_]+)\s*", said)
    if name:
        before = source[:at]
        given = [*re.finditer(rf"let {name[1]} =", before)][-1:]
        said = " ".join(_until(source, found.end(), ";") for found in given)
        # A sentence and its remedy may be made together: of these, only the sentence.
        for found in re.finditer(rf"let \({name[1]}, \w+\) =", before[before.rindex("fn ") :]):
            both = _until(source, before.rindex("fn ") + found.end(), ";")
            said += " ".join(re.findall(r'format!\(\s*"(?:[^"\\]|\\.)*"', both))
    return [_unescaped(text) for text in _TEXT.findall(said) if " " in text.strip() and not is_any(text)]


def _until(source: str, at: int, end: str) -> str:
    depth = 0
    for place, token in _tokens(source, at):
        if depth == 0 and token in (end, ")"):
            return source[at : place - 1]
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(token, 0)
    raise ValueError("an argument never ends")


def _unescaped(text: str) -> str:
    return re.sub(r"\\\n\s*", "", text).replace('\\"', '"')
