"""rubato pipeline frontier on profiles made here: files, figures, stragglers, and what is refused."""

import ast
import csv
import json
import unittest

from harness import SOURCE, MachineTest

HEADER = "stage,instruction,frequency,time,energy\n"
MEASURED = SOURCE.parent / "shared" / "data" / "pipeline"


def profile(stages=2):
    """1 s and 500 J at 1400 MHz, 2 s and 300 J at 700, 3 s and 380 J at 350; a waiting stage draws 100 W."""
    clocks = [(1400, 1, 500), (700, 2, 300), (350, 3, 380)]
    return HEADER + "".join(
        f"{stage},{name},{mhz},{s},{j}\n" for stage in range(stages) for name in ("forward", "backward") for mhz, s, j in clocks
    )


class Pipeline(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def file(self, text, name="profile.csv"):
        path = self.box.folder / name
        path.write_text(text)
        return path

    def frontier(self, source, *words, microbatches=2):
        return self.box.run("pipeline", "frontier", source, "--microbatches", microbatches, *words)

    def said(self, source, *words, **options):
        done = self.frontier(source, "--json", *words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, text, *words, **options):
        done = self.frontier(self.file(text, "bad.csv"), *words, **options)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_the_frontier_is_written_as_perseus_writes_it_and_kept_unless_forced(self):
        target = self.box.folder / "frontier.csv"
        words = ("--blocking-power", 100, "--time-unit", "500ms", "-o", target)
        said = self.said(self.file(profile()), *words)
        with target.open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0])[:2], ["time", "energy"])
        self.assertEqual([(float(r["time"]), float(r["energy"])) for r in rows],
                         [(p["time_s"], p["energy_j"]) for p in said["points"]])
        self.assertEqual(float(rows[0]["time"]), 6)
        energies = [float(r["energy"]) for r in rows]
        self.assertEqual(energies, sorted(energies, reverse=True))
        self.assertEqual(said["schema"], "rubato.pipeline-frontier/1")
        self.assertEqual(said["all_at_highest_clock"], {"time_s": 6, "energy_j": 8 * 400 + 200 * 6})
        self.assertIs(said["blocking_power_assumed"], False)
        self.assertEqual(self.frontier(self.file(profile()), *words).returncode, 125)
        self.assertEqual(self.frontier(self.file(profile()), *words, "--force").returncode, 0)

    def test_the_clocks_of_the_fastest_iteration_slow_only_what_waits_anyway(self):
        clocks = self.box.folder / "clocks.py"
        self.said(self.file(profile()), "--blocking-power", 100, "--clocks", clocks)
        self.assertEqual(
            ast.literal_eval(clocks.read_text()),
            [
                [("forward", 1400), ("forward", 700), ("backward", 700), ("backward", 1400)],
                [("forward", 1400), ("backward", 1400), ("forward", 1400), ("backward", 1400)],
            ],
        )

    def test_a_longer_iteration_gives_its_time_away(self):
        choice = self.said(self.file(profile()), "--blocking-power", 100, "--deadline", "8s")["choice"]
        self.assertEqual(choice["deadline_s"], 8)
        self.assertLessEqual(choice["realised_time_s"], 8)
        self.assertLess(choice["until_deadline"]["energy_j"], choice["clocks_of_fastest_kept"]["energy_j"])

    def test_the_others_slow_down_for_a_straggler(self):
        said = self.said(self.file(profile()), "--blocking-power", 100, "--straggler", "1=2")
        self.assertEqual(said["stragglers"], [{"stage": 1, "factor": 2}])
        # Stage 0 has four seconds for each of two instructions it ran in two; 380 J, and not 300 and 100 more of waiting.
        self.assertAlmostEqual(said["choice"]["clocks_of_fastest_kept"]["energy_j"] - said["choice"]["until_deadline"]["energy_j"], 40)
        text = self.frontier(self.file(profile()), "--blocking-power", 100, "--straggler", "1=2").stdout
        self.assertIn("stage 1, 2 times as long", text)

    def test_an_assumed_blocking_power_says_so(self):
        self.assertIs(self.said(self.file(profile()))["blocking_power_assumed"], True)
        self.assertIn("assumed", self.frontier(self.file(profile())).stdout)

    def test_what_would_be_lost_or_counted_twice_is_refused(self):
        for words, said in ((("--clocks", "-", "--json"), "--clocks - and --json"),
                            (("--clocks", "-", "-o", "-"), "-o and --clocks both want"),
                            (("--clocks", "x.csv", "-o", "x.csv", "--force"), "-o and --clocks both want x.csv"),
                            (("--straggler", "1=1.2", "--straggler", "1=1.2"), "stage 1 is named twice")):
            self.assertIn(said, self.refused(profile(), "--blocking-power", 100, *words))

    def test_what_cannot_be_planned_is_named(self):
        whole = profile()
        self.assertIn("stage 1 has no backward", self.refused("".join(l for l in whole.splitlines(True) if "1,backward" not in l)))
        self.assertIn("stage 1 forward has no row at 350 MHz", self.refused(whole.replace("1,forward,350,3,380\n", "")))
        self.assertIn("line 14: stage 1 backward at 350 MHz", self.refused(whole + "1,backward,350,3,380\n"))
        self.assertIn("line 2: column energy: 'much' is no number", self.refused(whole.replace("500", "much", 1)))
        self.assertIn("unknown column 'power'", self.refused(whole.replace("energy", "energy,power", 1)))
        self.assertIn("1 stage", self.refused(profile(1)))
        self.assertIn("--microbatches 0", self.refused(whole, microbatches=0))
        self.assertIn("stage 0 forward at 350 MHz draws 126.7 W", self.refused(whole, "--blocking-power", 140))
        self.assertIn("no STAGE=FACTOR", self.refused(whole, "--blocking-power", 100, "--straggler", "one"))
        self.assertIn("stages 0 to 1", self.refused(whole, "--blocking-power", 100, "--straggler", "2=1.1"))
        self.assertIn("the fastest iteration takes 6", self.refused(whole, "--blocking-power", 100, "--deadline", "5s"))
        self.assertIn("--time-unit soon", self.refused(whole, "--time-unit", "soon"))
        self.assertEqual(self.frontier(self.box.folder / "missing.csv").returncode, 125)

    @unittest.skipUnless(MEASURED.is_dir(), "Perseus' profiles are not there")
    def test_perseus_own_profiles_give_no_more_energy_than_it_published(self):
        for name, least_s in (("gpt3-175b", 3.187), ("bloom", 3.287)):
            source = next(MEASURED.glob(f"{name}+*.csv"))
            said = self.said(source, "--time-unit", "1ms", "--blocking-power", 83, microbatches=12)
            self.assertEqual(said["stages"], 8)
            ours = {round(1000 * p["time_s"]): p["energy_j"] for p in said["points"]}
            with next(MEASURED.glob(f"{name}_*mb12.csv")).open() as file:
                theirs = {round(1000 * float(r["time"])): float(r["energy"]) for r in csv.DictReader(file)}
            self.assertEqual(min(ours), min(theirs))
            for time, energy in theirs.items():
                if time <= 1000 * least_s:
                    self.assertLess(ours[min(time, max(ours))], energy)


if __name__ == "__main__":
    unittest.main()
