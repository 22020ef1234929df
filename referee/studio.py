"""The studio in a real browser: its scenarios (`test`), its pictures (`pictures`) and how fast it is (`measure`).

Needs playwright and a Chromium, which is found on the PATH or through CHRYSALIS_CHROMIUM. With CHRYSALIS_AXE, the
page is also judged by axe-core.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import studio_again as again
import studio_scenarios as scenes
import studio_speed as speed
import studio_truths as truths
from studio_visit import Studio, Visit, chromium


def test(browser, arguments):
    failed = 0
    tables = {"table": arguments.table, "large": arguments.large, "adult": arguments.adult}
    scenarios = [
        (scenes.first_release, "table"), (scenes.by_keyboard, "table"), (scenes.wrong_file, "table"),
        (scenes.infeasible, "table"), (scenes.disclosing, "table"), (scenes.given_away, "table"),
        (scenes.cancelled, "large"), (scenes.full_disk, "table"), (scenes.stopped, "table"), (scenes.stopped_at_work, "large"),
        (scenes.second_release, "table"), (scenes.ten_tabs, "table"), (scenes.chosen_way, "table"),
        (scenes.grouped, "table"), (scenes.grouped_by_keyboard, "table"), (scenes.prepared, "table"), (scenes.repeated, "table"), (speed.large_table, "large"),
        (truths.failed_together, "table"), (truths.several_rows, "table"), (truths.checked_remedy, "table"), (truths.exact_forms, "table"),
        (truths.sampled, "large"), (truths.no_secret, "table"), (truths.aged, "table"), (truths.kept, "table"),
        (again.reloaded, "table"), (again.reloaded_at_work, "large"), (again.other_table, "large"), (again.cancelled_download, "large"),
        (again.full_disk_for_a_download, "table"), (again.at_their_sliders, "table"), (again.first_keys, "table"), (again.dropped_again, "table"), (again.plain_attacks, "table"),
    ]
    jobs = [(scene.__name__, scene, which) for scene, which in scenarios]
    axe = os.environ.get("CHRYSALIS_AXE")
    jobs.append(("judged" if axe else "judged without axe-core", lambda *given: scenes.judged(*given, axe), "table"))
    if axe:
        jobs.append(("judged_everywhere", lambda *given: again.judged_everywhere(*given, axe), "table"))
    if arguments.adult:
        jobs.append(("first_release of Adult", scenes.first_release, "adult"))
        jobs.append(("first_keys of Adult", again.first_keys, "adult"))
    for name, scene, which in jobs:
        if arguments.only and not name.startswith(arguments.only):
            continue
        start = time.time()
        with tempfile.TemporaryDirectory() as ground:
            try:
                told = scene(browser, arguments.program, ground, tables[which])
                print(f"ok {name} ({time.time() - start:.1f} s){': ' + told if told else ''}", flush=True)
            except Exception as error:  # every scenario is tried
                failed += 1
                print(f"FAILED {name}: {type(error).__name__}: {str(error)[:3000]}", flush=True)
    return failed


STEPS = ["data", "roles", "promise", "price", "publish", "attacks", "questions"]


def pictures(browser, arguments):
    """Every step, light and dark, wide and narrow: screenshots of the running program."""
    from PIL import Image

    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    # The page says where it would write: no name of this machine is to be in a picture.
    ground = Path("/tmp/hospital")
    shutil.rmtree(ground, ignore_errors=True)
    ground.mkdir()
    (ground / "patients.csv").write_bytes(Path(arguments.table).read_bytes())
    for scheme in ["light", "dark"]:
        for width in [1280, 375]:
            with Studio(arguments.program, ground, "patients.csv") as studio:
                visit = Visit(browser, studio.address, width, scheme)
                scenes.whole_page(visit)
                visit.page.evaluate("document.querySelectorAll('details').forEach((it, at) => { it.open = false; })")
                for opened in ["#attacks details", "#groups details[data-column='occupation']"]:
                    visit.page.locator(opened).first.evaluate("it => { it.open = true; }")
                # No button looks as if the mouse were on it.
                visit.page.mouse.move(0, 0)
                for step in STEPS:
                    image = Image.open(io.BytesIO(visit.page.locator(f"#{step}").screenshot(animations="disabled")))
                    # Flat colours: a palette is a third of the size and looks the same.
                    image.convert("RGB").quantize(128, dither=Image.Dither.NONE).save(out / f"studio-{step}-{width}-{scheme}.png", optimize=True)
                visit.close()
    shutil.rmtree(ground)
    return 0


def measure(browser, arguments):
    """How long an owner of a large table waits."""
    with tempfile.TemporaryDirectory() as ground:
        told = speed.measured(browser, arguments.program, ground, arguments.table, arguments.column)
    print(json.dumps(told, indent=1))
    return len(speed.exceeded(told))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["test", "pictures", "measure"])
    parser.add_argument("program")
    parser.add_argument("table")
    parser.add_argument("--large")
    parser.add_argument("--adult")
    parser.add_argument("--only")
    parser.add_argument("--out")
    parser.add_argument("--column")
    arguments = parser.parse_args()
    with sync_playwright() as playwright, contextlib.closing(
        playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"])
    ) as browser:
        sys.exit(1 if {"test": test, "pictures": pictures, "measure": measure}[arguments.what](browser, arguments) else 0)


if __name__ == "__main__":
    main()
