"""Long work: it lets other threads run, shows how far it is, stops on Ctrl-C, and leaves nothing behind."""

from __future__ import annotations

import multiprocessing
import os
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


@pytest.mark.parametrize("verb", ["publish", "save", "audit"])
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
            work = save if verb == "save" else audit
        print("ready", flush=True)
        try:
            work()
        except KeyboardInterrupt:
            print("stopped", flush=True)
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
    process.wait()
    # Half a second of patience is ours; a busy machine gets some, too.
    assert seconds < float(os.environ.get("CHRYSALIS_PATIENCE", "1.0")), seconds
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left in ([], ["release"]) and (verb == "save" or left == [])
    if left:
        ch.open(tmp_path / "release").audit().raise_if_failed()


def test_a_forked_process_has_threads_of_its_own() -> None:
    ch.publish(ch.example(1000), **GOOD)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_rows, [500, 600]) == [500, 600]


def _rows(rows: int) -> int:
    return int(ch.publish(ch.example(rows), **GOOD).summary.rows)
