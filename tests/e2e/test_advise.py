"""rubato advise: measures a job without touching a setting, then says what to set, or why nothing."""

import json
import unittest

from harness import MachineTest

HEADER = "gpu,workload,group,power_limit_w,sm_clock_mhz,memory_clock_mhz,time_s,power_w,energy_j\n"
# Over the default at 250 W: time and energy.
SHAPE = {250: (1.00, 1.00), 225: (1.00, 0.97), 200: (1.01, 0.91), 175: (1.03, 0.85), 150: (1.09, 0.80),
         125: (1.25, 0.81), 100: (1.60, 0.90)}


def table(gpu, shape=None):
    text = HEADER
    for k in range(8):
        for limit, (time, energy) in (shape or SHAPE).items():
            # A few tenths of a percent between workloads.
            t, e = time * (1 + 0.001 * (k % 3)) ** (limit < 250), 200 * energy * (1 - 0.001 * (k % 4)) ** (limit < 250)
            text += "%s,w%d,g%d,%d,,,%.6f,%.6f,%.6f\n" % (gpu, k, k, limit, t, e / t, e)
    return text


class Advise(MachineTest):
    def setUp(self):
        self.box = self.machine(rate=40)
        self.job = ("--", *self.box.command("sim", "train", "transformer", "--iterations", "60"))

    def table(self, text):
        file = self.box.folder / "table.csv"
        file.write_text(text)
        return file

    def advise(self, *words):
        done = self.box.run("advise", "--gpu", "sim:v100", "--json", *words, *self.job)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stderr[done.stderr.index("{\n"):])

    def test_it_names_a_setting_with_its_saving_and_changes_nothing(self):
        limit = self.box.gpu().limit()
        said = self.advise("--table", self.table(table("V100")), "--max-slowdown", "5%")
        self.assertEqual(said["schema"], "rubato.advise/1")
        self.assertEqual(said["answer"], "set", said["why"])
        self.assertEqual(said["measured"]["quality"], "modelled")
        self.assertEqual(said["measured"]["unit"], "iteration")
        self.assertTrue(100 <= said["setting"]["power_limit_w"] < limit)
        saved = said["energy_saved"]
        self.assertTrue(0 < saved["low"] < saved["median"] < saved["high"] < 0.3)
        self.assertLess(said["slowdown"]["median"], 0.05)
        self.assertGreater(said["price_of_a_second"]["one_less_costs_j"], 0)
        self.assertEqual(said["model"]["gpus_seen"], ["V100"])
        self.assertIn("--power-limit", said["next_command"])
        self.assertEqual(self.box.gpu().limit(), limit)

    def test_a_gpu_the_model_never_saw_gets_no_number(self):
        said = self.advise("--table", self.table(table("T4")))
        self.assertEqual(said["answer"], "refused")
        self.assertNotIn("energy_saved", said)
        self.assertIn("T4", said["why"])
        self.assertTrue(said["next_command"].startswith("rubato sweep"))

    def test_a_v100_has_a_carried_model(self):
        said = self.advise("--confidence", "50%")
        self.assertEqual(said["answer"], "set", said["why"])
        self.assertEqual(said["model"]["gpus_seen"], ["V100"])
        self.assertIn("carried", said["model"]["name"])
        self.assertGreaterEqual(said["holds"], 0.5)

    def test_without_a_model_of_the_gpu_and_knob_the_built_in_one_says_what_it_is_worth(self):
        said = self.advise("--knobs", "sm-clock")
        self.assertIn(said["answer"], ("set", "stay"))
        self.assertEqual(said["model"]["gpus_seen"], [])
        self.assertFalse(said["model"]["gpu_seen"])
        worth = said["model"]["saving_on_unseen_gpus"]
        self.assertTrue(0 < worth["low"] < worth["high"] < 0.1, worth)
        if said["answer"] == "set":
            self.assertGreaterEqual(said["holds"], 0.8)

    def test_a_kept_model_of_this_gpu_is_used(self):
        folder = self.box.folder / "state" / "rubato" / "models"
        folder.mkdir(parents=True)
        trained = self.box.run("model", "train", "--table", self.table(table("V100")), "--knobs", "power-limit",
                               "--model", "mean-curve", "-o", folder / "mine.json")
        self.assertEqual(trained.returncode, 0, trained.stderr)
        said = self.advise()
        self.assertIn("mine.json", said["model"]["name"])
        self.assertEqual(said["answer"], "set", said["why"])

    def test_probes_are_made_and_undone_and_told(self):
        limit = self.box.gpu().limit()
        said = self.advise("--table", self.table(table("V100")), "--probe", "1")
        self.assertEqual(len(said["measured"]["probes"]), 1)
        probe = said["measured"]["probes"][0]
        self.assertLess(probe["setting"]["power_limit_w"], limit)
        self.assertGreater(probe["energy_j"], 0)
        self.assertEqual(self.box.gpu().limit(), limit)

    def test_nothing_to_save_is_an_answer(self):
        shape = {250: (1.0, 1.0), 200: (1.1, 1.05), 150: (1.3, 1.1)}
        said = self.advise("--table", self.table(table("V100", shape)))
        self.assertEqual(said["answer"], "stay")
        self.assertIsNone(said["setting"])
        self.assertTrue(said["why"])

    def test_an_earlier_run_is_advised_on_without_running_again(self):
        file = self.table(table("V100"))
        self.advise("--table", file)
        done = self.box.run("advise", "--run", "last", "--table", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("of the board's", done.stdout)
        self.assertIn("1 s less", done.stdout)
        self.assertIn("it has seen V100", done.stdout)

    def test_what_is_of_measuring_is_refused_with_an_earlier_run(self):
        for words in (("--meter", "rapl"), ("--counters", "off"), ("--no-hooks",)):
            done = self.box.run("advise", "--run", "last", *words)
            self.assertEqual(done.returncode, 125, done.stdout)
            self.assertIn(words[0], done.stderr)

    def test_the_jobs_status_is_its_own(self):
        done = self.box.run("advise", "--gpu", "sim:v100", "--table", self.table(table("V100")), "--", "sh", "-c", "exit 7")
        self.assertEqual(done.returncode, 7)

    def test_what_cannot_be_answered_is_said_before_the_job_runs(self):
        mark = self.box.folder / "ran"
        job = ("--", "touch", str(mark))
        for words in (("--table", self.box.folder / "missing.csv"), ("--knobs", "voltage"),
                      ("--max-slowdown", "500%"), ("--objective", "speed")):
            done = self.box.run("advise", "--gpu", "sim:v100", *words, *job)
            self.assertEqual(done.returncode, 125, (words, done.stderr))
            self.assertFalse(mark.exists())


if __name__ == "__main__":
    unittest.main()
