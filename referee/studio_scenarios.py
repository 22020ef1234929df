"""What people do in the studio, and what must come of it: used by `studio.py`."""

import io
import json
import subprocess
import time
import tomllib
import zipfile
from pathlib import Path

import polars
from playwright.sync_api import expect

from studio_visit import PATIENCE, Studio, Visit, check, open_by_key, tab_to


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
        check("certificate.html" in archive.namelist(), archive.namelist())
        # The recipe is the owner's, and no part of what is handed out.
        check("chrysalis.toml" not in archive.namelist(), archive.namelist())
        check(visit.clicks <= 5 and seconds <= 60, f"{visit.clicks} clicks, {seconds:.1f} s")
        check("Every promise holds" in visit.text("#publish"), visit.text("#publish"))
        visit.close()
        return f"{visit.clicks} clicks, {seconds:.1f} s"


def by_keyboard(browser, program, ground, table):
    """The same without a mouse: roles, promise, publication, and a question with completion."""
    with Studio(program, ground) as studio:
        visit, start = Visit(browser, studio.address), time.time()
        page = visit.page
        page.locator("#file").wait_for()
        tab_to(page, "a.skip")
        page.keyboard.press("Enter")
        tab_to(page, "#file")
        open_by_key(page, table)
        visit.priced()
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
        seconds = time.time() - start
        check(seconds <= 60 and visit.clicks == 0, f"{visit.clicks} clicks, {seconds:.1f} s")
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
        check("cannot keep it" in visit.text("#promised"), visit.text("#promised"))
        said.locator("button").click()
        said.wait_for(state="detached")
        visit.priced()
        check("cannot keep it" not in visit.text("#promised"), visit.text("#promised"))
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


def stopped_at_work(browser, program, ground, large):
    """The same in the middle of a publication, of which nothing is left."""
    with Studio(program, ground, large) as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.fill("#folder", "stopped")
        visit.click("#go")
        visit.page.locator("#publish progress").wait_for()
        studio.stop()
        visit.page.locator("#publish .said.bad").wait_for()
        check("does not answer any more" in visit.text("#publish .said.bad"), visit.text("#publish .said.bad"))
        check(not [path for path in Path(ground).iterdir() if "stopped" in path.name], list(Path(ground).iterdir()))
        expect(visit.page.locator("#go")).to_be_enabled()
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
    groups = visit.page.locator("#groups details[data-column='occupation']")
    groups.locator("summary").first.click()
    groups.locator("button", has_text="Propose groups").click()
    groups.locator("[role=tree]").wait_for()
    visit.page.locator("#prepare summary").click()
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
        visit.page.locator("#attacks .said.bad:has-text('Together they break a promise')").wait_for()
        visit.page.fill("#second-folder", "one")
        visit.click("#attacks button:has-text('Put together')")
        visit.page.locator("#attacks .said.bad:has-text('Together they break a promise')").wait_for()
        # One that the command line made, in other files; and a folder that is no release.
        command = Path(program).with_name("chrysalis")
        if command.exists():
            asked = ["publish", str(table), "--quasi", "age,sex,zip_code,occupation,admission_date", "--sensitive", "disease"]
            asked += ["--method", "anatomy", "--require", "l=3", "--format", "csv", "--out", "by-command"]
            subprocess.run([command.resolve(), *asked], cwd=ground, check=True, capture_output=True)
            visit.page.set_input_files("#second", Path(ground) / "by-command")
            visit.page.locator("#attacks .said.bad").wait_for()
            said = visit.text("#attacks .said.bad")
            check("Together they break a promise" in said and "2,000" in said.replace("5,000", "2,000"), said)
        (Path(ground) / "other").mkdir()
        (Path(ground) / "other/notes.txt").write_text("nothing")
        visit.page.set_input_files("#second", Path(ground) / "other")
        visit.page.locator("#attacks .said.bad:has-text('release.json')").wait_for()
        visit.close()


