"""rubato evidence on simulated GPUs: one file that is complete or says why not, tells nobody's name, and leaves no trace."""

import getpass
import json
import os
import re
import signal
import socket
import subprocess
import unittest

from harness import FOUND_W, SOURCE, MachineTest, in_one_world_of, wait_until

RATES = (15, 5)
# The least that has repeats of everything but the sweep's settings.
MINUTES = ("--minutes", "6")


class EvidenceTest(MachineTest):
    def setUp(self):
        self.enter(RATES[0])

    def enter(self, rate, **scenario):
        self.box = self.machine(rate=rate, **scenario)
        self.box.patience = 400
        self.file = self.box.folder / "evidence.json"

    def evidence(self, *words, gpu="sim:v100", **more):
        return self.box.run("evidence", "--gpu", gpu, "-o", self.file, *words, **more)

    def read(self):
        return json.loads(self.file.read_text())

    def assert_put_back(self):
        self.assertEqual(self.box.gpu().limit(), FOUND_W)
        self.assertIsNone(self.box.gpu().sm_lock())
        self.assertEqual(self.box.journals(), [])


class Gathered(EvidenceTest):
    @in_one_world_of(*RATES)
    def test_a_complete_file_and_everything_put_back(self):
        done = self.evidence(*MINUTES, environment={"USER": "ada.lovelace"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_put_back()
        told = self.read()
        self.assertEqual(told["schema"], "rubato.evidence/1")
        self.assertEqual(told["missing"], [])
        self.assertIs(told["complete"], True)
        self.assertEqual(told["kind"], "modelled", "a simulated GPU must not pass for hardware")
        self.assertEqual(told["power_limit"], {"before_w": FOUND_W, "after_w": FOUND_W, "restored": True})
        self.assertLess(told["minutes_taken"], 1.3 * float(MINUTES[1]))
        self.check_sweep(told["sweeps"][0])
        self.check_blocks(told["control_blocks"])
        self.check_switching(told["switching"])
        self.check_private()
        self.check_page()

    def check_sweep(self, sweep):
        self.assertEqual(sweep["kernel"], "fp32")
        settings = {s["setting"]["power_limit_w"]: s for s in sweep["summary"]["settings"] if not s["setting"]["sm_clock_mhz"]}
        low = settings[100]
        # A limit far below what multiply-adds draw costs them much time.
        self.assertGreater(low["time_over_found"]["value"], 1.3)
        self.assertLess(low["time_over_found"]["value"], 2.5)
        # What the GPU was found at has no limit of ours, and is what all is compared with.
        self.assertEqual(settings[None]["energy_over_found"]["value"], 1)
        self.assertTrue(all(step["power_w"] < 105 for step in sweep["steps"] if step["setting"]["power_limit_w"] == 100))

    def check_blocks(self, blocks):
        found = [b["setting"]["found"] for b in blocks["blocks"]]
        self.assertEqual(found, [True, False, False, True] * (len(found) // 4))
        effect = blocks["effect"]
        self.assertEqual(effect["cycles"], len(found) // 4)
        self.assertGreaterEqual(effect["cycles"], 2)
        self.assertGreater(effect["time_change"]["mean"], 0)
        self.assertLess(effect["energy_change"]["mean"], 0)
        self.assertGreater(effect["time_change"]["half_width_95"], 0)
        self.assertLess(abs(effect["time_drift"]["mean"]), 0.02, "the simulated board does not slow down by itself")

    def check_switching(self, switching):
        self.assertGreater(switching["resolution_s"], 0)
        directions = switching["directions"]
        self.assertEqual(len(directions), 4, "two knobs, there and back")
        for direction in directions:
            of = direction["sm_clock"]["of"]
            self.assertGreaterEqual(of, 3)
            self.assertGreater(direction["sm_clock"]["count"], of / 2, direction)
            self.assertLess(direction["sm_clock"]["most_s"], 3)
            self.assertLessEqual(direction["sm_clock"]["least_s"], direction["sm_clock"]["median_s"])
            limit = direction["from"]["power_limit_w"] or direction["to"]["power_limit_w"]
            self.assertEqual(direction["read_back"]["count"] > 0, limit is not None)

    def check_private(self):
        text = self.file.read_text()
        for name in ("ada.lovelace", str(self.box.folder), self.box.environment["HOME"], "GPU-"):
            self.assertNotIn(name, text)
        for name in (socket.gethostname(), getpass.getuser()):
            if name != "root":
                self.assertIsNone(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text), name)
        self.assertIsNone(re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text), "a UUID")
        self.assertIsNone(re.search(r"[0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.", text), "a PCI address")
        self.assertIsNone(re.search(r"\d{8}-\d{6}", text), "the name of a run tells the time of day")

    def check_page(self):
        """Nothing simulated gets on the page about hardware; the same file from a real board would."""
        tool = [str(SOURCE / "tools" / "evidence-page"), str(self.box.folder / "contributed")]
        there = self.box.folder / "contributed"
        there.mkdir()
        (there / "a.json").write_text(self.file.read_text())
        refused = subprocess.run(tool, capture_output=True, text=True, check=False)
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        (there / "a.json").write_text(json.dumps({**self.read(), "kind": "measured"}))
        page = subprocess.run(tool, capture_output=True, text=True, check=False)
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertIn(f"## {self.read()['gpu']['name']}, {self.read()['date']}, driver", page.stdout)

    def test_clocks_locked_by_somebody_are_left_alone_and_limits_measured_all_the_same(self):
        """Through the driver's own library, as on hardware."""
        self.enter(15, found={"power_limit_w": FOUND_W, "sm_clock_mhz": [900, 900]})
        done = self.evidence(*MINUTES, gpu="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.box.gpu().sm_lock(), 900)
        self.assertEqual(self.box.gpu().limit(), FOUND_W)
        told = self.read()
        self.assertIs(told["complete"], False)
        self.assertIn("lock", {m["part"]: m["why"] for m in told["missing"]}["sm-clock"])
        settings = [s["setting"] for s in told["sweeps"][0]["summary"]["settings"]]
        self.assertIn(100, [s["power_limit_w"] for s in settings], done.stderr)
        self.assertEqual({s["sm_clock_mhz"] for s in settings}, {None})
        self.assertEqual(len(told["switching"]["directions"]), 2, "the power limit, there and back")


class Refused(EvidenceTest):
    def refusal(self, *words):
        done = self.evidence(*words)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(self.box.journals(), [])
        return done.stderr

    def test_a_dry_run_says_what_would_be_done_and_does_nothing(self):
        done = self.evidence("--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("takes about", done.stdout)
        self.assertRegex(done.stdout, r"puts back\s+200 W")
        self.assertIn("fp32", done.stdout)
        self.assertFalse(self.file.exists())
        self.assertEqual(self.box.run("runs", "--json").stdout.count("run_id"), 0, "no run was made")
        self.assert_put_back()
        plan = json.loads(self.evidence("--dry-run", "--json").stdout)
        self.assertLessEqual(plan["length_s"], 1800)
        self.assertEqual(plan["puts_back_w"], FOUND_W)

    def test_without_the_right_to_set_it_does_not_begin(self):
        self.enter(15, rights="none")
        self.assertIn("cannot set the power limit", self.refusal(*MINUTES))
        self.assertFalse(self.file.exists())

    def test_a_file_that_is_there_stays(self):
        self.file.write_text("mine\n")
        self.assertIn("--force", self.refusal(*MINUTES))
        self.assertEqual(self.file.read_text(), "mine\n")

    def test_a_file_that_cannot_be_written_is_told_before_half_an_hour_of_measuring(self):
        self.file = self.box.folder / "no-such-folder" / "evidence.json"
        self.assertIn("no-such-folder", self.refusal(*MINUTES))

    def test_too_little_time_and_commands_are_refused_with_a_way_out(self):
        self.assertIn("--minutes", self.refusal("--minutes", "1"))
        self.assertIn("rubato sweep", self.refusal("--", "true"))


class Interrupted(EvidenceTest):
    def test_ctrl_c_puts_everything_back_and_the_file_says_it_is_partial(self):
        process = self.box.start("evidence", "--gpu", "sim:v100", "-o", self.file, *MINUTES, start_new_session=True)
        gpu = self.box.gpu()
        wait_until(lambda: gpu.limit() != FOUND_W or gpu.sm_lock() is not None, "a setting of the sweep")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assert_put_back()
        told = self.read()
        self.assertIs(told["complete"], False)
        self.assertIn({"part": "the rest", "why": "interrupted"}, told["missing"])
        self.assertIsNone(told["switching"])
        self.assertIs(told["power_limit"]["restored"], True)


if __name__ == "__main__":
    unittest.main()
