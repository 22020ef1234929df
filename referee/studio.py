"""The studio in a real browser: its scenarios (`test`), its pictures (`pictures`) and how fast it is (`measure`).

Needs playwright and a Chromium, which is found on the PATH or through CHRYSALIS_CHROMIUM. With CHRYSALIS_AXE, the
page is also judged by axe-core.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

NAMES = ["chromium", "chromium-browser", "chrome-headless-shell", "google-chrome", "google-chrome-stable"]
PATIENCE = 60_000


def chromium():
    """The browser of this machine."""
    found = os.environ.get("CHRYSALIS_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        sys.exit("no Chromium")
    return found


class Studio:
    """The program, and the address it printed."""

    def __init__(self, program, home, *arguments, limit=None):
        def limited():
            # Files stop growing here, as on a full disk.
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        command = [os.path.abspath(program), "--no-open", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            preexec_fn=limited if limit else None, restore_signals=limit is None,
        )
        line = self.process.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        self.address = line.split()[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(10)


class Visit:
    """A page, everything it said, and everything it asked for."""

    def __init__(self, browser, address, width=1280, scheme="light"):
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        self.page = self.context.new_page()
        self.said, self.asked, self.clicks = [], [], 0
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.set_default_timeout(PATIENCE)
        self.address = address
        self.page.goto(address)

    def click(self, selector):
        self.clicks += 1
        self.page.locator(selector).click()

    def choose(self, path):
        """One click opens the dialogue, and the file is chosen there."""
        self.clicks += 1
        self.page.set_input_files("#file", path)

    def until(self, condition):
        """Waits in small steps: the policy of the page forbids playwright's own way."""
        start = time.time()
        while not self.page.evaluate(condition):
            if time.time() - start > PATIENCE / 1000:
                raise AssertionError(f"never: {condition}")
            time.sleep(0.01)

    def priced(self):
        """Waits until a price is shown and nothing is about to change."""
        self.page.locator("#price .figures").wait_for()
        # A slider rests for a moment before anything is asked.
        time.sleep(0.3)
        self.until("!document.querySelector('.stale')")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def close(self, is_silent=True):
        outside = [url for url in self.asked if not url.startswith((self.address, "blob:" + self.address.split("/", 3)[0]))]
        assert not outside, outside
        assert not (is_silent and self.said), self.said
        self.context.close()


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def first_release(browser, program, ground, table):
    """From the start page to a release in at most five clicks and sixty seconds."""
    with Studio(program, ground) as studio:
        visit, start = Visit(browser, studio.address), time.time()
        visit.choose(table)
        visit.priced()
        visit.click("#go")
        visit.page.locator("text=Download the release").wait_for()
        with visit.page.expect_download() as download:
            visit.click("text=Download the release")
        seconds = time.time() - start
        archive = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
        check(archive.testzip() is None and "release/release.json" in archive.namelist(), archive.namelist())
        check({"chrysalis.toml", "certificate.html"} <= set(archive.namelist()), archive.namelist())
        check(visit.clicks <= 5 and seconds <= 60, f"{visit.clicks} clicks, {seconds:.1f} s")
        check("Every promise holds" in visit.text("#publish"), visit.text("#publish"))
        visit.close()
        return f"{visit.clicks} clicks, {seconds:.1f} s"


def tab_to(page, selector, most=250):
    """Presses Tab until an element has the focus."""
    for pressed in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return pressed
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


