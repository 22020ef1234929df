"""Long work: it lets other threads run, shows how far it is, stops on Ctrl-C, and leaves nothing behind."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import chrysalis as ch
import pytest

GOOD: dict[str, Any] = {"quasi": ["age", "sex", "zip_code"], "sensitive": ["disease"], "require": "l=4"}


def test_another_thread_keeps_running() -> None:
    table = ch.example(100_000)
    ticks, over = [], threading.Event()

    def tick() -> None:
        while not over.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    ch.publish(table, **GOOD)
    seconds = time.monotonic() - began
    over.set()
    thread.join()
    during = [tick for tick in ticks if began <= tick <= began + seconds]
    # The longest silence is far shorter than the work, so the lock was free.
    silence = max(b - a for a, b in zip(during, during[1:]))
    assert len(during) > 20 and silence < max(0.3, seconds / 2), (len(during), silence, seconds)


def test_progress_is_told_and_ends() -> None:
    told: list[tuple[Any, ...]] = []
    ch.publish(ch.example(100_000), **GOOD, progress=lambda *step: told.append(step))
    assert told[-1][0] is None
    phases = {step[0] for step in told[:-1]}
    assert phases <= {"read", "partition", "publish"} and phases
    assert all(step[3] in ("rows", "bytes", "combinations", "runs") for step in told[:-1])


def test_what_a_progress_function_raises_comes_out() -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no paper")

    with pytest.raises(RuntimeError, match="no paper"):
        ch.publish(ch.example(200_000), **GOOD, progress=broken)


def test_nothing_is_printed_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    ch.publish(ch.example(50_000), **GOOD)
    assert capfd.readouterr() == ("", "")


def test_a_bar_can_be_asked_for(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chrysalis._progress._PATIENCE", 0.0)
    ch.publish(ch.example(100_000), **GOOD, progress=True)
    shown = capfd.readouterr().err
    assert "\r" in shown and shown.endswith("\r\x1b[2K")


def test_a_notebook_shows_a_bar_and_takes_it_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, page: Any) -> None:
            shown.append(page.data)

    def display(page: Any, display_id: bool) -> Handle:
        assert display_id
        shown.append(page.data)
        return Handle()

    monkeypatch.setattr("IPython.display.display", display)
    monkeypatch.setattr("chrysalis._progress._is_notebook", lambda: True)
    monkeypatch.setattr("chrysalis._progress._PATIENCE", 0.0)
    monkeypatch.setattr("chrysalis._progress._PACE", 0.0)
    ch.publish(ch.example(200_000), **GOOD)
    assert shown.pop() == "", "nothing is left of it"
    assert shown and all(page.startswith("<div><progress") and page.endswith(" s</div>") for page in shown)
    of = [re.search(r'<progress max="(\d+)" value="(\d+)">', page) for page in shown]
    done = [(int(bar[2]), int(bar[1])) for bar in of if bar]
    assert done and all(value <= most for value, most in done)
    assert any(re.search(r"(read|partition|publish), [\d,]+ (of [\d,]+ )?rows", page) for page in shown), shown


def test_a_notebook_is_known_by_its_kernel(tmp_path: Path) -> None:
    import nbclient
    import nbformat.v4 as form

    cell = form.new_code_cell("import chrysalis._progress as it\nprint(type(it.shown(None)).__name__, it.shown(False))")
    notebook = form.new_notebook(cells=[cell])
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert notebook.cells[0].outputs[0].text == "_Notebook None\n"


def test_reading_tells_how_far_it_is(tmp_path: Path) -> None:
    rows = 300_000
    ch.publish(ch.example(rows), **GOOD, method="anatomy", seed=1).release.save(tmp_path / "release", format="csv")
    told: list[tuple[Any, ...]] = []
    release = ch.open(tmp_path / "release", progress=lambda *step: told.append(step))
    assert told[-1][0] is None and {step[0] for step in told[:-1]} == {"read"}
    told.clear()
    release.query("SELECT disease, COUNT(*) AS n FROM microdata GROUP BY disease", progress=lambda *step: told.append(step))
    assert told[-1][0] is None and {step[0] for step in told[:-1]} <= {"read", "open", "answer"}
    with pytest.raises(ch.StoppedError):
        ch.open(tmp_path / "release", progress=lambda *_: False)


@pytest.mark.parametrize("verb", ["publish", "save", "audit", "open", "query"])
def test_ctrl_c_ends_it_within_a_second_and_leaves_nothing(verb: str, tmp_path: Path) -> None:
    script = """
        import sys, time
        import chrysalis as ch
        verb, folder = sys.argv[1:]
        table = ch.example(400_000)
        knobs = dict(quasi=["age", "sex", "zip_code"], sensitive=["disease"], require="l=4")
        if verb == "publish":
            work = lambda: [ch.publish(table, **knobs) for _ in range(50)]
        else:
            release = ch.publish(table, **knobs).release
            audit = lambda: [release.audit(microdata=table, replay=1000) for _ in range(50)]
            save = lambda: [release.save(folder + "/release", force=True) for _ in range(500)]
            question = "SELECT age, zip_code, disease, COUNT(*), AVG(age) FROM microdata GROUP BY age, zip_code, disease"
            query = lambda: [release.query(question) for _ in range(500)]
            read = lambda: [ch.open(folder + "/release") for _ in range(500)]
            if verb == "open":
                release.save(folder + "/release")
            work = {"save": save, "audit": audit, "query": query, "open": read}[verb]
        print("ready", flush=True)
        try:
            work()
        except KeyboardInterrupt:
            print("stopped", flush=True)
        # The caller waited long enough: nothing goes on behind its back.
        time.sleep(0.5)
        before = time.process_time()
        time.sleep(1)
        print(time.process_time() - before)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), verb, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.4)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
    seconds = time.monotonic() - began
    after, _ = process.communicate()
    # Half a second of patience is ours; a busy machine gets some, too.
    assert seconds < float(os.environ.get("CHRYSALIS_PATIENCE", "1.0")), seconds
    assert float(after) < 0.3, f"{after} CPU seconds of a second were used after the end"
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left in ([], ["release"]) and (verb in ("save", "open") or left == [])
    if left:
        ch.open(tmp_path / "release").audit().raise_if_failed()


def test_a_forked_process_has_threads_of_its_own() -> None:
    ch.publish(ch.example(1000), **GOOD)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_rows, [500, 600]) == [500, 600]


def _rows(rows: int) -> int:
    return int(ch.publish(ch.example(rows), **GOOD).summary.rows)
