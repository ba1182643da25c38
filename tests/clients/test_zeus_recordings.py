"""Twelve recordings of Zeus's power-limit optimizer on real V100 and A40: what Zeus's own code decides on them, and what the
searches of `rubato lab` make of the same measurements."""

import json
import os
import pathlib
import unittest

from clients import HERE, PYTHON, SOURCE, ClientTest, needs

DATA = pathlib.Path(os.environ.get("RUBATO_TEST_DATA", SOURCE / ".." / "shared" / "data"))
RECORDINGS = sorted((DATA / "zeus-format" / "zeus-optimizer-recordings").glob("*.csv"))
DECISIONS = SOURCE / "tests" / "govern" / "reference" / "zeus_decisions.tsv"


@unittest.skipUnless(RECORDINGS, "the recordings of Zeus's optimizer are not there")
class ZeusRecordings(ClientTest):
    @needs("zeus")
    def test_zeuss_own_code_still_decides_as_the_file_says_that_ours_is_held_to(self):
        machine = self.machine(profiles=",".join(["rtx3090"] * 4), found={})
        machine.environment["PYTHONPATH"] = str(HERE / "stand_ins")
        said = self.call(machine, PYTHON, "-W", "ignore", HERE / "zeus_decisions.py", *RECORDINGS)
        self.assertEqual(said, DECISIONS.read_text())

    def test_rubato_saves_more_than_zeus_by_the_recorded_numbers(self):
        machine = self.machine()
        table = machine.folder / "recordings.csv"
        done = machine.run("import", "zeus-optimizer", *RECORDINGS, "-o", table)
        self.assertEqual(done.returncode, 0, done.stderr)
        # Every limit costs what was recorded, and no other can be set.
        rows = ["--resolution", "table", "--truth", "raw", "--max-slowdown", "5%", "--iterations", "4000"]
        names = "rubato,rubato-fixed,zeus,zeus-energy"
        done = machine.run("lab", "run", "--table", table, *rows, "--strategies", names, "--seed", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        of = {s["name"]: s for s in json.loads(done.stdout)["strategies"]}
        for ours in ("rubato", "rubato-fixed"):
            self.assertEqual(of[ours]["workloads"], 12)
            self.assertEqual(of[ours]["bound_violations"], 0)
            for zeus in ("zeus", "zeus-energy"):
                self.assertGreater(of[ours]["saving_mean"], of[zeus]["saving_mean"], f"{ours}, {zeus}")


if __name__ == "__main__":
    unittest.main()