def by_keyboard(browser, program, ground, table):
    """The same without a mouse: roles, promise, publication, and a question with completion."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        tab_to(page, "a.skip")
        page.keyboard.press("Enter")
        before = visit.text("#unique")
        tab_to(page, "#roles select")
        was = page.evaluate("document.activeElement.value")
        page.keyboard.press("ArrowDown")
        check(page.evaluate("document.activeElement.value") != was, "an arrow changes the role")
        visit.until("!document.querySelector('.exposure.stale')")
        check(visit.text("#unique") != "" and before != "", "the exposure is drawn")
        page.keyboard.press("ArrowUp")
        tab_to(page, "#promise input[type=range]")
        sentence = visit.text("#promised")
        page.keyboard.press("ArrowRight")
        check(visit.text("#promised") != sentence, "a slider changes the sentence")
        page.keyboard.press("ArrowLeft")
        visit.priced()
        tab_to(page, "#go")
        page.keyboard.press("Enter")
        page.locator("text=Download the release").wait_for()
        tab_to(page, "#publish a.button")
        with page.expect_download():
            page.keyboard.press("Enter")
        tab_to(page, "#sql")
        page.keyboard.press("Control+a")
        page.keyboard.type("SEL")
        page.locator(".choices li").first.wait_for()
        page.keyboard.press("Enter")
        check(page.input_value("#sql").startswith("SELECT "), page.input_value("#sql"))
        page.keyboard.type("COUNT(*) FROM microdata")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+Enter")
        page.locator("#questions table td").first.wait_for()
        visit.close()


def wrong_file(browser, program, ground, table):
    """A file that is no table is explained, and the next one works."""
    wrong = Path(ground) / "accounts.xlsx"
    wrong.write_bytes(b"PK\x03\x04" + bytes(200))
    with Studio(program, ground) as studio:
        visit = Visit(browser, studio.address)
        visit.choose(wrong)
        said = visit.text("#data .said.bad")
        check("Excel" in said and "CSV" in said, said)
        visit.choose(table)
        visit.priced()
        visit.close()


def infeasible(browser, program, ground, table):
    """A promise that the table cannot keep is explained where it is set, with a way out."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        slider = visit.page.locator("#promise fieldset").nth(1).locator("input[type=range]")
        slider.focus()
        visit.page.keyboard.press("End")
        said = visit.page.locator("#promise fieldset").nth(1).locator(".said.bad")
        said.wait_for()
        check("cannot keep that" in said.inner_text(), said.inner_text())
        said.locator("button").click()
        said.wait_for(state="detached")
        visit.priced()
        visit.close()


def disclosing(browser, program, ground, table):
    """A promise that gives people away stops the publication, and the advice works."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.locator("#promise select").first.select_option("nothing")
        for box in visit.page.locator("#promise input[type=checkbox]:checked").all():
            box.uncheck()
        slider = visit.page.locator("#promise input[type=range]").first
        slider.focus()
        visit.page.keyboard.press("Home")
        visit.until("document.querySelector('#price .figures .bad') !== null && !document.querySelector('.stale')")
        visit.click("#go")
        visit.page.locator("#publish .said.bad").wait_for()
        said = visit.text("#publish .said.bad")
        check("would be disclosed" in said, said)
        visit.page.locator("#publish .said.bad button").first.click()
        visit.priced()
        visit.click("#go")
        visit.page.locator("text=Download the release").wait_for()
        visit.close()


def cancelled(browser, program, ground, large):
    """A publication that is cancelled writes nothing, and can be started again."""
    with Studio(program, ground, large) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.fill("#folder", "cancelled")
        visit.click("#go")
        visit.click("#cancel")
        visit.page.locator("#publish .said").wait_for()
        check("cancelled. Nothing was written" in visit.text("#publish .said"), visit.text("#publish .said"))
        check(not (Path(ground) / "cancelled").exists(), "the folder is there")
        expect(visit.page.locator("#go")).to_be_enabled()
        visit.close()


def full_disk(browser, program, ground, table):
    """A disk without room is said in words, and a smaller wish can still be fulfilled."""
    with Studio(program, ground, table, limit=4096) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.fill("#folder", "full")
        visit.click("#go")
        visit.page.locator("#publish .said.bad").wait_for()
        said = visit.text("#publish")
        check("Cannot write" in said and "Nothing was published" in said, said)
        check(not (Path(ground) / "full").exists(), "the folder is there")
        leftovers = [path.name for path in Path(ground).iterdir() if path.name.startswith(".")]
        check(not leftovers, leftovers)
        expect(visit.page.locator("#go")).to_be_enabled()
        visit.close()


def stopped(browser, program, ground, table):
    """The page says that the studio has ended, and keeps what was chosen."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        studio.stop()
        visit.click("#go")
        visit.page.locator("#publish .said.bad").wait_for()
        check("does not answer any more" in visit.text("#publish .said.bad"), visit.text("#publish .said.bad"))
        check(visit.page.locator("#promised").inner_text() != "", "the promise is still there")
        # The browser itself complains that nobody answers.
        visit.close(is_silent=False)


