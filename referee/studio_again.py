"""Pages that are loaded again, work that goes on meanwhile, disks that are full, and what every state of the page is like
for people who use no mouse or no screen. Used by `studio.py`."""

import json
import time
from pathlib import Path

from playwright.sync_api import expect

from studio_visit import Studio, Visit, check, open_by_key, tab_to


def published(visit):
    visit.click("#go")
    visit.page.locator("text=Download the release").wait_for()


def reloaded(browser, program, ground, table):
    """Loading the page again loses nothing: neither what was chosen, nor a comparison, nor a release."""
    with Studio(program, ground) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.choose(table)
        visit.priced()
        page.locator("#roles table select").nth(1).select_option("none")
        slider = page.locator("#promise input[type=range]").first
        slider.focus()
        page.keyboard.press("ArrowRight")
        page.select_option("#method", "anatomy")
        visit.priced()
        visit.click("#price button:has-text('Compare all ways')")
        page.locator("text=Keep the whole comparison").wait_for()
        published(visit)
        verdict = page.locator("#publish .kept .said").inner_text()

        def chosen():
            return page.evaluate("[...document.querySelectorAll('#roles table select, #promise select, #method')].map(it => it.value)")

        before = (visit.text("#promised"), chosen(), visit.text("#price .figures"))
        # More than the studio remembers of short work.
        for _ in range(2):
            page.reload()
            visit.priced()
            page.locator("text=Download the release").wait_for()
            now = (visit.text("#promised"), chosen(), visit.text("#price .figures"))
            check(now == before, f"{now} after {before}")
            page.locator("text=Keep the whole comparison").wait_for()
            check(page.locator("#publish .kept .said").inner_text() == verdict, "the verdict is there again")
            check(not page.locator(".aged .said").count(), "the release is the one of these choices")
            check("Attacks that were tried" in visit.text("#attacks"), visit.text("#attacks"))
        visit.click("#questions .row button >> nth=0")
        page.locator("#questions table td").first.wait_for()
        with page.expect_download():
            visit.click("text=Download the release")
        # Another tab knows nothing of it.
        other = Visit(browser, studio.address)
        other.page.locator("#file").wait_for()
        other.close()
        visit.close()


def reloaded_at_work(browser, program, ground, large):
    """A publication that is under way is still there after a reload, and can be cancelled."""
    with Studio(program, ground, large) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        page.fill("#folder", "reloaded")
        visit.click("#go")
        page.locator("#cancel").wait_for()
        # A slider that is moved takes nothing of it away.
        page.locator("#promise input[type=range]").first.focus()
        page.keyboard.press("ArrowRight")
        time.sleep(0.4)
        check(page.locator("#cancel").count() == 1, visit.text("#publish"))
        page.reload()
        page.locator("#cancel").wait_for()
        expect(page.locator("#go")).to_be_disabled()
        visit.click("#cancel")
        page.locator("#publish .said:has-text('cancelled')").wait_for()
        check(not (Path(ground) / "reloaded").exists(), "the folder is there")
        expect(page.locator("#go")).to_be_enabled()
        page.reload()
        visit.priced()
        check(page.locator("#cancel").count() == 0, "it is over")
        visit.close()


def other_table(browser, program, ground, large):
    """A release of the table of before is not shown as one of the table that is open."""
    small = Path(ground) / "few.csv"
    with open(large) as rows:
        small.write_text("".join(line for line, _ in zip(rows, range(2_001))))
    with Studio(program, ground, large) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        page.fill("#folder", "former")
        visit.click("#go")
        visit.click("text=Open another table")
        page.set_input_files("#file", small)
        page.locator("#data strong:has-text('few.csv')").wait_for()
        page.locator("#publish .said:has-text('which was open before, is ready')").wait_for()
        check((Path(ground) / "former/release.json").exists(), "the release is there")
        check(page.locator("#attacks").is_hidden() and page.locator("#questions").is_hidden(), "nothing is said about few.csv")
        check("Every promise holds" not in visit.text("#publish"), visit.text("#publish"))
        visit.priced()
        page.locator("#to-zip").check()
        visit.click("#go")
        page.locator("#publish .kept .title:has-text('Every promise holds')").wait_for()
        check("2,000 rows" in visit.text("#publish .kept"), visit.text("#publish .kept"))
        visit.close()


def files_in(folder):
    return [path for path in Path(folder).rglob("*") if path.is_file()]