def given_away(browser, program, ground, table):
    """«Nobody's group leaves a single value» is said exactly where no row of the trial is left one."""
    spec = Path(ground) / "spec.toml"

    def trial(require, ordinary="[]"):
        spec.write_text(
            f"input = {json.dumps(str(table))}\nquasi = ['age', 'sex', 'zip_code', 'occupation']\nsensitive = 'disease'\nordinary = {ordinary}\n"
            f"[release]\nrequire = {json.dumps(require)}\n"
        )
        with Studio(program, ground, spec) as studio:
            visit, priced = Visit(browser, studio.address), []
            visit.page.on("response", lambda answer: "/api/jobs/" in answer.url and priced.append(answer))
            visit.priced()
            found = [told["result"] for told in (answer.json() for answer in priced) if "disclosed_rows" in (told.get("result") or {})][-1]
            said = visit.text("#price .figures")
            is_said = "nobody’s group leaves a single value" in said
            check(is_said == (found["certain_rows"] == 0 and found["disclosed_rows"] == 0), f"{require}: {said} {found['certain_rows']}")
            visit.close()
            return found["certain_rows"], found["disclosed_rows"], said

    certain, disclosed, said = trial(["k=2"])
    check(certain and disclosed and "gives the secret away" in said, said)
    check(trial(["k=2", "l=2"])[:2] == (0, 0), "l=2 leaves two values")
    with open(table) as rows:
        names = rows.readline().strip().split(",")
        values = sorted({line.strip().split(",")[names.index("disease")] for line in rows})
    # If every value is an ordinary one, rows may be certain, and none is disclosed.
    certain, disclosed, said = trial(["k=2"], json.dumps(values))
    check(certain and not disclosed and "left a single value, but an ordinary one" in said, said)


def chosen_way(browser, program, ground, table):
    """A way that is chosen from the comparison is the one that is priced and published."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        visit.click("#price button:has-text('Compare all ways')")
        page.locator("text=Keep the whole comparison").wait_for(timeout=5 * PATIENCE)
        row = page.locator("#price table tr", has_text="anatomy by transparent")
        lost = row.locator("td").nth(0).inner_text()
        row.locator("button", has_text="Use").click()
        visit.priced()
        check("in use" in row.inner_text(), "the comparison stays, and says what is in use")
        visit.priced()
        check(page.input_value("#method") == "anatomy" and "transparent" in visit.text("#price"), visit.text("#price"))
        check(page.locator("#price .figures dd.value").first.inner_text() == lost, f"{lost}: {visit.text('#price .figures')}")
        visit.page.fill("#folder", "chosen")
        visit.click("#go")
        page.locator("text=were written to").wait_for()
        manifest = json.loads((Path(ground) / "chosen/release.json").read_text())
        check((manifest["method"], manifest["partitioner"]) == ("anatomy", "transparent"), manifest["method"])
        visit.close()


def group_lines(text):
    return sorted(line.split(";") for line in text.strip().splitlines())


def recipe_lines(ground, folder, column):
    """The lines of a column's groups in the recipe beside a release, whose labels must mean the same in the release."""
    with open(Path(ground) / f"{folder}.chrysalis.toml", "rb") as recipe:
        lines = tomllib.load(recipe)["attributes"][column]["taxonomy"]
    [members] = (Path(ground) / folder).glob("members.*")
    table = polars.read_csv(members) if members.suffix == ".csv" else polars.read_parquet(members)
    meant = {}
    for attribute, label, value in table.select("attribute", "label", "value").iter_rows():
        if attribute == column and label and value:
            meant.setdefault(label, set()).add(value)
    check(meant, table)
    for label, values in meant.items():
        check(values == {line[0] for line in lines if label in line}, f"{label} means {values}")
    return sorted(lines)


