"""The dashboard in a browser: a real exporter over simulated GPUs, a real run beside it, and what goes wrong with either."""

import datetime
import json
import signal
import subprocess
import time
import unittest

import dashboard
from browser import PATIENCE_MS, PageTest, figure, wait
from harness import PATIENCE, Machine

HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\u202eexe.gnp\u202c", "%s" * 2000, "<!--<script>"]
NEXT = "at => Number(document.documentElement.dataset.at) > at"


@unittest.skipIf(dashboard.missing() is not None, dashboard.missing())
class DashboardPage(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = Machine(rate=20, seed=3, profiles="v100,v100")
        cls.addClassCleanup(cls.box.close)
        done = cls.box.run("measure", "--gpu", "1", "--", "/bin/true", *HOSTILE)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.hostile = json.loads(cls.box.run("runs", "--json").stdout)["runs"][0]["run_id"]
        cls.job = cls.box.start("run", "--gpu", "0", "--strategy", "bisection", "--knobs", "power-limit", "--max-slowdown", "12%", "--",
                                *cls.box.train(1_000_000))
        cls.addClassCleanup(cls.end_job)
        cls.shown = dashboard.Dashboard(cls.box, gpus="0,1")
        cls.addClassCleanup(cls.shown.stop)
        cls.run_id = cls.state()["run_id"]

    @classmethod
    def end_job(cls):
        if cls.job.poll() is None:
            cls.job.terminate()
        cls.job.communicate()

    @classmethod
    def state(cls):
        """The run that goes on, as soon as it has told something."""
        deadline = time.monotonic() + PATIENCE_MS / 1000
        while time.monotonic() < deadline:
            for run in cls.shown.document("/api/node")["runs"]:
                if run["iterations"] > 5:
                    return run
            time.sleep(0.2)
        raise AssertionError("the run says nothing")

    def see(self, address="", login=True, **options):
        context = self.browser.new_context(**options)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self.complaints, self.requests = [], []
        page.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(m.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        if login:
            page.goto(self.shown.login)
        page.goto(self.shown.url + address)
        page.wait_for_selector("html[data-live=live]", state="attached")
        return page

    def quiet(self):
        self.assertEqual(self.complaints, [])
        self.assertEqual([url for url in self.requests if not url.startswith((self.shown.url, "data:", "blob:"))], [])

    def next_second(self, page, seconds=1):
        wait(page, NEXT, float(page.get_attribute("html", "data-at")) + seconds - 0.5)

    def row(self, page, table, text):
        heads = page.eval_on_selector_all(f"table:has(#{table}) thead th", "all => all.map(c => c.textContent)")
        row = page.locator(f"table:has(#{table}) tbody tr", has_text=text).first
        return dict(zip(heads, row.locator("th, td").all_text_contents()))

    def test_the_figures_are_those_of_rubato_devices_and_of_the_run(self):
        page = self.see()
        page.wait_for_selector("#process-table", state="attached")
        rows = page.locator("table:has(#gpu-table) tbody tr")
        devices = json.loads(self.box.run("devices", "--json").stdout)["gpus"]
        self.assertEqual(rows.count(), len(devices))
        # Of the GPU on which nothing runs all stays as it is.
        cells = rows.nth(1).locator("th, td").all_text_contents()
        limits = devices[1]["power_limits"]
        self.assertEqual(cells[0], f"1 {devices[1]['name']}")
        self.assertEqual((cells[2], cells[3], cells[4]), ("%g W" % limits["requested_w"], "%g W" % limits["enforced_w"], "–"))
        self.assertEqual((cells[6], cells[9], cells[10]), ("%g MHz" % devices[1]["clocks"]["memory_mhz"][0], "idle", "as found"))
        drawn = json.loads(self.box.run("top", "--once", "--json").stdout)["gpus"][1]["power_w"]
        self.assertAlmostEqual(figure(cells[1]), drawn, delta=2.0)
        self.assertIn(devices[1]["sensor"]["source"], page.locator("#gpus").text_content())
        run = self.row(page, "running-table", self.run_id)
        told = json.loads(self.box.run("top", "--once", "--json").stdout)["runs"][0]
        self.assertEqual((told["run_id"], run["GPUs"]), (self.run_id, "0"))
        self.assertIn("sim train resnet50", run["command"])
        # The simulated training takes longer at lower limits, by half at most.
        self.assertTrue(0.6 < figure(run["iteration"].replace("ms", "")) / 1e3 / told["iteration"]["period_s"] < 1.7, (run, told))
        self.assertGreater(figure(run["done"]), 0)
        self.assertGreaterEqual(told["iterations"], figure(run["done"]))
        process = self.row(page, "process-table", self.run_id)
        self.assertEqual((process["name"], process["GPUs"]), ("rubato", "0"))
        self.assertEqual(int(process["pid"].replace("\u202f", "").replace(" ", "")), told["job_pid"])
        self.quiet()

    def test_every_second_brings_news_and_keeps_what_the_reader_does(self):
        page = self.see()
        link = page.locator("#running-table").locator("xpath=../..").get_by_role("link", name=self.run_id)
        link.focus()
        page.get_by_text("What the figures are").click()
        link.focus()
        first = page.evaluate("document.querySelector('#running').textContent")
        self.next_second(page, 3)
        self.assertNotEqual(page.evaluate("document.querySelector('#running').textContent"), first)
        self.assertEqual(page.evaluate("document.activeElement.textContent"), self.run_id)
        self.assertTrue(page.evaluate("document.querySelector('#gpus details').open"))
        self.assertIn("kind", page.locator("table:has(#sensor-table)").text_content())
        before = page.locator(".where").text_content()
        self.next_second(page, 2)
        self.assertNotEqual(page.locator(".where").text_content(), before, "it moves on with now")
        self.quiet()

    def test_charts_are_drawn_and_move_by_keyboard_alone(self):
        page = self.see()
        self.next_second(page, 3)
        chart = page.get_by_role("group", name="Power, W, over time")
        self.assertTrue(chart.locator("canvas").is_visible())
        drawn = page.evaluate("""() => { const c = document.querySelector('.chart canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
            let n = 0; for (let i = 3; i < d.length; i += 4) if (d[i] > 0) ++n; return n; }""")
        self.assertGreater(drawn, 500)
        chart.focus()
        page.keyboard.press("+")
        page.keyboard.press("+")
        page.keyboard.press("ArrowLeft")
        looked_at = page.locator(".where").text_content()
        self.next_second(page, 2)
        self.assertEqual(page.locator(".where").text_content(), looked_at, "an earlier stretch stands still")
        page.keyboard.press("Home")
        self.assertNotEqual(page.locator(".where").text_content(), looked_at)
        page.get_by_text("The same as figures").first.click()
        page.get_by_label("GPU 1").uncheck()
        wait(page, "() => !document.querySelector('#in-view').textContent.includes('GPU 1')")
        self.assertIn("GPU 0, limit in force", page.locator("#in-view").text_content())
        self.quiet()

    def test_a_run_that_goes_on_says_what_it_does_and_why(self):
        page = self.see(f"runs/{self.run_id}")
        self.assertIn(self.run_id, page.locator("h1").text_content())
        wait(page, "() => /It is (warming up|measuring|trying|holding|checking)/.test(document.querySelector('#run').textContent)")
        page.get_by_role("group", name="Iteration time, s, over time").locator("canvas").wait_for()
        self.assertEqual(self.row(page, "run-gpu-table", "V100")["limit found"], "200 W")
        page.get_by_role("link", name="Report so far").click()
        page.wait_for_selector("html[data-ready]", state="attached")
        self.assertIn("still running", page.locator("header").text_content())
        self.quiet()

    def test_a_run_that_is_over_leads_to_the_same_report_as_export(self):
        page = self.see()
        page.get_by_role("link", name=f"report of {self.hostile}").click()
        page.wait_for_selector("html[data-ready]", state="attached")
        status, headers, body = self.shown.ask(f"/runs/{self.hostile}/report")
        self.assertEqual(status, 200)
        exported = self.box.folder / "exported.html"
        self.box.run("export", self.hostile, "--format", "html", "-o", exported, "--force")
        self.assertEqual(body, exported.read_text())
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.quiet()

    def test_names_that_attack_stay_text(self):
        for address in ("", f"runs/{self.hostile}"):
            page = self.see(address)
            wait(page, "() => document.querySelector('#main').textContent.includes('onerror=alert(2)')")
            text = page.evaluate("document.querySelector('#main').textContent")
            for attack in HOSTILE:
                self.assertIn(attack, text)
            self.assertEqual(page.locator("img").count(), 0)
            self.assertEqual(page.locator("#main script").count(), 0)
            self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), page.viewport_size["width"])
            self.quiet()

    def test_light_dark_and_narrow_can_be_read_by_everybody(self):
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 360)):
            for address in ("", f"runs/{self.run_id}", f"runs/{self.hostile}"):
                with self.subTest(scheme, width=width, address=address):
                    page = self.see(address, color_scheme=scheme, viewport={"width": width, "height": 900})
                    self.next_second(page)
                    self.assertLessEqual(page.evaluate("document.documentElement.scrollWidth"), width)
                    self.assert_accessible(page)
                    self.quiet()
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Light / dark").click()
        self.assertNotEqual(page.evaluate("getComputedStyle(document.body).backgroundColor"), paper)

    def test_everything_can_be_reached_by_the_keyboard(self):
        page = self.see()
        wanted = page.evaluate("""() => document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]').length""")
        reached = set()
        for _ in range(3 * wanted):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("(() => { const e = document.activeElement; return e.id || e.getAttribute('aria-label') || e.getAttribute('aria-labelledby') || e.textContent; })()"))
        for name in ("Light / dark", self.run_id, f"report of {self.hostile}", "gpu-table", "Power, W, over time", "All of it, up to now"):
            self.assertIn(name, reached)
        self.quiet()

    def test_it_comes_back_after_the_exporter_was_restarted(self):
        own = dashboard.Dashboard(self.box, gpus="0,1")
        self.addCleanup(own.stop)
        shared, self.shown = self.shown, own
        try:
            page = self.see()
            own.stop()
            wait(page, "() => document.documentElement.dataset.live === 'lost'")
            self.assertIn("These figures are old", page.locator("#state").text_content())
            self.assertTrue(page.evaluate("document.querySelector('#content').classList.contains('stale')"))
            self.assert_accessible(page)
            own.start()
            wait(page, "() => document.documentElement.dataset.live === 'live'")
            self.next_second(page)
            self.assertFalse(page.evaluate("document.querySelector('#content').classList.contains('stale')"))
            # With another token in its place the page says what to do.
            own.stop()
            token_file = self.box.folder / "token"
            token_file.write_text("another-token-of-enough-letters\n")
            token_file.chmod(0o600)
            own.options = ("--http-token", str(token_file))
            own.start()
            wait(page, "() => document.documentElement.dataset.live === 'locked'")
            self.assertIn("token is another one", page.locator("#state").text_content())
            self.assertEqual([c for c in self.complaints if "Failed to load resource" not in c and "ERR_" not in c], [])
        finally:
            self.shown = shared

    def test_an_exporter_that_stands_still_makes_figures_old(self):
        own = dashboard.Dashboard(self.box, gpus="0,1")
        self.addCleanup(own.stop)
        shared, self.shown = self.shown, own
        try:
            page = self.see()
            own.process.send_signal(signal.SIGSTOP)
            wait(page, "() => document.documentElement.dataset.live === 'old'")
            self.assertIn("Nothing new since", page.locator("#state").text_content())
            own.process.send_signal(signal.SIGCONT)
            wait(page, "() => document.documentElement.dataset.live === 'live'")
        finally:
            own.process.send_signal(signal.SIGCONT)
            self.shown = shared

    def test_while_the_driver_hangs_no_page_takes_what_is_old_for_news(self):
        # Longer than a page waits on a silent connection before it asks again.
        hang = {"call": "read_power", "at_s": 400, "effect": "slow", "wall_ms": 30_000}
        box = Machine(rate=20, faults=[hang])
        self.addCleanup(box.close)
        own = dashboard.Dashboard(box)
        self.addCleanup(own.stop, signal.SIGKILL)
        shared, self.shown = self.shown, own
        try:
            page = self.see()
            page.evaluate("""() => { window.states = []; new MutationObserver(() => window.states.push(document.documentElement.dataset.live))
                .observe(document.documentElement, {attributes: true, attributeFilter: ['data-live']}); }""")
            wait(page, "() => document.documentElement.dataset.live === 'old'")
            told = page.locator("#state").text_content()
            self.assertRegex(told, r"Nothing new since \d\d:\d\d:\d\d")
            later = page.context.new_page()
            later.goto(own.url)
            wait(later, "() => document.documentElement.dataset.live === 'old'")
            # The clock of the browser is the exporter's here; the seconds are cut, not rounded.
            first, second = (datetime.datetime.strptime(text.split("since ")[1][:8], "%H:%M:%S") for text in (told, later.locator("#state").text_content()))
            self.assertLessEqual(abs((second - first).total_seconds()), 1)
            self.assertGreater(own.document("/api/node")["age_s"], 4)
            for one in (page, later):
                wait(one, "() => document.documentElement.dataset.live === 'live'")
            self.assertEqual(page.evaluate("window.states"), ["old", "live"])
        finally:
            self.shown = shared

    def test_without_scripts_there_is_a_sentence(self):
        context = self.browser.new_context(java_script_enabled=False)
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(self.shown.login)
        self.assertIn("rubato top", page.locator("noscript").inner_text() or page.content())

    def test_without_the_token_nothing_is_seen(self):
        context = self.browser.new_context()
        self.addCleanup(context.close)
        page = context.new_page()
        self.assertEqual(page.goto(self.shown.url).status, 401)
        self.assertIn("?token=", page.locator("body").text_content())
        for path in ("/", "/api/node", "/api/runs", "/api/history", "/events", f"/runs/{self.hostile}/report"):
            for token in (None, "wrong-token-0123456789", self.shown.token[:-1]):
                self.assertEqual(self.shown.ask(path, token=token)[0], 401, (path, token))
            self.assertEqual(self.shown.ask(path, Host="evil.example")[0], 421, path)
            self.assertEqual(self.shown.ask(path, Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="cors")[0], 403, path)
        page.goto(self.shown.login)
        self.assertEqual(page.url, self.shown.url, "the token does not stay in the address")
        self.assertEqual(page.evaluate("document.cookie"), "")


