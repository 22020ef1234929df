"""The studio as a program, and a visit to it in a browser: used by `studio.py`."""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from playwright.sync_api import TimeoutError

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

    def __init__(self, program, home, *arguments, limit=None, temporary=None):
        def limited():
            # Files stop growing here, as on a full disk.
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        command = [os.path.abspath(program), "--no-open", *map(str, arguments)]
        self.process = subprocess.Popen(
            command, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=dict(os.environ, TMPDIR=str(temporary)) if temporary else None,
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
        # Somebody listens from the start: whoever begins to just before a key is pressed may come too late.
        self.page.on("filechooser", lambda chooser: None)
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


def open_by_key(page, path):
    """Enter opens the dialogue of the field that has the focus. On a busy machine Chromium drops one now and then."""
    for _ in range(3):
        try:
            with page.expect_file_chooser(timeout=PATIENCE / 4) as chooser:
                page.keyboard.press("Enter")
            return chooser.value.set_files(path)
        except TimeoutError:
            continue
    raise AssertionError("Enter does not open the dialogue")


def tab_to(page, selector, most=250):
    """Presses Tab until an element has the focus."""
    for pressed in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return pressed
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")
