"""How long an owner of a large table waits, and how much memory the studio takes: used by `studio.py`."""

import time
from pathlib import Path
from statistics import median

from studio_visit import PATIENCE, Studio, Visit, check

# What 500,000 rows may take.
LIMITS = {"usable_s": 5, "role_to_exposure_s": 0.5, "slider_to_price_s": 2, "memory_after_publishing_mb": 1024}


# A build for tests, on a machine that does other things, is slower.
SLOWER = 3


def exceeded(told, slower=1):
    """What took more than it may."""
    return {name: told[name] for name, most in LIMITS.items() if told[name] > most * (slower if name.endswith("_s") else 1)}


def large_table(browser, program, ground, table):
    """500,000 rows are usable at once, a role and a slider are answered soon, and ten tabs are open."""
    told = measured(browser, program, ground, table, "sex")
    found = exceeded(told, SLOWER)
    check(not found, f"{found}: {told}")
    return str(told)


def memory(process):
    """The most memory that a process took, in megabytes."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) // 1024
    return 0


def measured(browser, program, ground, table, column=None):
    """Seconds, and megabytes."""
    start = time.time()
    with Studio(program, ground, table) as studio:
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
            at = 0 if column is None else [select.get_attribute("aria-label") for select in selects.all()].index(f"What {column} is")
            selects.nth(at).select_option(role)
            visit.until("!document.querySelector('.exposure.stale')")
            times.append(time.time() - begin)
            visit.priced()
        told |= {"role_to_exposure_s": round(median(times), 2), "role_to_exposure_worst_s": round(max(times), 2)}
        times = []
        for key in ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft"]:
            page.locator("#promise input[type=range]").first.focus()
            begin = time.time()
            page.keyboard.press(key)
            visit.until("document.querySelector('#price .stale')")
            visit.until("!document.querySelector('#price .stale')")
            times.append(time.time() - begin)
        told |= {"slider_to_price_s": round(median(times), 2), "slider_to_price_worst_s": round(max(times), 2)}
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
        page.locator("text=Download the release").wait_for(timeout=5 * PATIENCE)
        told["published_s"] = round(time.time() - begin, 2)
        told["memory_after_publishing_mb"] = memory(studio.process)
        visit.close()
    return told