@unittest.skipIf(dashboard.missing() is not None, dashboard.missing())
class CommandLine(unittest.TestCase):
    def setUp(self):
        self.box = Machine()
        self.addCleanup(self.box.close)
        self.token = self.box.folder / "token"

    def refused(self, *words):
        done = subprocess.run([dashboard.EXPORTER, "--gpu", "0", "--listen", "127.0.0.1:0", *map(str, words)], env=self.box.environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("hint", done.stderr)
        return done.stderr

    def test_what_others_could_read_is_not_served_unless_that_is_said(self):
        self.assertIn("--http-unencrypted", self.refused("--http", "0.0.0.0:0"))
        open_to_all = dashboard.Dashboard(self.box, host="0.0.0.0", options=("--http-unencrypted",))
        self.addCleanup(open_to_all.stop)
        self.assertIn("without encryption", open_to_all.said)
        self.assertEqual(open_to_all.ask("/api/node", token=None)[0], 401)
        self.assertEqual(open_to_all.ask("/", Host="node.example")[0], 421)

    def test_a_token_that_is_no_secret_is_refused(self):
        self.refused("--http", "127.0.0.1:0", "--http-token", self.token)
        self.token.write_text("0123456789abcdef\n")
        self.token.chmod(0o644)
        self.assertIn("chmod 600", self.refused("--http", "127.0.0.1:0", "--http-token", self.token))
        self.token.chmod(0o600)
        shown = dashboard.Dashboard(self.box, options=("--http-token", self.token, "--http-name", "node.example"))
        self.addCleanup(shown.stop)
        self.assertEqual(shown.ask("/", Host="node.example", token="0123456789abcdef")[0], 200)

    def test_options_without_meaning_and_addresses_that_are_taken_are_refused(self):
        self.refused("--http-name", "node.example")
        self.refused("--http", "127.0.0.1:0", "--once")
        self.refused("--http", "9838")
        shown = dashboard.Dashboard(self.box)
        self.assertIn(str(shown.port), self.refused("--http", f"127.0.0.1:{shown.port}"))
        self.assertEqual(shown.stop(), 0)


if __name__ == "__main__":
    unittest.main()