def cancelled_download(browser, program, ground, large):
    """A release for a download that is cancelled leaves no file, and the next one works."""
    temporary = Path(ground) / "temporary"
    temporary.mkdir()
    with Studio(program, ground, large, temporary=temporary) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        visit.click("#go")
        visit.click("#cancel")
        page.locator("#publish .said").wait_for()
        check("cancelled. Nothing was written" in visit.text("#publish .said"), visit.text("#publish .said"))
        check(files_in(temporary) == [], files_in(temporary))
        published(visit)
        check(files_in(temporary) != [], "the release waits there")
        visit.close()
    check(list(temporary.iterdir()) == [], list(temporary.iterdir()))


def full_disk_for_a_download(browser, program, ground, table):
    """A disk without room for a download is said in words."""
    temporary = Path(ground) / "temporary"
    temporary.mkdir()
    with Studio(program, ground, table, limit=4096, temporary=temporary) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.click("#go")
        visit.page.locator("#publish .said.bad").wait_for()
        said = visit.text("#publish")
        check("Cannot write" in said and "Nothing was published" in said, said)
        check(files_in(temporary) == [], files_in(temporary))
        expect(visit.page.locator("#go")).to_be_enabled()
        visit.close()
    check(list(temporary.iterdir()) == [], list(temporary.iterdir()))


def at_their_sliders(browser, program, ground, table):
    """Whatever cannot be kept is explained where it is set: sizes of groups, distances of numbers, people of a second table."""
    rows = "".join(f"{20 + row % 30},{'fm'[row % 2]},{100 + row % 4}\n" for row in range(120))
    wages = Path(ground) / "wages.csv"
    wages.write_text("age,sex,wage\n" + rows)
    spec = Path(ground) / "spec.toml"
    spec.write_text("input = 'wages.csv'\nquasi = ['age', 'sex']\nsensitive = 'wage'\n[release]\nrequire = ['k=5', 'l=2']\n")
    with Studio(program, ground, spec) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        groups, wage = page.locator("#promise fieldset").nth(0), page.locator("#promise fieldset").nth(1)
        groups.locator("input[type=range]").focus()
        page.keyboard.press("End")
        groups.locator(".said.bad").wait_for()
        check(page.locator("#promise .said.bad").count() == 1, visit.text("#promise"))
        groups.locator("input[type=range]").focus()
        page.keyboard.press("Home")
        visit.priced()
        check(page.locator("#promise .said.bad").count() == 0, visit.text("#promise"))
        wage.locator("input[type=number]").fill("1000")
        page.keyboard.press("Tab")
        wage.locator(".said.bad").wait_for()
        check(page.locator("#promise .said.bad").count() == 1 and "near each other" in wage.inner_text(), visit.text("#promise"))
        wage.locator(".said.bad button", has_text="lie apart").click()
        visit.priced()
        check(page.locator("#promise .said.bad").count() == 0, visit.text("#promise"))
        page.locator("#people-step summary").click()
        page.set_input_files("#people", wages)
        page.locator("#people-step strong >> nth=0").wait_for()
        visit.priced()
        page.locator("#people-step input[type=range]").focus()
        page.keyboard.press("End")
        page.locator("#people-step .said.bad").wait_for()
        check(page.locator("#promise .said.bad").count() == 1, visit.text("#promise"))
        page.locator("#people-step input[type=range]").focus()
        page.keyboard.press("Home")
        visit.priced()
        visit.close()


