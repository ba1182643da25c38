"""The page of a run, in a browser: its figures against the record, zoom, keyboard, colours, paper, and names that attack."""

import contextlib
import csv
import json
import re
import shutil
import sqlite3
import statistics
import subprocess

from browser import PageTest, figure, in_view, wait, wait_for_samples
from harness import BUILD, Machine

HOURS, GPUS, RATE = 0.6, 2, 10
POWER = ("Power", "GPU 1")


class RunPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = Machine(rate=40, seed=3)
        cls.addClassCleanup(cls.box.close)
        made = subprocess.run([BUILD / "bin" / "rubato-long-run-record", cls.box.folder, str(HOURS), str(GPUS), str(RATE)],
                              capture_output=True, text=True, check=True)
        cls.record = made.stdout.strip()
        cls.file = cls.box.folder / "run.html"
        cls.rubato("export", cls.record, "--format", "html", "-o", cls.file, "--co2", "380", "--price", "0.30EUR")
        cls.report = json.loads(cls.rubato("show", cls.record, "--json", "--co2", "380", "--price", "0.30EUR"))
        lines = cls.rubato("export", cls.record, "--format", "csv").splitlines()
        rows = csv.DictReader(line for line in lines if not line.startswith("#"))
        cls.power = [(float(r["time_s"]), float(r["power_w"])) for r in rows if r["gpu"] == "1" and r["power_w"]]

    @classmethod
    def rubato(cls, *words):
        done = cls.box.run(*words)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    def seen(self, page):
        return page.evaluate("document.getElementById('main').innerText")

    def power_between(self, begin, end):
        return [watts for at, watts in self.power if begin <= at < end]

    def check_power(self, page, begin, end):
        told = in_view(page)[POWER]
        watts = self.power_between(begin, end)
        # Moments are kept to a millisecond or better, so an edge may take one sample more or less.
        self.assertLessEqual(abs(figure(told[0]) - len(watts)), 2)
        self.assertAlmostEqual(figure(told[1]), statistics.fmean(watts), delta=0.11 + 200 / len(watts))
        return told

    def test_the_figures_are_those_of_the_record(self):
        page = self.open(self.file)
        text = self.seen(page)
        saved = self.report["savings"]["energy_per_iteration_saved"]
        self.assertIn("%.1f %% (%.1f to %.1f %%)" % tuple(100 * saved[k] for k in ("fraction", "low_90", "high_90")), text)
        self.assertIn("%.4f kWh" % (self.report["energy_j"] / 3.6e6), text)
        self.assertIn("%.3f GPU-hours" % (HOURS * GPUS), text)
        self.assertIn("%.2f EUR" % self.report["footprint"]["cost"], text)
        for decision in self.report["decisions"]:
            self.assertIn(decision["why"], text)
        watts = [w for _, w in self.power]
        told = self.check_power(page, 0, 1e9)
        self.assertEqual(figure(told[0]), len(watts))
        self.assertAlmostEqual(figure(told[2]), min(watts), delta=0.06)
        self.assertAlmostEqual(figure(told[3]), max(watts), delta=0.06)
        # What stands first is what `rubato show` says.
        shown = " ".join(self.rubato("show", self.record).split())
        for sentence in page.eval_on_selector_all(".say", "all => all.map(p => p.textContent)"):
            self.assertIn(" ".join(sentence.split()), shown)
        self.assert_quiet()

    def test_zoom_goes_from_bands_to_single_samples_by_keyboard_alone(self):
        page = self.open(self.file)
        page.locator(".chart").first.scroll_into_view_if_needed()
        page.wait_for_selector(".plot[data-single=false]")
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.classList.contains('chart')"):
                break
        self.assertTrue(page.evaluate("document.activeElement.classList.contains('chart')"), "Tab reaches the charts")
        where = page.locator(".where").text_content()
        for _ in range(5):
            page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowRight")
        wait(page, "was => document.querySelector('.where').textContent !== was", where)
        page.wait_for_selector(".plot[data-single=true]")
        length = HOURS * 3600 / 32
        middle = HOURS * 1800 + 0.2 * length
        wait_for_samples(page, "n < 2000")
        self.check_power(page, middle - length / 2, middle + length / 2)
        page.keyboard.press("Home")
        wait(page, "was => document.querySelector('.where').textContent === was", where)
        self.assert_quiet()

    def test_dragging_looks_closer_and_a_double_click_shows_the_whole_run(self):
        page = self.open(self.file)
        page.locator(".chart").first.scroll_into_view_if_needed()
        over = page.locator(".u-over").first
        box = over.bounding_box()
        page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 60, steps=4)
        page.mouse.up()
        wait_for_samples(page, f"n < {len(self.power) // 2}")
        told = in_view(page)[POWER]
        self.assertAlmostEqual(figure(told[0]), len(self.power) / 4, delta=len(self.power) * 0.01)
        over.dblclick()
        wait_for_samples(page, f"n === {len(self.power)}")
        self.assert_quiet()

    def test_a_decision_leads_to_its_moment(self):
        page = self.open(self.file)
        button = page.locator("button.at").nth(4)
        at = float(button.get_attribute("data-at"))
        button.click()
        wait_for_samples(page, "n < 700")
        self.check_power(page, at - 30, at + 30)
        self.assert_quiet()

    def test_gpus_can_be_left_out(self):
        page = self.open(self.file)
        page.get_by_label("GPU 0").uncheck()
        wait(page, "() => !document.querySelector('#in-view').textContent.includes('GPU 0')")
        self.assertIn(POWER, in_view(page))
        self.assert_quiet()

    def test_the_search_is_a_picture_with_what_the_table_says(self):
        page = self.open(self.file)
        marks = page.eval_on_selector_all(".picture .mark title", "all => all.map(t => t.textContent)")
        for tried in self.report["search"]["tried"]:
            limit = "%g W" % tried["setting"]["power_limit_w"]
            self.assertTrue(any(mark.startswith((limit, f"held: {limit}")) for mark in marks), (limit, marks))
        self.assertIn("as found", marks)
        self.assert_quiet()

    def test_the_search_shows_what_was_expected_the_bound_and_the_front(self):
        page = self.open(self.file)
        expected = self.report["search"]["expected"]
        self.assertEqual(self.report["goal"]["max_slowdown"], 0.05)
        picture = page.locator(".picture").first
        self.assertEqual(picture.locator(".bound").count(), 1)
        self.assertIn("bound 5.0 %", picture.text_content())
        self.assertEqual(picture.locator(".band").count(), 1)
        self.assertEqual(picture.locator(".line").count(), 2, "the expected curve and the Pareto front")
        curve = picture.locator(".line:not(.dashed)").get_attribute("points").split()
        self.assertEqual(len(curve), sum(s["on_curve"] for s in expected["settings"]))
        # The same as figures, and what was expected of each try beside what it was.
        page.locator("summary", has_text="What was expected").click()
        rows = page.locator("table", has_text="Expected, against the found setting").locator("tbody tr")
        self.assertEqual(rows.count(), len(expected["settings"]))
        some = expected["settings"][7]
        ratio = some["energy"]
        self.assertEqual(rows.nth(7).locator("td").first.text_content(),
                         "%.1f %% (%.1f to %.1f %%)" % tuple(100 - 100 * ratio[k] for k in ("ratio", "high_90", "low_90")))
        tried = page.locator("table", has_text="Tried, against the found setting")
        self.assertIn("was expected", tried.locator("thead").text_content())
        first = self.report["search"]["tried"][0]["expected"]["slowdown"]
        self.assertIn("%.1f %% (" % (100 * first["fraction"]), tried.locator("tbody tr").first.text_content())
        self.assert_quiet()

    def test_the_expectation_of_another_decision_can_be_looked_at(self):
        page = self.open(self.file)
        select = page.locator("select")
        self.assertIn("when it was chosen", select.locator("option:checked").text_content())
        band = page.locator(".picture .band").get_attribute("d")
        select.select_option(index=0)
        self.assertNotEqual(page.locator(".picture .band").get_attribute("d"), band)
        self.assertIn(select.locator("option:checked").text_content().split(":")[0].split(",")[0],
                      page.locator("summary", has_text="What was expected").text_content())
        self.assert_accessible(page)
        self.assert_quiet()

    def test_two_searches_stand_beside_each_other(self):
        made = subprocess.run([BUILD / "bin" / "rubato-long-run-record", self.box.folder / "second", "0.5", "1", "2", "7"],
                              capture_output=True, text=True, check=True)
        file = self.box.folder / "compare.html"
        self.rubato("compare", self.record, made.stdout.strip(), "--format", "html", "-o", file)
        page = self.open(file)
        searches = page.locator("section", has=page.locator("h2", has_text="The searches"))
        for part in (".picture", ".bound", ".band", "select"):
            self.assertEqual(searches.locator(part).count(), 2, part)
        self.assertEqual(searches.locator("table", has_text="Tried, against the found setting").count(), 2)
        self.assert_accessible(page)
        self.assert_quiet()

    def test_a_record_that_expects_nothing_says_so(self):
        older = self.box.folder / "older.sqlite"
        shutil.copy(self.record, older)
        with contextlib.closing(sqlite3.connect(older)) as db:
            db.executescript("UPDATE schema_version SET version = 4; DROP TABLE goal; DROP TABLE expected_setting; DROP TABLE expectation;")
        file = self.box.folder / "older.html"
        self.rubato("export", older, "--format", "html", "-o", file)
        page = self.open(file)
        self.assertIn("not in this record", page.locator("figcaption").first.text_content())
        self.assertEqual(page.locator(".picture .bound, .picture .band, select").count(), 0)
        self.assertGreater(page.locator(".picture .mark").count(), 3)
        self.assert_quiet()

    def test_what_is_set_is_drawn_as_steps(self):
        page = self.open(self.file, script="""
            window.paths = new Map();
            for (const to of ['moveTo', 'lineTo']) {
              const plain = Path2D.prototype[to];
              Path2D.prototype[to] = function (x, y) {
                if (!paths.has(this)) paths.set(this, []);
                paths.get(this).push([x, y]);
                return plain.call(this, x, y);
              };
            }""")
        page.locator(".chart", has_text="SM clock").scroll_into_view_if_needed()
        page.wait_for_selector(".chart:has-text('SM clock') canvas")
        kinds = page.evaluate("""() => [...paths.values()].filter((p) => p.length > 20 && new Set(p.map((v) => v[1])).size > 2)
            .map((p) => p.slice(1).every(([x, y], i) => x === p[i][0] || y === p[i][1]))""")
        self.assertIn(True, kinds, "limits and clocks change at once")
        self.assertIn(False, kinds, "power does not")
        self.assert_quiet()

    def test_an_outline_is_drawn_before_the_samples_are_there(self):
        whole = self.file.read_text()
        cut = self.box.folder / "outline.html"
        cut.write_text(whole[: whole.index('id="series-0"') + 300])
        page = self.open(cut, ready=False)
        page.locator(".chart").first.scroll_into_view_if_needed()
        page.wait_for_selector(".plot canvas")
        wait(page, "() => /cannot be unpacked|cut short/.test(document.querySelector('.timeline').textContent)")
        told = in_view(page)[POWER]
        watts = [w for _, w in self.power]
        self.assertEqual(figure(told[0]), len(watts))
        self.assertAlmostEqual(figure(told[1]), statistics.fmean(watts), delta=0.06)
        self.assertAlmostEqual(figure(told[3]), max(watts), delta=0.06)

    def test_without_a_worker_the_page_unpacks_by_itself(self):
        for name, worker in (("there is none", "window.Worker = undefined"),
                             ("it may not start", "window.Worker = class { constructor() { setTimeout(() => this.onerror()); } postMessage() {} terminate() {} }")):
            with self.subTest(name):
                page = self.open(self.file, script=worker)
                told = in_view(page)[POWER]
                self.assertEqual(figure(told[0]), len(self.power))
                self.assert_quiet()

    def test_light_dark_and_narrow_can_be_read_by_everybody(self):
        for scheme, width in (("light", 1200), ("dark", 1200), ("light", 360)):
            with self.subTest(scheme, width=width):
                page = self.open(self.file, color_scheme=scheme, viewport={"width": width, "height": 900})
                paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
                self.assertEqual(paper == "rgb(255, 255, 255)", scheme == "light")
                self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                self.assert_accessible(page)
                page.get_by_role("button", name="Light / dark").click()
                self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), paper)
                self.assert_quiet()

    def test_on_paper_it_is_light_and_has_no_buttons(self):
        page = self.open(self.file, color_scheme="dark")
        paper = page.pdf(format="A4", print_background=True)
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertGreater(len(re.findall(rb"/Type\s*/Page\b", paper)), 1)
        page.emulate_media(media="print")
        wait(page, "() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")
        self.assertFalse(page.get_by_role("button", name="Print").is_visible())
        self.assertEqual(page.eval_on_selector_all(".chart", "all => all.filter(c => !c.querySelector('canvas')).length"), 0)
        self.assert_quiet()

    def test_nothing_leaves_the_page(self):
        page = self.open(self.file)
        refused = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'refused')")
        self.assertEqual(refused, "refused")
        self.assertTrue(any("Content Security Policy" in text for text in self.complaints), self.complaints)
        self.assertFalse([url for url in self.requests if url.startswith("http")])

    def test_names_that_attack_stay_text(self):
        attacks = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\u202eexe.gnp\u202c", "%s" * 5000,
                   "<!--<script>", "'\";alert(3);//", "\u2028\u0007"]
        box = self.box
        done = box.run("measure", "--gpu", "0", "--", "/bin/true", *attacks)
        self.assertEqual(done.returncode, 0, done.stderr)
        file = box.folder / "hostile.html"
        self.rubato("export", "last", "--format", "html", "-o", file, "--force")
        self.assertNotIn("<script>alert", file.read_text())
        page = self.open(file)
        text = page.evaluate("document.getElementById('main').textContent")
        for attack in attacks[:5]:
            self.assertIn(attack, text)
        self.assertEqual(page.locator("img").count(), 0)
        self.assertEqual(page.eval_on_selector_all("script", "all => all.filter(s => s.type === '').length"), 1)
        self.assert_quiet()

    def test_a_file_cut_short_says_so_and_keeps_its_text(self):
        whole = self.file.read_text()
        at = whole.index('id="series-2"')
        cut = self.box.folder / "cut.html"
        cut.write_text(whole[: at + 400])
        page = self.open(cut, ready=False)
        wait(page, "() => /cannot be unpacked|cut short/.test(document.querySelector('.timeline').textContent)")
        self.assertIn("GPU-hours", self.seen(page))


