"""rubato latency on simulated GPUs: changes timed, kept for the GPU, everything put back, and what it refuses."""

import json
import os
import signal
import unittest

from harness import SOURCE, MachineTest, in_one_world_of, wait_until

GPU = "sim:v100"
RATES = (5, 1)
PAIRS = "810:1200,1200:810"  # well inside the limit that is found
LATENCY = json.loads((SOURCE / "gpus" / "v100-pcie-16gb.json").read_text())["clock_latency"]["value"]


class LatencyTest(MachineTest):
    def setUp(self):
        self.enter(RATES[0])

    def enter(self, rate, **scenario):
        self.box = self.machine(rate=rate, **scenario)

    def latency(self, *words):
        return self.box.run("latency", "--gpu", GPU, *words)

    def stored(self):
        return sorted((self.box.folder / "state" / "rubato" / "latency").glob("*.json"))

    def assert_untouched(self):
        self.assertIsNone(self.box.gpu().sm_lock())
        self.assertEqual(self.box.journals(), [])


class Timed(LatencyTest):
    @in_one_world_of(*RATES)
    def test_changes_are_timed_kept_for_the_gpu_and_put_back(self):
        done = self.latency("--pairs", PAIRS, "--repeats", "3", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["schema"], "rubato.latency/1")
        self.assertEqual(told["kind"], "modelled")
        self.assertIsNone(told["asking_s"])
        self.assertEqual([p["clock"]["n"] for p in told["pairs"]], [3, 3])
        low = LATENCY["typical_s"] * (1 - LATENCY["spread"]) * 0.8
        high = LATENCY["typical_s"] * (1 + LATENCY["spread"]) * 1.2
        for pair in told["pairs"]:
            self.assertGreater(pair["clock"]["median_s"], low)
            self.assertLess(pair["clock"]["median_s"], high)
        (file,) = self.stored()
        self.assertEqual(json.loads(file.read_text()), told)
        self.assertEqual(file.stem, told["uuid"])
        self.assert_untouched()
        self.assertEqual(self.box.gpu().processes(), 0)

    def test_the_text_says_how_it_was_measured_and_where_it_is_kept(self):
        done = self.latency("--pairs", PAIRS, "--repeats", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("modelled", "either way", "power sensor", str(self.stored()[0])):
            self.assertIn(words, done.stdout)

    def test_ctrl_c_puts_back_and_keeps_nothing(self):
        process = self.box.start("latency", "--gpu", GPU, "--repeats", "50", start_new_session=True)
        wait_until(lambda: self.box.gpu().sm_lock() is not None, "a clock is locked")
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=self.box.patience)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, err)
        self.assertIn("interrupted", err)
        self.assertEqual(self.stored(), [])
        self.assert_untouched()


class Refused(LatencyTest):
    def refused(self, *words, says):
        done = self.latency(*words)
        self.assertEqual(done.returncode, 125, done.stdout + done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(self.stored(), [])
        self.assert_untouched()

    def test_a_dry_run_lists_the_changes_and_sets_nothing(self):
        done = self.latency("--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(told["schema"], "rubato.latency_plan/1")
        self.assertEqual(len(told["pairs"]), 12)
        self.assertEqual(self.stored(), [])
        self.assert_untouched()

    def test_what_was_typed_wrong(self):
        self.refused("--pairs", "811:1200", says="nearest")
        self.refused("--pairs", "0", says="1 to")
        self.refused("--load", "fp128", says="fp32")
        self.refused("--memory-clocks", says="memory clock")
        done = self.box.run("latency", "--gpu", f"{GPU},{GPU}")
        self.assertEqual(done.returncode, 125)

    def test_without_the_right(self):
        self.enter(RATES[0], rights="none")
        self.refused("--pairs", PAIRS, says="lets nobody set anything")

    def test_while_another_process_computes_there(self):
        self.box.gpu().limit()  # the world is made by the first who looks
        other = self.box.start("sim", "train", "resnet50", "--iterations", "100000")
        self.addCleanup(other.communicate)
        self.addCleanup(other.kill)
        wait_until(lambda: self.box.gpu().processes() == 1, "the other process computes")
        self.refused("--pairs", PAIRS, says=f"process {other.pid} computes on it")

    def test_where_nothing_would_outlive_it(self):
        self.enter(RATES[0], outlives_job=False)
        self.refused("--pairs", PAIRS, says="--accept-unrestored")


if __name__ == "__main__":
    unittest.main()