def dropped_again(browser, program, ground, table):
    """A second release that is dropped twice at once, or after a wrong one, has one verdict: that of the last."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        for name in ["one", "two"]:
            page.fill("#folder", name)
            visit.click("#go")
            page.locator(f"#publish code:has-text('/{name}')").first.wait_for()
            page.locator("#promise input[type=range]").first.focus()
            page.keyboard.press("ArrowLeft")
            visit.priced()
        broken = page.locator("#attacks .said.bad", has_text="Together they break a promise")
        for _ in range(2):
            page.set_input_files("#second", Path(ground) / "one")
        broken.wait_for()
        time.sleep(1)
        check(page.locator("#attacks .said.bad").count() == 1, visit.text("#attacks"))
        folder = Path(ground) / "tables"
        folder.mkdir()
        (folder / "patients.csv").write_bytes(Path(table).read_bytes())
        said = page.locator("#attacks .said.bad", has_text="release.json")
        for _ in range(2):
            page.set_input_files("#second", folder)
            said.wait_for()
            check(page.locator("#attacks .said.bad").count() == 1, visit.text("#attacks"))
        page.set_input_files("#second", Path(ground) / "one")
        broken.wait_for()
        check(said.count() == 0, "the wrong one is forgotten")
        page.set_input_files("#second", Path(ground))
        page.locator("#attacks .said.bad", has_text="holds 2 releases").wait_for()
        visit.close()


# Keys from the start page to a release that is saved.
MOST_KEYS = 120


def first_keys(browser, program, ground, table):
    """From the start page to a downloaded release with keys alone, counted."""
    with Studio(program, ground) as studio:
        visit, start = Visit(browser, studio.address), time.time()
        page = visit.page
        page.locator("#file").wait_for()
        keys = tab_to(page, "#file") + 1
        open_by_key(page, table)
        visit.priced()
        keys += tab_to(page, "#go") + 1
        page.keyboard.press("Enter")
        page.locator("text=Download the release").wait_for()
        keys += tab_to(page, "#publish a.button") + 1
        with page.expect_download():
            page.keyboard.press("Enter")
        seconds = time.time() - start
        check(visit.clicks == 0 and keys <= MOST_KEYS and seconds <= 60, f"{keys} keys, {seconds:.1f} s")
        visit.close()
        return f"{keys} keys, {seconds:.1f} s"


def plain_attacks(browser, program, ground, table):
    """Attacks are called what they do, wherever they are shown."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        published(visit)
        names = [name.inner_text() for name in visit.page.locator("#attacks details > summary > strong, #attacks details li > strong").all()]
        names += [name.text_content() for name in visit.page.locator("#attacks details li > strong").all()]
        check(len(names) > 8 and all(" " in name and name[0].isupper() for name in names if name), names)
        said = visit.text("#price") + visit.text("#attacks")
        for word in ["row linking", "minimality", "bystander", "republishing"]:
            check(word not in said, word)
        visit.close()


def judged_everywhere(browser, program, ground, table, axe):
    """axe-core finds nothing in any state of the page: at its start, step by step, and when something is wrong."""
    source = Path(axe).read_text()
    states = []

    def judge(visit, state):
        visit.page.evaluate(source)
        found = visit.page.evaluate("axe.run(document).then(found => found.violations.map(it => [it.id, it.nodes.map(node => node.html + ' ' + node.failureSummary)]))")
        check(not found, f"{state}: {json.dumps(found, indent=1)}")
        wide = visit.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        check(wide <= 0, f"{state}: {wide} pixels wider than the screen")
        states.append(state)

    wrong = Path(ground) / "accounts.xlsx"
    wrong.write_bytes(b"PK\x03\x04" + bytes(200))
    (Path(ground) / "taken").mkdir()
    for width, scheme in [(1280, "light"), (375, "dark")]:
        with Studio(program, ground) as studio:
            visit = Visit(browser, studio.address, width, scheme)
            page = visit.page
            page.locator("#file").wait_for()
            judge(visit, "start")
            visit.choose(wrong)
            page.locator("#data .said.bad").wait_for()
            judge(visit, "a wrong file")
            visit.choose(table)
            visit.priced()
            judge(visit, "roles, promise and price")
            slider = page.locator("#promise fieldset").nth(1).locator("input[type=range]")
            slider.focus()
            page.keyboard.press("End")
            said = page.locator("#promise fieldset").nth(1).locator(".said.bad")
            said.wait_for()
            judge(visit, "an infeasible promise")
            said.locator("button").first.click()
            visit.priced()
            page.fill("#folder", "taken")
            visit.click("#go")
            page.locator("#publish .said.bad").wait_for()
            judge(visit, "a publication that failed")
            page.locator("#to-zip").check()
            published(visit)
            judge(visit, "published")
            for each in page.locator("#attacks details").all():
                each.evaluate("it => { it.open = true; }")
            judge(visit, "attacks")
            page.fill("#second-folder", "nowhere")
            page.locator("#second-folder").press("Enter")
            page.locator("#attacks .said.bad").wait_for()
            judge(visit, "a second release that is none")
            visit.click("#questions .row button >> nth=0")
            page.locator("#questions table td").first.wait_for()
            judge(visit, "questions")
            page.fill("#sql", "SELECT nothing FROM")
            visit.click("#ask")
            page.locator("#questions .said.bad").wait_for()
            judge(visit, "a question that is none")
            visit.click("text=Open another table")
            judge(visit, "another table")
            visit.close()
            studio.stop()
        with Studio(program, ground, table) as studio:
            visit = Visit(browser, studio.address, width, scheme)
            visit.priced()
            studio.stop()
            visit.click("#go")
            visit.page.locator("#publish .said.bad").wait_for()
            judge(visit, "no studio any more")
            visit.close(is_silent=False)
    return f"{len(states)} states"