def grouped(browser, program, ground, table):
    """Groups of values are proposed, edited with the mouse, taken back, saved, opened again, and published."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        box = page.locator("#groups details[data-column='occupation']")
        box.locator("summary").first.click()
        box.locator("button", has_text="Propose groups").click()
        tree = box.locator("[role=tree]")
        tree.wait_for()
        visit.priced()
        before = visit.text("#price .figures")

        def node(label):
            return tree.locator("li", has=page.locator(f"span:text-is('{label}')"))

        def open_all():
            while tree.locator("li[aria-expanded=false]").count():
                tree.locator("li[aria-expanded=false] .twist").first.click()

        open_all()
        # A new group of two values, by name.
        node("nurse").click()
        node("physician").click(modifiers=["ControlOrMeta"])
        box.locator("button", has_text="New group").click()
        check(page.evaluate("document.activeElement.type") == "text", "the name is asked for")
        page.keyboard.type("medical staff")
        page.keyboard.press("Enter")
        check("2 values" in node("medical staff").inner_text(), node("medical staff").inner_text())
        # A third one is dragged into it, and then its group is removed and brought back.
        node("teacher").drag_to(node("medical staff"))
        check("3 values" in node("medical staff").inner_text(), node("medical staff").inner_text())
        node("medical staff").click()
        box.locator("button", has_text="Remove the group").click()
        check(node("medical staff").count() == 0, "the group is gone")
        box.locator("button", has_text="Undo").click()
        check("3 values" in node("medical staff").inner_text(), "the group is back")
        # A name that is taken is refused in words.
        node("medical staff").click()
        box.locator("input[type=text]").fill("nurse")
        box.locator("button", has_text="Rename").click()
        check("is already the name of a value" in box.inner_text(), box.inner_text())
        # Moved with the list.
        node("builder").click()
        box.locator("select").select_option(label=[it for it in box.locator("option").all_inner_texts() if "medical staff" in it][0])
        box.locator("button", has_text="Move").last.click()
        check("4 values" in node("medical staff").inner_text(), node("medical staff").inner_text())
        visit.priced()
        check(visit.text("#price .figures") != before, "the groups change the price")
        with page.expect_download() as download:
            box.locator("button", has_text="Save as a file").click()
        saved = Path(download.value.path()).read_text()
        lines = group_lines(saved)
        check(len({len(line) for line in lines}) == 1 and sum("medical staff" in line for line in lines) == 4, saved)
        visit.page.fill("#folder", "grouped")
        visit.click("#go")
        page.locator("text=were written to").wait_for()
        check(recipe_lines(ground, "grouped", "occupation") == lines, "the release has the groups of the tree")
        check("medical staff" in (Path(ground) / "grouped.chrysalis.toml").read_text(), "the recipe has them")
        # Left out, and opened again from the file.
        box.locator("button", has_text="Leave the groups out").click()
        visit.priced()
        (Path(ground) / "occupation.csv").write_text(saved)
        box.locator("input[type=file]").set_input_files(Path(ground) / "occupation.csv")
        tree.wait_for()
        visit.priced()
        open_all()
        check("4 values" in node("medical staff").inner_text(), "the file is the same")
        visit.close()
    # The recipe opens with the same groups.
    with Studio(program, ground, Path(ground) / "grouped.chrysalis.toml") as studio:
        visit = Visit(browser, studio.address)
        visit.priced()
        visit.page.fill("#folder", "again")
        visit.click("#go")
        visit.page.locator("text=were written to").wait_for()
        check(recipe_lines(ground, "again", "occupation") == lines, "the recipe gives the same groups")
        visit.close()


def grouped_by_keyboard(browser, program, ground, table):
    """The same with keys alone, as a screen reader expects of a tree."""
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        press, kind = page.keyboard.press, page.keyboard.type

        def at():
            return page.evaluate("document.activeElement.querySelector('.twist + span')?.textContent")

        def state(name):
            return page.evaluate("name => document.activeElement.getAttribute(name)", name)

        tab_to(page, "#groups details[data-column='occupation'] summary")
        press("Enter")
        tab_to(page, "#groups details[data-column='occupation'] button")
        press("Enter")
        page.locator("[role=tree]").wait_for()
        visit.priced()
        tab_to(page, "[role=treeitem]")
        check((state("aria-level"), state("aria-expanded")) == ("1", "true"), "the root is open")
        press("ArrowRight")
        check((state("aria-level"), state("aria-posinset")) == ("2", "1"), "the first group")
        group = at()
        press("ArrowLeft")
        press("ArrowRight") if state("aria-expanded") == "false" else None
        press("ArrowDown") if state("aria-level") == "1" else None
        check(at() == group, at())
        press("ArrowRight") if state("aria-expanded") == "false" else None
        check(state("aria-expanded") == "true", "the group is open")
        press("F2")
        page.keyboard.press("Control+a")
        kind("first half")
        press("Enter")
        check((at(), state("role")) == ("first half", "treeitem"), at())
        # The first value below it, and the next one, become a group.
        while state("aria-expanded") is not None:
            press("ArrowRight")
        first = at()
        press("Shift+ArrowDown")
        second = at()
        check(page.locator("[role=treeitem][aria-selected=true]").count() == 2, "two are chosen")
        press("Control+g")
        kind("pair")
        press("Enter")
        check(at() == "pair", at())
        press("ArrowRight")
        check(at() == first, at())
        # One of them is cut and put elsewhere.
        press("Control+x")
        press("Home")
        press("Control+v")
        check((at(), state("aria-level")) == (first, "2"), (at(), state("aria-level")))
        kind("pair")
        check(at() == "pair", at())
        press("Delete")
        check(page.locator("[role=treeitem]", has=page.locator("span:text-is('pair')")).count() == 0, "the group is gone")
        visit.priced()
        visit.page.fill("#folder", "keys")
        tab_to(page, "#go")
        press("Enter")
        page.locator("text=were written to").wait_for()
        found = {line[0]: line for line in recipe_lines(ground, "keys", "occupation")}
        check("first half" in found[second] and set(found[first][1:-1]) <= {first}, (found[first], found[second]))
        visit.close()


def prepared(browser, program, ground, table):
    """Values are rounded and replaced by pseudonyms with a key at a place that the owner types; a second table with
    everybody who could be in the first one is promised about."""
    everybody = Path(ground) / "everybody.csv"
    everybody.write_bytes(Path(table).read_bytes())
    with Studio(program, ground, table) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.priced()
        page.locator("#prepare summary").click()
        before = visit.text("#price .figures")
        page.select_option("#prepare-age", "round")
        page.locator("[aria-label='the number for age']").fill("25")
        page.keyboard.press("Tab")
        visit.priced()
        page.select_option("#prepare-zip-code", "pseudonym")
        page.fill("#key", "mine.key")
        page.keyboard.press("Tab")
        visit.priced()
        check(visit.text("#price .figures") != before, "prepared values have another price")
        check(not (Path(ground) / "mine.key").exists(), "a trial makes no key")
        page.locator("#people-step summary").click()
        page.set_input_files("#people", everybody)
        page.locator("#people-step strong >> nth=0").wait_for()
        visit.priced()
        check("people of the second table" in visit.text("#promised"), visit.text("#promised"))
        page.fill("#folder", "prepared")
        visit.click("#go")
        page.locator("text=were written to").wait_for()
        check((Path(ground) / "mine.key").stat().st_mode & 0o777 == 0o600, "only the owner reads the key")
        check("mine.key" in visit.text("#publish"), "the page says that a key was made")
        said = visit.text("#attacks")
        check("people of the population" in said and page.locator('#attacks .bad-word').count() == 0, said)
        [members] = (Path(ground) / "prepared").glob("generalized.*")
        rows = polars.read_csv(members) if members.suffix == ".csv" else polars.read_parquet(members)
        check(all(age % 25 == 0 for age in rows["age_min"]) and not any("01210" in code for code in rows["zip_code"]), rows)
        with open(Path(ground) / "prepared.chrysalis.toml", "rb") as recipe:
            told = tomllib.load(recipe)
        check(told["key"] == str(Path(ground).resolve() / "mine.key") or told["key"].endswith("/mine.key"), told)
        check(told["release"]["population_table"] == "everybody.csv", told["release"])
        visit.close()


def repeated(browser, program, ground, table):
    """The command that the page shows, beside the table and the recipe that were downloaded, gives the same release."""
    command = Path(program).with_name("chrysalis")
    if not command.exists():
        return "skipped: the command line is not beside the studio"
    (Path(ground) / "again").mkdir()
    there = Path(ground) / "again"
    (there / "patients.csv").write_bytes(Path(table).read_bytes())
    with Studio(program, ground) as studio:
        visit = Visit(browser, studio.address)
        page = visit.page
        visit.choose(there / "patients.csv")
        visit.priced()
        page.locator("#publish summary").first.click()
        page.fill("#seed", "11")
        page.keyboard.press("Tab")
        visit.click("#go")
        page.locator("text=Download the release").wait_for()
        with page.expect_download() as release:
            visit.click("text=Download the release")
        with page.expect_download() as recipe:
            page.locator("#publish a.button", has_text="Recipe").click()
        (there / "chrysalis.toml").write_bytes(Path(recipe.value.path()).read_bytes())
        told = visit.text("#command")
        check(told == "chrysalis publish chrysalis.toml --out release --seed 11", told)
        archive = zipfile.ZipFile(io.BytesIO(Path(release.value.path()).read_bytes()))
        subprocess.run([command.resolve(), *told.split()[1:]], cwd=there, check=True, capture_output=True)
        made = {f"release/{path.name}": path.read_bytes() for path in (there / "release").iterdir()}
        downloaded = {name: archive.read(name) for name in archive.namelist() if name.startswith("release/")}
        check(made == downloaded, [name for name in made if made[name] != downloaded.get(name)])
        visit.close()
