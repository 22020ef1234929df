"""Reports as HTML, for notebooks: readable in light and in the dark, and without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._answer import Row, Value
    from ._release import Audit

#: Colors follow the notebook where it says which theme it has, and the system elsewhere.
_STYLE = """<style>
.chrysalis { --ink: #1f2933; --soft: #5f6c7b; --line: #d9dee4; --bar: #7fb0e0; --mark: #12507b; --good: #1b6e3c;
  --bad: #a4262c; --ground: #ffffff; color: var(--ink); background: var(--ground); font: 14px/1.5 system-ui, sans-serif;
  padding: .75em 1em; border: 1px solid var(--line); border-radius: 6px; max-width: 60em; overflow-x: auto }
@media (prefers-color-scheme: dark) { .chrysalis { --ink: #e4e9ee; --soft: #a3afbb; --line: #3c4650; --bar: #2f6496;
  --mark: #bfe0ff; --good: #7ed6a0; --bad: #ff9a96; --ground: #171c21 } }
body[data-jp-theme-light="true"] .chrysalis { --ink: #1f2933; --soft: #5f6c7b; --line: #d9dee4; --bar: #7fb0e0;
  --mark: #12507b; --good: #1b6e3c; --bad: #a4262c; --ground: #ffffff }
body[data-jp-theme-light="false"] .chrysalis { --ink: #e4e9ee; --soft: #a3afbb; --line: #3c4650; --bar: #2f6496;
  --mark: #bfe0ff; --good: #7ed6a0; --bad: #ff9a96; --ground: #171c21 }
.chrysalis h4 { margin: 0 0 .4em; font-size: 1.05em; font-weight: 600; color: inherit }
.chrysalis p { margin: .3em 0; color: inherit }
.chrysalis .soft { color: var(--soft) }
.chrysalis .good { color: var(--good); font-weight: 600 }
.chrysalis .bad { color: var(--bad); font-weight: 600 }
.chrysalis table { border-collapse: collapse; margin: .4em 0; color: inherit; font-size: 1em }
.chrysalis th, .chrysalis td { text-align: left; padding: .2em .9em .2em 0; border: 0; vertical-align: top;
  background: none; color: inherit; white-space: normal }
.chrysalis tr { background: none !important; border-top: 1px solid var(--line) }
.chrysalis tr:first-child { border-top: 0 }
.chrysalis th { font-weight: 600; color: var(--soft) }
.chrysalis td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.chrysalis svg { display: block; width: 14em; height: 1.5em; max-width: none }
.chrysalis svg .track { fill: var(--line) }
.chrysalis svg .bound { fill: var(--bar) }
.chrysalis svg .mark { fill: var(--mark) }
</style>"""


class Html(str):
    """Text that is HTML already. All other text is escaped: values of a table may hold anything."""


def page(kind: str, content: str) -> str:
    """A block of HTML that stands alone."""
    return f'{_STYLE}<div class="chrysalis chrysalis-{kind}">{content}</div>'


def title(text: str, tone: str = "") -> str:
    """The first line."""
    return f'<h4 class="{tone}">{escape(text)}</h4>' if tone else f"<h4>{escape(text)}</h4>"


def paragraph(text: str, tone: str = "") -> str:
    """A line of text."""
    return f'<p class="{tone}">{escape(text)}</p>' if tone else f"<p>{escape(text)}</p>"


def listing(names: Iterable[str]) -> str:
    """Names in a line."""
    return paragraph(", ".join(names), "soft")


def remarks(notes: Iterable[str]) -> str:
    """What somebody should know, below everything else."""
    return "".join(paragraph(f"Note: {note}", "soft") for note in notes)


def shown(value: object) -> str:
    """A value as people read it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if value == round(value) and abs(value) < 1e15:
            return f"{value:,.0f}"
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:,.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(shown(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {shown(item)}" for name, item in value.items() if item is not None)
    return str(value)


def facts(values: dict[str, Any]) -> list[tuple[str, str]]:
    """The plain values of a report, for a table; lists of objects are counted."""
    lines = []
    for name, value in values.items():
        if isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
            lines.append((name, f"{len(value)} (see `{name}`)"))
        elif isinstance(value, dict) and any(isinstance(item, (dict, list)) for item in value.values()):
            lines.append((name, f"{', '.join(value)} (see `{name}`)"))
        elif value is not None and shown(value):
            lines.append((name.replace("_", " "), shown(value)))
    return lines


def fact_table(lines: Sequence[tuple[str, str]]) -> str:
    """Names and values."""
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in lines)
    return f"<table>{rows}</table>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""

    def cell(text: str) -> str:
        if isinstance(text, Html):
            return f"<td>{text}</td>"
        number = text.replace(",", "").replace(".", "").replace("%", "").strip().lstrip("-").isdigit()
        return f'<td class="number">{escape(text)}</td>' if number else f"<td>{escape(text)}</td>"

    rows = [list(row) for row in rows]
    # A column in which nothing stands says nothing.
    kept = [at for at in range(len(header)) if not rows or any(row[at] for row in rows)]
    header, rows = [header[at] for at in kept], [[row[at] for at in kept] for row in rows]
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(cell(text) for text in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def answer(question: str, rows: Sequence[Row], notes: Sequence[str]) -> str:
    """An answer: bars from the lowest to the highest possible value, each with a mark at the estimate."""
    keys = list(rows[0].group) if rows else []
    names = [value.name for value in rows[0].values] if rows else []
    ranges = [_range([row.values[at] for row in rows]) for at in range(len(names))]
    header = [*keys, *([""] if len(names) > 1 else []), "estimate", "bounds", "at least", "at most", "± std. error"]
    lines: list[list[str]] = []
    for row in rows:
        for at, value in enumerate(row.values):
            who = [shown(row.group[key]) for key in keys] if at == 0 else [""] * len(keys)
            name = [value.name] if len(names) > 1 else []
            numbers = [shown(value.lower), shown(value.upper), shown(value.std_error)]
            lines.append([*who, *name, shown(value.estimate), bar(value, *ranges[at]), *numbers])
    told = table(header, lines) if lines else paragraph("No row can match.")
    return page("answer", title(", ".join(names) or "Answer") + paragraph(question, "soft") + told + remarks(notes))


def _range(values: Iterable[Value]) -> tuple[float, float]:
    ends = [end for value in values for end in (value.lower, value.upper, value.estimate) if end is not None]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    return (least, most if most > least else least + 1.0)


def bar(value: Value, least: float, most: float) -> Html:
    """A bar for the bounds of a number, on a scale that a column shares."""

    def at(number: float) -> float:
        return 200.0 * (number - least) / (most - least)

    if value.lower is None or value.upper is None:
        return Html()
    left, right = at(value.lower), at(value.upper)
    words = f"from {shown(value.lower)} to {shown(value.upper)}, expected {shown(value.estimate)}"
    mark = ""
    if value.estimate is not None:
        mark = f'<rect class="mark" x="{min(197.0, max(0.0, at(value.estimate) - 1.5)):.1f}" y="1" width="3" height="18"/>'
    return Html(
        f'<svg viewBox="0 0 200 20" preserveAspectRatio="none" role="img" aria-label="{escape(words)}">'
        f'<rect class="track" x="0" y="9" width="200" height="2"/>'
        f'<rect class="bound" x="{left:.1f}" y="5" width="{max(1.0, right - left):.1f}" height="10"/>{mark}</svg>'
    )


def audit(found: Audit) -> str:
    """An audit: the verdict first, then promises, checks and attacks."""
    rows, groups = found["rows"], found["groups"]
    disclosed = found["disclosed_rows"]
    verdict = found.headline[0]
    if disclosed is not None:
        verdict += f"; {disclosed:,} rows are disclosed" if disclosed else "; no row is disclosed"
    lead = title(verdict, "good" if found.ok else "bad") + paragraph(f"{rows:,} rows in {groups:,} groups", "soft")
    wrong = "".join(paragraph(finding, "bad") for finding in found.findings)
    more = "".join(paragraph(sentence) for sentence in found.headline[1:])
    promises = table(["promise", "holds", "worst group has"], [list(line) for line in found.promises()])
    checks = ", ".join(f"{check['name']} {'ok' if check['ok'] else 'FAILED'}" for check in found["checks"])
    told = [[name.replace("_", " "), sentence] for name, sentence in found.attacks().items()]
    attacks = table(["attack", "what somebody could do"], told)
    checked = paragraph(f"Checks: {checks}", "soft")
    return page("audit", lead + wrong + more + promises + checked + attacks + remarks(found.notes))
