"""How far long work is: a bar in a terminal or a notebook, and nothing anywhere else."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, Union

#: Called with the phase (``None`` when all is over), how much of it is done, what that adds up to (``None`` if nobody
#: knows), and what is counted. If it returns ``False``, the work stops.
Callback = Callable[[Union[str, None], int, Union[int, None], str], Union[bool, None]]
Progress = Union[bool, Callback, None]

#: Work that is over sooner shows nothing.
_PATIENCE = 0.5
_PACE = 0.1
_WIDTH = 28


def shown(progress: Progress) -> Callback | None:
    """What to tell: a callback as it is; a bar for ``True``, and for ``None`` where somebody can see it."""
    if callable(progress):
        return progress
    if progress is False:
        return None
    if _is_notebook():
        return _Notebook()
    if progress or (sys.stderr is not None and sys.stderr.isatty()):
        return _Terminal()
    return None


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and getattr(shell, "kernel", None) is not None


class _Bar:
    def __init__(self) -> None:
        self.began = time.monotonic()
        self.shown_at = 0.0
        self.is_shown = False

    def __call__(self, phase: str | None, done: int, total: int | None, unit: str) -> bool | None:
        now = time.monotonic()
        if phase is None:
            if self.is_shown:
                self.clear()
            return None
        if now - self.began >= _PATIENCE and now - self.shown_at >= _PACE:
            self.shown_at, self.is_shown = now, True
            self.show(phase, done, total, unit, now - self.began)
        return None

    def show(self, phase: str, done: int, total: int | None, unit: str, seconds: float) -> None:
        raise NotImplementedError

    def clear(self) -> None:
        raise NotImplementedError


def _count(done: int, total: int | None, unit: str) -> str:
    if unit == "bytes":
        return f"{done / 1e6:,.1f} MB" if total is None else f"{done / 1e6:,.1f} of {total / 1e6:,.1f} MB"
    return f"{done:,} {unit}" if total is None else f"{done:,} of {total:,} {unit}"


class _Terminal(_Bar):
    def show(self, phase: str, done: int, total: int | None, unit: str, seconds: float) -> None:
        if total:
            full = min(_WIDTH, _WIDTH * done // total)
            line = f"{phase:>10} [{'█' * full}{'░' * (_WIDTH - full)}] {_count(done, total, unit)}"
        else:
            line = f"{phase:>10} {seconds:,.0f} s {_count(done, total, unit) if done else ''}"
        sys.stderr.write(f"\r\x1b[2K{line}")
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[2K")
        sys.stderr.flush()


class _Notebook(_Bar):
    def __init__(self) -> None:
        super().__init__()
        self.display: Any = importlib.import_module("IPython.display")
        self.handle: Any = None

    def show(self, phase: str, done: int, total: int | None, unit: str, seconds: float) -> None:
        bar = f'<progress max="{total}" value="{min(done, total)}"></progress>' if total else "<progress></progress>"
        page = self.display.HTML(f"<div>{bar} {phase}, {_count(done, total, unit)}, {seconds:,.0f} s</div>")
        if self.handle is None:
            self.handle = self.display.display(page, display_id=True)
        else:
            self.handle.update(page)

    def clear(self) -> None:
        if self.handle is not None:
            self.handle.update(self.display.HTML(""))
