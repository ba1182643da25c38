"""The page about real GPUs: every figure with its board, date and driver, nothing simulated, nothing private."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "evidence-page"

FOUND = {"found": True, "power_limit_w": None, "sm_clock_mhz": None}
LIMITED = {"found": False, "power_limit_w": 150.0, "sm_clock_mhz": None}
TIMES = {"count": 7, "of": 8, "least_s": 0.05, "median_s": 0.12, "mean_s": 0.13, "most_s": 0.3, "deviation_s": 0.05}
UNSEEN = {"count": 0, "of": 8, "least_s": None, "median_s": None, "mean_s": None, "most_s": None, "deviation_s": None}
EVIDENCE = {
    "schema": "rubato.evidence/1",
    "missing": [],
    "kind": "measured",
    "date": "2026-12-01",
    "rubato_version": "0.6.0",
    "minutes_taken": 28.0,
    "gpu": {
        "name": "A made board",
        "driver_version": "550.54.14",
        "sensor": {"update_period_s": 0.1, "averaging_window_s": None},
        "power_limits": {"requested_w": 200.0, "min_w": 100.0, "max_w": 250.0},
    },
    "sweeps": [{
        "kernel": "fp32",
        "description": "chains",
        "summary": {"settings": [
            {"setting": FOUND, "steps": 4, "time_over_found": {"value": 1.0, "low_90": None, "high_90": None},
             "energy_over_found": {"value": 1.0, "low_90": None, "high_90": None}},
            {"setting": LIMITED, "steps": 2, "time_over_found": {"value": 1.1, "low_90": 1.08, "high_90": 1.12},
             "energy_over_found": {"value": 0.85, "low_90": None, "high_90": None}},
        ]},
    }],
    "control_blocks": None,
    "switching": {"kernel": "fp32", "resolution_s": 0.012,
                  "directions": [{"from": FOUND, "to": LIMITED, "read_back": TIMES, "sm_clock": TIMES, "power": UNSEEN}]},
}


class EvidencePage(unittest.TestCase):
    def page(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in files.items():
                (pathlib.Path(folder) / f"{name}.json").write_text(json.dumps(content))
            return subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True, check=False)

    def changed(self, **keys):
        return {**copy.deepcopy(EVIDENCE), **keys}

    def test_without_a_contribution_it_says_so(self):
        done = self.page()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("No contribution yet", done.stdout)

    def test_the_page_in_the_tree_is_the_one_it_makes(self):
        root = TOOL.parents[1]
        made = subprocess.run([sys.executable, str(TOOL)], capture_output=True, text=True, check=True).stdout
        self.assertEqual((root / "docs" / "evidence" / "hardware.md").read_text(), made)

    def test_figures_stand_under_their_board_date_and_driver(self):
        done = self.page(a=EVIDENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("No contribution yet", done.stdout)
        self.assertIn("## A made board, 2026-12-01, driver 550.54.14", done.stdout)
        self.assertIn("| 150 W | 2 | +10.0 % ± 2.0 | -15.0 % |", done.stdout)
        self.assertIn("0.120 (0.050 to 0.300; 7 of 8)", done.stdout)
        self.assertIn("not seen (0 of 8)", done.stdout)
        self.assertIn("averaging over: unknown", done.stdout)

    def test_what_is_missing_is_on_the_page(self):
        done = self.page(a=self.changed(missing=[{"part": "switching", "why": "interrupted"}], switching=None))
        self.assertIn("missing: switching: interrupted", done.stdout)

    def test_nothing_simulated_gets_on_it(self):
        done = self.page(a=self.changed(kind="modelled"))
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("modelled", done.stderr)

    def test_a_file_that_tells_who_made_it_is_refused(self):
        for why in ("GPU-0a0b0c0d-1111-2222-3333-444455556666 lost", "cannot open /home/ada/x", "0000:1b:00.0 gone"):
            done = self.page(a=self.changed(missing=[{"part": "x", "why": why}]))
            self.assertEqual((done.returncode, done.stdout), (1, ""), why)

    def test_a_file_of_another_kind_or_a_broken_one_is_named(self):
        self.assertIn("a.json", self.page(a={"schema": "rubato.run/1"}).stderr)
        broken = self.changed()
        del broken["gpu"]
        self.assertEqual(self.page(a=broken).returncode, 1)


if __name__ == "__main__":
    unittest.main()
