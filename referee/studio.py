"""The studio in a real browser: its scenarios (`test`), its pictures (`pictures`) and how fast it is (`measure`).

Needs playwright and a Chromium, which is found on the PATH or through CHRYSALIS_CHROMIUM. With CHRYSALIS_AXE, the
page is also judged by axe-core.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

import studio_scenarios as scenes
from studio_visit import Studio, Visit, chromium


def test(browser, arguments):
    failed = 0
    tables = {"table": arguments.table, "large": arguments.large, "adult": arguments.adult}
    scenarios = [
        (scenes.first_release, "table"), (scenes.by_keyboard, "table"), (scenes.wrong_file, "table"),
        (scenes.infeasible, "table"), (scenes.disclosing, "table"), (scenes.given_away, "table"),
        (scenes.cancelled, "large"), (scenes.full_disk, "table"), (scenes.stopped, "table"),
        (scenes.second_release, "table"), (scenes.ten_tabs, "table"), (scenes.chosen_way, "table"),
        (scenes.grouped, "table"), (scenes.grouped_by_keyboard, "table"),
    ]
    jobs = [(scene.__name__, scene, which) for scene, which in scenarios]
    axe = os.environ.get("CHRYSALIS_AXE")
    jobs.append(("judged" if axe else "judged without axe-core", lambda *given: scenes.judged(*given, axe), "table"))
    if arguments.adult:
        jobs.append(("first_release of Adult", scenes.first_release, "adult"))
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
    for scheme in ["light", "dark"]:
        for width in [1280, 375]:
            with tempfile.TemporaryDirectory() as ground, Studio(arguments.program, ground, arguments.table) as studio:
                visit = Visit(browser, studio.address, width, scheme)
                scenes.whole_page(visit)
                visit.page.evaluate("document.querySelectorAll('details').forEach((it, at) => { it.open = false; })")
                visit.page.locator("#attacks details").first.evaluate("it => { it.open = true; }")
                for step in STEPS:
                    image = Image.open(io.BytesIO(visit.page.locator(f"#{step}").screenshot(animations="disabled")))
                    # Flat colours: a palette is a third of the size and looks the same.
                    image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(out / f"studio-{step}-{width}-{scheme}.png", optimize=True)
                visit.close()
    return 0


def memory(process):
    """The most memory that a process took, in megabytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def measure(browser, arguments):
    """How long an owner of a large table waits."""
    with tempfile.TemporaryDirectory() as ground:
        start = time.time()
        with Studio(arguments.program, ground, arguments.table) as studio:
            visit = Visit(browser, studio.address)
            page = visit.page
            page.locator("#unique").wait_for()
            usable = time.time() - start
            visit.priced()
            told = {"usable_s": round(usable, 2), "first_price_s": round(time.time() - start, 2)}
            # A role is ticked until the exposure is drawn again.
            times = []
            selects = page.locator("#roles select")
            for role in ["none", "quasi", "none", "quasi"]:
                begin = time.time()
                at = 0 if arguments.column is None else [select.get_attribute("aria-label") for select in selects.all()].index(f"What {arguments.column} is")
                selects.nth(at).select_option(role)
                visit.until("!document.querySelector('.exposure.stale')")
                times.append(time.time() - begin)
                visit.priced()
            told["role_to_exposure_s"] = round(max(times), 2)
            times = []
            for key in ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft"]:
                page.locator("#promise input[type=range]").first.focus()
                begin = time.time()
                page.keyboard.press(key)
                visit.until("document.querySelector('#price .stale')")
                visit.until("!document.querySelector('#price .stale')")
                times.append(time.time() - begin)
            told["slider_to_price_s"] = round(max(times), 2)
            told["memory_mb"] = memory(studio.process)
            begin = time.time()
            visits = [Visit(browser, studio.address) for _ in range(10)]
            for other in visits:
                other.page.locator("#unique").wait_for()
            told["ten_tabs_usable_s"] = round(time.time() - begin, 2)
            for other in visits:
                other.priced()
                other.close()
            told["ten_tabs_priced_s"] = round(time.time() - begin, 2)
            told["memory_with_ten_tabs_mb"] = memory(studio.process)
            begin = time.time()
            visit.click("#go")
            page.locator("text=Download the release").wait_for()
            told["published_s"] = round(time.time() - begin, 2)
            told["memory_after_publishing_mb"] = memory(studio.process)
            visit.close()
    print(json.dumps(told, indent=1))
    return 0


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
