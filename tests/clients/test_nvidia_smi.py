"""NVIDIA's own tool: it sees what rubato set while the job runs, and that it is gone afterwards."""

import csv
import io
import re
import unittest

from clients import NVIDIA_SMI, ClientTest, needs, wait_until
from harness import FOUND_W


@needs("nvidia-smi")
class NvidiaSmi(ClientTest):
    def smi(self, machine, *arguments, **options):
        return self.call(machine, NVIDIA_SMI, *arguments, **options)

    def query(self, machine, *fields):
        text = self.smi(machine, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits", "-i", "0")
        (row,) = csv.reader(io.StringIO(text), skipinitialspace=True)
        return row

    def limit(self, machine):
        return float(self.query(machine, "power.limit")[0])

    def line(self, text, section, name):
        """One value of the long form, which repeats its names in every section."""
        found = re.search(rf"^ +{section}\n(?: +\S.*\n)*? +{name} +: (.*)$", text, re.MULTILINE)
        self.assertIsNotNone(found, f"no {section} / {name} in\n{text}")
        return found[1]

    def test_its_table_shows_the_gpu(self):
        table = self.smi(self.machine())
        self.assertIn("Tesla V100-PCIE-16GB", table)
        self.assertRegex(table, rf"\d+W / {FOUND_W}W")
        self.assertIn("No running processes found", table)

    def test_every_function_it_asks_for_is_there(self):
        machine = self.machine(profiles="v100,a100")
        self.assertNotIn("Function Not Found", self.smi(machine, "-q"))
        self.assertRegex(self.smi(machine, "dmon", "-c", "1"), r"\n +1 +\d+ +\d+ ")
        self.assertRegex(self.smi(machine, "pmon", "-c", "1"), r"\n +1 +- ")

    def test_its_figures_are_rubatos(self):
        machine = self.machine()
        uuid, lowest, highest, default, enforced = self.query(
            machine, "uuid", "power.min_limit", "power.max_limit", "power.default_limit", "enforced.power.limit"
        )
        ours = self.devices(machine)
        limits = ours["power_limits"]
        self.assertEqual(uuid, ours["uuid"])
        self.assertEqual(
            [float(w) for w in (lowest, highest, default, enforced)],
            [limits["min_w"], limits["max_w"], limits["default_w"], limits["requested_w"]],
        )

    def test_it_sets_and_rubato_sees_it(self):
        machine = self.machine()
        self.assertIn(f"set to 160.00 W from {FOUND_W}.00 W", self.smi(machine, "-i", "0", "-pl", "160"))
        self.assertEqual(self.devices(machine)["power_limits"]["requested_w"], 160)
        self.assertIn("not a valid power limit", self.smi(machine, "-i", "0", "-pl", "90", code=2))
        self.assertIn("GPU clocks set", self.smi(machine, "-i", "0", "-lgc", "500,1005"))
        self.assertIn("All done", self.smi(machine, "-i", "0", "-rgc"))
        self.assertIn("(MEM 877, SM 1200)", self.smi(machine, "-i", "0", "-ac", "877,1200"))
        self.assertEqual(self.query(machine, "clocks.applications.graphics"), ["1200"])
        self.smi(machine, "-i", "0", "-rac")
        self.assertNotEqual(self.query(machine, "clocks.applications.graphics"), ["1200"])
        self.assertIn("not supported", self.smi(machine, "-i", "0", "-lmc", "877"), "a V100's memory clock cannot be locked")

    def test_without_rights_it_is_refused(self):
        machine = self.machine(rights="none")
        self.assertIn("Insufficient Permissions", self.smi(machine, "-i", "0", "-pl", "160", code=4))
        self.assertEqual(self.limit(machine), FOUND_W)

    def test_it_sees_what_rubato_set_while_the_job_runs_and_that_it_is_gone_afterwards(self):
        machine = self.machine(rate=20, found={"power_limit_w": 250})
        job = machine.start(
            "run", "--gpu", "0", "--power-limit", "150", "--sm-clock", "1005", "--", *machine.train(400)
        )
        wait_until(lambda: self.limit(machine) == 150, "nvidia-smi to show the limit rubato sets")
        wait_until(lambda: float(self.query(machine, "clocks.sm")[0]) == 1005, "the locked clock to be reached")
        shown = self.smi(machine, "-q", "-i", "0", "-d", "POWER,CLOCK,PERFORMANCE")
        self.assertEqual(self.line(shown, "GPU Power Readings", "Requested Power Limit"), "150.00 W")
        self.assertEqual(self.line(shown, "Clocks", "SM"), "1005 MHz")
        self.assertLess(float(self.line(shown, "GPU Power Readings", "Power Draw").split()[0]), 155)
        pid, program = self.smi(machine, "--query-compute-apps=pid,name", "--format=csv,noheader").strip().split(", ")
        self.assertTrue(program.endswith("/rubato"), program)
        self.assertGreater(int(pid), 0)
        self.assertRegex(self.smi(machine), rf"{pid} +C .*MiB")
        out, err = job.communicate(timeout=60)
        self.assertEqual(job.returncode, 0, out + err)
        shown = self.smi(machine, "-q", "-i", "0", "-d", "POWER,CLOCK")
        self.assertEqual(self.line(shown, "GPU Power Readings", "Requested Power Limit"), "250.00 W")
        # A lock cannot be read, only seen at work: the next training runs above it.
        free = machine.start("sim", "train", "resnet50", "--iterations", "100000")
        try:
            wait_until(lambda: float(self.query(machine, "clocks.sm")[0]) > 1005, "clocks above the lock")
        finally:
            free.kill()
            free.communicate()


if __name__ == "__main__":
    unittest.main()
