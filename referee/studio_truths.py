"""What the studio must not say: sentences that were once untrue, and what stands in their place. Used by `studio.py`."""

import csv
import io
import json
from pathlib import Path

from studio_visit import Studio, Visit, check

# Everybody has several rows, and one disease is as frequent as every promise of l=2 allows.
VISITS = 600


def visits(ground, name="visits.csv", rows=VISITS, heavy=False):
    """A table in which people have three rows each. With `heavy`, nearly all of them have the same diagnosis."""
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(["patient_id", "age", "sex", "zip_code", "diagnosis"])
    diagnoses = ["flu", "cold", "ulcer", "asthma", "measles", "gout"]
    for row in range(rows):
        person = row // 3
        told = "flu" if heavy and row % 9 else diagnoses[row % 6]
        lines.writerow([f"P{person * 7919 % 99991:05}", 20 + person % 50, "fm"[person % 2], f"0{1000 + person % 9 * 10}", told])
    path = Path(ground) / name
    path.write_text(text.getvalue())
    return path


def failed_together(browser, program, ground, table):
    """When the audit of two releases fails, or finds nothing, the page says no «nothing more»."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        page.fill("#folder", "one")
        visit.click("#go")
        page.locator("text=were written to").wait_for()

        def meet(result):
            """The page's words for what the server would have found."""

            def found(route):
                told = route.fetch().json()
                if told.get("state") == "done" and "narrowed" in (told.get("result") or {}):
                    told["result"].update(result)
                route.fulfill(json=told)

            page.route("**/api/jobs/*", found)
            page.fill("#second-folder", "one")
            page.locator("#second-folder").press("Enter")
            page.locator("#attacks .said .title").wait_for()
            said = page.locator("#attacks .said").last
            told = (said.get_attribute("class"), said.inner_text())
            page.unroute("**/api/jobs/*")
            return told

        kind, said = meet({"narrowed": 0, "failed": [{"name": "people", "detail": "12 rows fit no group"}], "findings": []})
        check("bad" in kind and "FAILED" in said and "12 rows fit no group" in said, (kind, said))
        page.locator("#attacks .said .title").last.evaluate("it => it.remove()")
        kind, said = meet({"narrowed": 0, "failed": [], "findings": []})
        check("good" not in kind and "bad" not in kind and "no promise is broken together" in said, (kind, said))
        # A promise that is broken is no failure of the audit, and rows that differ are no broken promise.
        for result, words in [
            ({"narrowed": 0, "surer": True, "failed": [{"name": "intersection", "detail": "surer than 1 in 4"}], "findings": []}, "break a promise"),
            ({"narrowed": 0, "surer": False, "contradicted": 3, "failed": [{"name": "intersection", "detail": "3 people fit no group"}], "findings": []}, "not made from the same rows"),
            ({"narrowed": 0, "surer": False, "contradicted": 0, "in_common": False, "failed": [], "findings": []}, "nobody in common"),
        ]:
            page.locator("#attacks .said .title").last.evaluate("it => it.remove()")
            _, said = meet(result)
            check(words in said and "FAILED" not in said, said)
        check("nothing more" not in visit.text("#attacks"), visit.text("#attacks"))
        visit.close()


def several_rows(browser, program, ground, table):
    """People with several rows are offered their protection before anything is published, and rows are called rows."""
    with Studio(program, ground, visits(ground)) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        warned = "belong to people with several rows"
        check(warned in visit.text("#roles") and warned in visit.text("#publish"), visit.text("#publish"))
        check("600 rows" in visit.text("#unique") and "people" not in visit.text("#unique"), visit.text("#unique"))
        check("people stand alone" not in page.locator(".exposure").inner_html(), "the picture counts rows")
        check("every row stands among" in visit.text("#promised").lower(), visit.text("#promised"))
        page.locator("#publish .protect").click()
        # Half of the people have each diagnosis: what can be kept for people is less.
        refused = page.locator("#promise .said.bad")
        refused.wait_for()
        check("cannot keep that" in refused.inner_text() and "l=4" not in refused.inner_text(), refused.inner_text())
        refused.locator("button").click()
        check(page.evaluate("document.activeElement.id") == "promised", "the focus is at the promise")
        visit.priced()
        check(warned not in visit.text("#roles") + visit.text("#publish"), "the notice is gone")
        check(page.locator("#roles select[aria-label='What patient_id is']").input_value() == "person", "the role is set")
        check("every person stands among" in visit.text("#promised").lower(), visit.text("#promised"))
        check("rows" in visit.text("#unique"), visit.text("#unique"))
        # What nobody could check is not offered.
        offered = page.locator("#promise select").first.locator("option").evaluate_all("all => all.map(it => it.value)")
        check("l" in offered and "beta" not in offered and "t" not in offered, offered)
        page.fill("#folder", "people")
        visit.click("#go")
        page.locator("text=were written to").wait_for()
        check("Every promise holds" in visit.text("#publish") and "Nobody can tell" not in visit.text("#publish"), visit.text("#publish"))
        visit.close()