def judged(browser, program, ground, table, axe):
    """No violation of axe-core's rules and nothing wider than the screen, in light and dark, wide and narrow."""
    source = Path(axe).read_text() if axe else None
    for scheme in ["light", "dark"]:
        for width in [1280, 375]:
            with Studio(program, ground, table) as studio:
                visit = Visit(browser, studio.address, width, scheme)
                whole_page(visit, is_compared=(scheme, width) == ("light", 1280))
                check(visit.page.evaluate("document.documentElement.scrollWidth") <= width, f"wider than {width}")
                if source:
                    visit.page.evaluate(source)
                    found = visit.page.evaluate("axe.run(document).then(found => found.violations.map(it => [it.id, it.nodes.map(node => node.html + ' ' + node.failureSummary)]))")
                    check(not found, f"{scheme} {width}: {json.dumps(found, indent=1)}")
                visit.close()


def whole_page(visit, is_compared=True):
    """Every step of the page is open, with an answer and a comparison."""
    visit.priced()
    if is_compared:
        visit.click("#price button:has-text('Compare all ways')")
        visit.page.locator("text=Keep the whole comparison").wait_for(timeout=5 * PATIENCE)
    visit.click("#go")
    visit.page.locator("text=Download the release").wait_for()
    visit.click("#questions .row button >> nth=0")
    visit.page.locator("#questions table td").first.wait_for()
    visit.page.evaluate("document.querySelectorAll('details').forEach(it => { it.open = true; })")


def ten_tabs(browser, program, ground, table):
    """Ten pages at once do not disturb one another."""
    with Studio(program, ground, table) as studio:
        visits = [Visit(browser, studio.address) for _ in range(10)]
        for visit in visits:
            visit.priced()
        for at, visit in enumerate(visits):
            visit.page.locator("#promise input[type=range]").first.focus()
            visit.page.keyboard.press("Home")
            for _ in range(at):
                visit.page.keyboard.press("ArrowRight")
        sentences = {visit.text("#promised") for visit in visits}
        check(len(sentences) == 10, sentences)
        for visit in visits:
            visit.priced()
            visit.close()


def second_release(browser, program, ground, table):
    """A folder with another release of the same people is met."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.fill("#folder", "one")
        visit.click("#go")
        visit.page.locator("text=were written to").wait_for()
        visit.page.locator("#promise input[type=range]").first.focus()
        visit.page.keyboard.press("ArrowLeft")
        visit.priced()
        visit.page.fill("#folder", "two")
        visit.click("#go")
        visit.page.locator("#publish code:has-text('/two')").first.wait_for()
        visit.page.set_input_files("#second", Path(ground) / "one")
        visit.page.locator("text=Together they tell more").wait_for()
        visit.page.fill("#second-folder", "one")
        visit.click("#attacks button:has-text('Intersect')")
        visit.page.locator("text=Together they tell more").wait_for()
        visit.close()


def test(browser, arguments):
    failed = 0
    tables = {"table": arguments.table, "large": arguments.large}
    scenarios = [
        (first_release, "table"), (by_keyboard, "table"), (wrong_file, "table"), (infeasible, "table"),
        (disclosing, "table"), (cancelled, "large"), (full_disk, "table"), (stopped, "table"),
        (second_release, "table"), (ten_tabs, "table"),
    ]
    jobs = [(scenario.__name__, lambda ground, scenario=scenario, which=which: scenario(browser, arguments.program, ground, tables[which])) for scenario, which in scenarios]
    axe = os.environ.get("CHRYSALIS_AXE")
    jobs.append(("judged" if axe else "judged without axe-core", lambda ground: judged(browser, arguments.program, ground, arguments.table, axe)))
    if arguments.adult:
        jobs.append(("first_release of Adult", lambda ground: first_release(browser, arguments.program, ground, arguments.adult)))
    for name, job in jobs:
        if arguments.only and not name.startswith(arguments.only):
            continue
        start = time.time()
        with tempfile.TemporaryDirectory() as ground:
            try:
                told = job(ground)
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
                whole_page(visit)
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
