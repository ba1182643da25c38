"""rubato layers plan: clocks for layers, what they save and what was refused; the file that run reads."""

import json
import unittest

from harness import MachineTest

RESNET = ("resnet50", "--batch", 64, "--gpu", "sim:rtxa4000")


class LayersPlan(MachineTest):
    def setUp(self):
        self.box = self.machine(rate=40, found={})
        for name in ("RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "LD_LIBRARY_PATH"):  # sim: makes its own world
            self.box.environment.pop(name)

    def plans(self, *words):
        done = self.box.run("layers", "plan", *RESNET, *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_phase_is_no_worse_than_one_setting_and_keeps_the_bound(self):
        for words in ((), ("--ideal",), ("--delay", "5ms"), ("--pass", "forward")):
            shown = self.plans(*words, "--max-slowdown", "5%")
            plan = shown["plans"][0]
            self.assertEqual(shown["kind"], "modelled")
            self.assertEqual(plan["strategy"], "phase")
            self.assertLessEqual(plan["planned"]["energy_j"], shown["at_single"]["energy_j"] * (1 + 1e-9))
            self.assertLessEqual(plan["slowdown"], 0.05 + 1e-9)
            self.assertAlmostEqual(sum(phase["duration_s"] for phase in plan["phases"]) / plan["planned"]["time_s"], 1,
                                   delta=1e-6)

    def test_a_delay_longer_than_the_iteration_leaves_one_setting_and_says_how_much_too_short_layers_are(self):
        shown = self.plans("--delay", "2s")
        plan = shown["plans"][0]
        self.assertEqual(plan["changes_per_iteration"], 0)
        self.assertEqual(plan["planned"]["energy_j"], shown["at_single"]["energy_j"])
        self.assertGreater(plan["refused"]["stretches"], 0)
        self.assertGreater(plan["refused"]["needed_s"], plan["refused"]["longest_s"])

    def test_all_strategies_stand_beside_each_other(self):
        shown = self.plans("--strategy", "all", "--ideal")
        names = [plan["strategy"] for plan in shown["plans"]]
        self.assertEqual(names, ["single", "arithmetic-intensity", "exhaustive", "pass", "phase"])
        least = min(plan["planned"]["energy_j"] for plan in shown["plans"])
        self.assertEqual(least, shown["plans"][-1]["planned"]["energy_j"])

    def test_the_file_says_what_it_is_for(self):
        file = self.box.folder / "plan.json"
        done = self.box.run("layers", "plan", *RESNET, "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        plan = json.loads(file.read_text())
        self.assertEqual(plan["schema"], "rubato.layer-plan/1")
        self.assertEqual((plan["board"], plan["network"], plan["batch"]), ("NVIDIA RTX A4000", "resnet50", 64))
        self.assertIsNone(plan["uuid"])
        self.assertNotIn("only_pass", plan)
        self.box.run("layers", "plan", *RESNET, "--pass", "forward", "-o", file, "--force")
        self.assertEqual(json.loads(file.read_text())["only_pass"], "forward")

    def test_a_file_that_is_there_stays_without_force(self):
        file = self.box.folder / "network.json"
        file.write_text("a network described by hand\n")
        done = self.box.run("layers", "plan", *RESNET, "-o", file)
        self.assertEqual(done.returncode, 125)
        self.assertIn("--force", done.stderr)
        self.assertEqual(file.read_text(), "a network described by hand\n")
        done = self.box.run("layers", "plan", *RESNET, "-o", file, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(file.read_text())["schema"], "rubato.layer-plan/1")

    def test_what_cannot_be_planned_is_refused_with_what_to_type(self):
        for words, said in (((*RESNET, "--delay", "5x"), "--delay 30ms"),
                            ((*RESNET, "--host-watts", "nan"), "not a number"),
                            ((*RESNET, "--strategy", "best"), "arithmetic-intensity"),
                            ((*RESNET, "--strategy", "all", "-o", self.box.folder / "x.json"), "-o writes one plan"),
                            ((*RESNET, "--ideal", "-o", self.box.folder / "x.json"), "leave --ideal out"),
                            (("resnet50", "--batch", 64, "--gpu", "sim:v100", "--memory-clocks"), "memory clock")):
            done = self.box.run("layers", "plan", *words)
            self.assertEqual(done.returncode, 125)
            self.assertEqual(done.stdout, "")
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main()
