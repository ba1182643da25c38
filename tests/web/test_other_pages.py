"""Pages of two runs, of sweep tables, and of what sweep, model validate and lab run print, in a browser."""

import json

from browser import PageTest, figure, in_view
from harness import Machine

HEADER = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
SHAPE = [(100, 1.30, 0.78), (125, 1.12, 0.76), (150, 1.05, 0.80), (175, 1.01, 0.88), (200, 1.0, 0.95), (250, 1.0, 1.0)]


def table_text(workloads=("cnn", "<b>rnn</b>", "gan")):
    rows = []
    for k, name in enumerate(workloads):
        for limit, time, energy in SHAPE:
            seconds, joules = time ** (1 + 0.3 * k), 200 * energy
            rows.append(f"V100,{name},{name},{limit},,,{seconds:.6g},{joules / seconds:.6g},{joules:.6g}\n")
    return HEADER + "".join(rows)


class OtherPages(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.box = Machine(rate=40, seed=3)
        cls.addClassCleanup(cls.box.close)
        cls.table = cls.box.folder / "table.csv"
        cls.table.write_text(table_text())

    def made(self, *words, expect=0):
        done = self.box.run(*words)
        self.assertEqual(done.returncode, expect, done.stderr)
        return done.stdout

    def page_of(self, file, name):
        out = self.box.folder / name
        self.made("export", file, "--format", "html", "-o", out)
        page = self.open(out)
        self.assert_quiet()
        self.assert_accessible(page)
        return page

    def document(self, name, *words):
        file = self.box.folder / name
        file.write_text(self.made(*words, "--json"))
        return file, json.loads(file.read_text())

    def test_two_runs_on_one_axis(self):
        for _ in range(2):
            self.made("measure", "--gpu", "0", "--", *self.box.train(80))
        ids = self.made("runs", "--ids").split()
        out = self.box.folder / "compare.html"
        self.made("compare", *ids, "--format", "html", "-o", out)
        told = json.loads(self.made("compare", *ids, "--json"))
        page = self.open(out)
        self.assertLessEqual({("Power", "A GPU 0"), ("Power", "B GPU 0"), ("Iteration time", "A iterations")}, set(in_view(page)))
        row = page.locator("table", has_text="Whole runs").locator("tr", has_text="mean power").first.locator("td")
        self.assertAlmostEqual(figure(row.nth(0).text_content()), told["whole_run"]["mean_power_w"]["a"], delta=0.06)
        self.assert_accessible(page)
        self.assert_quiet()
        self.assertIn("already there", self.box.run("compare", *ids, "--format", "html", "-o", out).stderr)
        self.assertEqual(self.box.run("compare", *ids, "--format", "html", "--json").returncode, 125)

    def test_a_sweep_table_has_curves_and_a_front(self):
        page = self.page_of(self.table, "table.html")
        self.assertEqual(page.locator("h2").count(), 3)
        self.assertIn("<b>rnn</b>", page.evaluate("document.getElementById('main').textContent"))
        self.assertEqual(page.locator(".picture").count(), 6)
        # 100 W is slower than 125 W and takes more energy: everything but that and the default is on the front.
        plane = page.locator(".picture").first
        self.assertEqual(plane.locator(".mark.later").count(), 1)

    def test_a_measured_sweep_shows_its_intervals(self):
        settings = []
        for limit, time, energy in SHAPE:
            around = lambda v: {"value": v, "low_90": v * 0.99, "high_90": v * 1.01}
            settings.append({"setting": {"power_limit_w": limit, "sm_clock_mhz": None, "memory_clock_mhz": None}, "default": limit == 250, "used": True, "runs": 3,
                             "time_s": time, "energy_j": 200 * energy, "power_w": 200 * energy / time, "time_over_default": around(time),
                             "energy_over_default": around(energy), "edp_over_default": around(time * energy), "reached": {}, "not_used": [], "notes": []})
        best = settings[2]["setting"]
        document = {"schema": "rubato.sweep/1", "command": "train.py", "gpu": "V100", "workload": "train.py", "unit_of_work": "iteration", "complete": True,
                    "quality": "modelled", "found_power_limit_w": 250, "settings": settings, "best": {"energy": {"setting": settings[1]["setting"]}},
                    "best_inside_bound": {"max_slowdown": 0.05, "setting": best, "surely": True}, "scatter": {"time": 0.01, "energy": 0.01}}
        file = self.box.folder / "sweep.json"
        file.write_text(json.dumps(document))
        page = self.page_of(file, "sweep.html")
        self.assertEqual(page.locator(".picture").first.locator(".bar").count(), 2 * len(SHAPE))
        self.assertIn("150 W takes the least energy", page.evaluate("document.getElementById('main').textContent"))

    def test_what_a_sweep_writes_is_shown_to_its_end(self):
        out = self.box.folder / "own.html"
        command = ("sweep", "--gpu", "0", "--knob", "power-limit=120:200:40", "--output", self.box.folder / "own.csv")
        job = ("--", *self.box.train(40))
        self.made(*command, "--report", out, *job)
        page = self.open(out)
        self.assert_quiet()
        text = page.evaluate("document.getElementById('main').textContent")
        self.assertNotIn("cannot be shown", text)
        self.assertIn("The least energy was taken at", text)
        self.assertIn("--iterations 40", page.locator("p.command").text_content())
        self.assertGreaterEqual(page.locator("table tr").count(), 3)

    def test_a_validation_shows_predicted_against_measured(self):
        file, told = self.document("validate.json", "model", "validate", "--table", self.table, "--knobs", "power-limit", "-v")
        page = self.page_of(file, "validate.html")
        self.assertIn("%.2f %%" % (100 * told["energy_mape"]), page.evaluate("document.getElementById('main').textContent"))
        rows = sum(1 for w in told["per_workload"] for row in w["rows"] if not row["probed"] and row["time"] != 1)
        self.assertEqual(page.locator(".picture").first.locator(".mark").count(), rows)

    def test_a_lab_run_shows_every_strategy(self):
        file, told = self.document("lab.json", "lab", "run", "--table", self.table, "--strategies", "bisection,rubato", "--iterations", "300",
                                   "--iteration-seconds", "1", "--max-slowdown", "5%")
        page = self.page_of(file, "lab.html")
        text = page.evaluate("document.getElementById('main').textContent")
        for strategy in told["strategies"]:
            self.assertIn(strategy["name"], text)
        self.assertEqual(page.locator(".mark.chosen").count(), sum(s["applicable"] for s in told["strategies"]))

    def test_other_files_are_refused_by_name(self):
        other = self.box.folder / "other.json"
        other.write_text('{"schema": "rubato.doctor/1"}')
        done = self.box.run("export", other, "--format", "html")
        self.assertEqual(done.returncode, 1)
        self.assertIn("rubato.doctor/1", done.stderr)
        other.write_text('{"schema": ')
        self.assertIn("no JSON document", self.box.run("export", other, "--format", "html").stderr)
        other.write_text("a,b\n1,2\n")
        self.assertEqual(self.box.run("export", other, "--format", "html").returncode, 1)