def checked_remedy(browser, program, ground, table):
    """With persons, a promise that cannot be kept is not traded for one that nobody can check."""
    with Studio(program, ground, visits(ground, heavy=True)) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        page.locator("#roles .protect").click()
        page.locator("#promise select").first.select_option("l")
        slider = page.locator("#promise fieldset").nth(1).locator("input[type=range]")
        slider.focus()
        page.keyboard.press("End")
        said = page.locator("#promise fieldset").nth(1).locator(".said.bad")
        said.wait_for()
        check("twice as likely" not in said.inner_text() and ":l=" not in said.inner_text(), said.inner_text())
        said.locator("button").first.click()
        visit.until("document.activeElement.id === 'promised'")
        visit.priced()
        visit.close()


def exact_forms(browser, program, ground, table):
    """Where known columns are published as they are, nobody is told to stand in a crowd; the row that is found has a figure."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        check("People who look alike" in visit.text("#promise"), visit.text("#promise"))
        page.select_option("#method", "anatomy")
        visit.priced()
        said = visit.text("#promise")
        check("look alike" not in said and "stands among" not in said and "can still be found" in said, said)
        figure = page.locator("#price .figures > div", has_text="row is found")
        check("100 %" in figure.inner_text() and "as they are" in figure.inner_text(), figure.inner_text())
        visit.click("#price button:has-text('Compare all ways')")
        page.locator("text=Keep the whole comparison").wait_for()
        ways = page.locator("#price table", has_text="best guess")
        heads = ways.locator("thead th").all_inner_texts()
        at = next(at for at, head in enumerate(heads) if "row is found" in head)
        row = ways.locator("tr", has_text="anatomy by nearby")
        check(row.locator("th, td").nth(at).inner_text() == "100 %", row.inner_text())
        # The same way has the same error in both.
        lost = next(at for at, head in enumerate(heads) if "typical error" in head)
        error = page.locator("#price .figures > div", has_text="Typical error").locator("dd.value").inner_text()
        check(row.locator("th, td").nth(lost).inner_text() == error, (row.inner_text(), error))
        visit.close()


def sampled(browser, program, ground, large):
    """What a trial of some rows gives away is a share, and nobody calls it too high."""
    spec = Path(ground) / "spec.toml"
    spec.write_text(f"input = {json.dumps(str(large))}\nquasi = ['age', 'sex', 'zip_code']\nsensitive = 'disease'\n[release]\nrequire = ['k=2']\n")
    with Studio(program, ground, spec) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        said = visit.text("#price")
        check("usually too high" not in said and "an estimate" in said, said)
        figure = visit.page.locator("#price .figures > div", has_text="Secrets given away").inner_text()
        check(("%" in figure and "of 20,000" in figure) or "in this trial" in figure, figure)
        visit.close()


def no_secret(browser, program, ground, table):
    """Without a secret column nothing is said about secrets; without a known one nothing is published."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()

        def roles(was, now):
            for select in page.locator("#roles table select").all():
                if select.input_value() == was:
                    select.select_option(now)

        roles("sensitive", "none")
        visit.priced()
        figure = page.locator("#price .figures > div", has_text="Secrets given away")
        check("no column is secret" in figure.inner_text() and "leaves a single value" not in figure.inner_text(), figure.inner_text())
        check(figure.get_attribute("class") != "good", "nothing is good about it")
        roles("quasi", "none")
        page.locator("#promise .said.bad").wait_for()
        visit.click("#go")
        said = visit.text("#publish .said.bad")
        check("no column is marked as known to others" in said.lower(), said)
        visit.close()


def aged(browser, program, ground, table):
    """What is said about a release is marked once the choices are others; a publication that fails leaves it there."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        visit.click("#go")
        page.locator("text=Download the release").wait_for()
        check(page.evaluate("document.activeElement.closest('#publish .kept') !== null"), "the focus is at the verdict")
        check(not page.locator(".aged .said").count(), "nothing changed")
        sql = page.input_value("#sql")
        check("date" not in sql, sql)
        slider = page.locator("#promise input[type=range]").first
        slider.focus()
        page.keyboard.press("ArrowRight")
        visit.priced()
        for step in ["publish", "attacks", "questions"]:
            said = page.locator(f"#{step} .aged").inner_text()
            check("About the release published at" in said and "before your last change" in said, f"{step}: {said}")
        (Path(ground) / "taken").mkdir()
        page.fill("#folder", "taken")
        visit.click("#go")
        page.locator("#publish .said.bad").wait_for()
        said = visit.text("#publish .said.bad")
        check("choose another name" in said and "with another name" not in said, said)
        check(page.locator("text=Download the release").count() == 1, "the first release can still be downloaded")
        slider.focus()
        page.keyboard.press("ArrowLeft")
        visit.priced()
        check(not page.locator(".aged .said").count(), "the choices are those of the release again")
        visit.close()


def kept(browser, program, ground, table):
    """A PDF is called one, and the table of before is kept."""
    pdf = Path(ground) / "table.pdf"
    pdf.write_bytes(b"%PDF-1.7\n" + bytes(200))
    with Studio(program, ground) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.choose(table)
        visit.priced()
        check(page.evaluate("document.activeElement.id") == "roles-title", "the focus goes on")
        name, before = Path(table).name, visit.text("#data strong")
        visit.click("text=Open another table")
        visit.choose(pdf)
        page.locator("#data .said.bad").wait_for()
        check("table.pdf is a PDF" in visit.text("#data"), visit.text("#data"))
        check(f"{name} is still open" in visit.text("#data"), visit.text("#data"))
        visit.click("#keep")
        check(visit.text("#data strong") == before, visit.text("#data"))
        visit.close()