class LongRun(PageTest):
    """How much a frame looks at does not grow with the run: told by counts, as times are the machine's."""

    def test_a_frame_of_a_day_looks_at_few_of_its_samples(self):
        box = Machine()
        self.addCleanup(box.close)
        made = subprocess.run([BUILD / "bin" / "rubato-long-run-record", box.folder, "24", "1", "10"], capture_output=True, text=True, check=True)
        file = box.folder / "day.html"
        done = box.run("export", made.stdout.strip(), "--format", "html", "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.open(file, viewport={"width": 1280, "height": 900})
        page.locator(".chart").first.scroll_into_view_if_needed()
        samples = figure(in_view(page)[("Power", "GPU 0")][0])
        self.assertEqual(samples, 864_000)
        read = "() => Number(document.querySelector('.plot').dataset.read)"
        wait(page, "() => document.querySelector('.plot canvas')")
        # 1 000 columns of two series; from 864 samples a column at most 15 on each side, and 3 of each level above.
        self.assertLess(page.evaluate(read), 1_100 * 2 * 45)
        moving = page.evaluate("""async () => {
            const chart = document.querySelector('.chart');
            const key = (name) => chart.dispatchEvent(new KeyboardEvent('keydown', { key: name, bubbles: true }));
            key('ArrowUp');
            await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
            return Number(document.querySelector('.plot').dataset.read);
        }""")
        self.assertLess(moving, 300 * 2 * 40)
        self.assert_quiet()
