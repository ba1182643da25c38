"""The first ten minutes of five users, each on a machine of its own; docs/first-run.md shows what they saw."""

import unittest

import page
from place import PlaceTest
from situations import SITUATIONS, settled


class FirstRun(PlaceTest):
    maxDiff = None

    def seen(self, name):
        """Runs the situation, compares it with the page, and returns [(output, status)]."""
        situation = next(s for s in SITUATIONS if s.name == name)
        transcript = situation.transcript()
        now = page.section(situation, transcript)
        now = "\n".join(line for line in now.splitlines() if line.startswith("    "))
        self.assertEqual(
            settled(page.transcript_on_page(situation.title)), settled(now),
            "docs/first-run.md is not what rubato prints now; tests/e2e/first_run/page.py writes it anew",
        )
        return [(output, status) for _, output, status in transcript]

    def test_a_laptop_without_a_gpu(self):
        (bare, bare_status), (measured, _), (doctor, doctor_status), (_, demo_status) = self.seen("laptop")
        self.assertEqual(bare_status, 0)
        lines = bare.splitlines()
        measured_at = next(i for i, line in enumerate(lines) if "nothing was measured" in line)
        self.assertIn("rubato run --gpu sim:v100", lines[measured_at + 1], "the next line offers the demo")
        self.assertIn("status 3", measured)
        self.assertNotEqual(doctor_status, 0)
        self.assertIn("missing", doctor)
        self.assertEqual(demo_status, 0, "the command that is offered works")

    def test_a_workstation_with_sudo(self):
        (doctor, _), (without, _), (run, status), (report, _) = self.seen("workstation")
        self.assertIn("rubato run --sudo", doctor)
        self.assertIn("iteration 300/300", run)
        self.assertEqual(status, 0, run)
        self.assertEqual(run.splitlines()[0], "ada", "the job is the user's")
        self.assertRegex(report, r"set to +250 W")
        self.assertRegex(report, r"put back +yes")
        self.assertEqual(report.splitlines()[-1], "ada", "so are its files")
        self.assertNotIn("with the right to set", run)
        self.assertIn("with the right to set", without)

    def test_a_slurm_node_without_root(self):
        (run, status), (doctor, _), (request, request_status) = self.seen("slurm")
        self.assertEqual(status, 0)
        self.assertIn("rubato doctor --request", run)
        self.assertIn("Slurm", doctor)
        self.assertEqual(request_status, 0)
        for needed in ("Subject:", "node17", "ada", "V100", "sudoers", "rubato restore"):
            self.assertIn(needed, request)

    def test_a_container_that_is_root_without_the_capability(self):
        (doctor, _), (run, status), (bound, _), (request, _) = self.seen("container")
        for output in (doctor, run):
            self.assertIn("the host withholds CAP_SYS_ADMIN", output)
            self.assertIn("no command here mends it", output)
            self.assertNotIn("--sudo", output)
        self.assertEqual(status, 0)
        self.assertIn("150 to 300 W", run)
        self.assertIn("with the right to set", bound)
        self.assertIn("--cap-add SYS_ADMIN", request)

    def test_eight_gpus_and_torchrun(self):
        _, (_, around), (gpus, _), (followers, _), (settings, _), (runs, _) = self.seen("node")
        self.assertEqual(around, 0)
        self.assertEqual(gpus.strip(), "8", "each GPU once")
        self.assertEqual(followers.strip(), "7", "one leads, the others follow")
        for line in ("8   found       200 W", "8   set to      180 W", "8   put back    yes"):
            self.assertIn(line, settings)
        self.assertEqual(runs.strip(), "2", "one record around, one inside")


if __name__ == "__main__":
    unittest.main()
