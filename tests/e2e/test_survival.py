"""What dies, lies or is not there while meters are read: the job keeps its status, what was told is kept,
and holes are named.

Real servers live in real time: where a stretch has to be measured, it has to pass. No test waits for a state that way.
"""

import json
import signal
import sys
import time
import unittest

from harness import FULL, SOURCE, job_of, wait_until
from meter_world import ENERGY_OBJECT, STALE_S, MeterTest

PACKAGE_W, NODE_W, FANS_W = 60, 150, 40
MEASURE = ("measure", "--meter", "rapl", "--meter", "snmp:rack", "--meter", "mqtt:desk", "--")
# Between the end of the job and rubato's own.
LONGEST_END_S = 5

# Marks ten iterations a second and dies in the middle of one as a program with a bad pointer does.
CRASHING = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import rubato
for i in range(20):
    with rubato.iteration():
        time.sleep(0.1)
        if i == 15: os.kill(os.getpid(), signal.SIGSEGV)
"""


class Survival(MeterTest):
    def set_up(self, rack=None, desk=None):
        """A machine whose three meters tell known watts; the test may change what they say."""
        machine = self.machine_with_meters(gpus=False)
        agent, broker = self.agent(machine), self.broker(machine)
        self.tables(machine, rack=agent.table(**rack or {}), desk=broker.table(scope="rail", **desk or {}))
        machine.register.watts = PACKAGE_W
        agent.say(NODE_W)
        return machine, agent, broker

    def started(self, machine, *job):
        """rubato with a job that has begun to be measured."""
        rubato = machine.start(*MEASURE, *job)
        self.addCleanup(rubato.stdout.close)
        self.addCleanup(rubato.stderr.close)
        wait_until(lambda: job_of(rubato.pid), "the job to start")
        time.sleep(2)
        return rubato

    def ended(self, rubato):
        """What rubato said; its end came soon after its job's."""
        job = job_of(rubato.pid)
        wait_until(lambda: rubato.poll() is not None or job_of(rubato.pid) != job, "the job to end")
        end = time.monotonic()
        _, said = rubato.communicate(timeout=60)
        self.assertLess(time.monotonic() - end, LONGEST_END_S, said)
        return said

    def told(self, machine):
        report = machine.last()
        return report, {source["source"]: source for source in report["sources"]}

    def holes(self, report, meter):
        return [gap for gap in report["gaps"] if f"meter {meter}" in gap["why"]]

    def assert_package_right(self, told):
        package = told["rapl/package-0"]
        self.assertAlmostEqual(package["energy"]["energy_j"], PACKAGE_W * package["over_s"],
                               delta=package["energy"]["band_sampling_j"] + PACKAGE_W * STALE_S)

    def assert_true_within_band(self, source, watts):
        """Whatever was estimated for the hole, the truth lies inside the stated band, and it is not zero."""
        energy = source["energy"]
        self.assertGreater(energy["energy_j"], 0)
        self.assertAlmostEqual(energy["energy_j"], watts * source["over_s"],
                               delta=energy["band_sampling_j"] + energy["band_calibration_j"])

    def test_an_agent_that_dies_a_broker_that_comes_back_and_a_job_that_crashes(self):
        machine, agent, broker = self.set_up()
        self.feed(machine.register.draw, lambda _: broker.process and broker.say(FANS_W))
        rubato = self.started(machine, "sh", "-c", "sleep 13; kill -SEGV $$")
        agent.stop()
        broker.stop()
        time.sleep(4)
        broker.start()
        said = self.ended(rubato)
        self.assertEqual(rubato.returncode, -signal.SIGSEGV, said)
        self.assertEqual(said.count("snmp:rack has told nothing for"), 1, said)
        report, told = self.told(machine)
        self.assertEqual(report["exit_status"], {"signal": signal.SIGSEGV})
        self.assertTrue(report["complete"])
        (dead,) = self.holes(report, "snmp:rack")
        self.assertAlmostEqual(dead["end_s"], report["duration_s"], places=3, msg="it never came back")
        self.assertLess(dead["begin_s"], 4)
        self.assertIn("no answer", dead["why"])
        (away,) = self.holes(report, "mqtt:desk")
        self.assertLess(away["end_s"], report["duration_s"] - 1, "it came back")
        self.assertIn("broker", away["why"])
        self.assert_package_right(told)
        self.assert_true_within_band(told["snmp:rack/power"], NODE_W)
        self.assert_true_within_band(told["mqtt:desk/power"], FANS_W)
        band = told["snmp:rack/power"]["energy"]["band_sampling_j"]
        self.assertGreater(band, 0.1 * NODE_W * report["duration_s"], "most of it was not read")
        shown = machine.run("show", "last").stdout
        self.assertIn("meter snmp:rack told nothing", " ".join(shown.split()))

    def test_what_cannot_be_true_is_named_left_out_and_its_stretch_recorded(self):
        machine, agent, broker = self.set_up(
            rack={"energy_oid": ENERGY_OBJECT, "energy_unit": "J"}, desk={"power_unit_path": "ENERGY.Unit"}
        )
        says = {"watts": NODE_W, "leap": 0, "message": None}
        good = json.dumps({"ENERGY": {"Power": FANS_W, "Unit": "W"}})
        begin = time.monotonic()
        self.feed(
            machine.register.draw,
            lambda now: agent.say(says["watts"], NODE_W * (now - begin) + says["leap"]),
            lambda _: broker.publish(says["message"] or good),
        )
        rubato = self.started(machine, "sh", "-c", "sleep 9; exit 4")
        for lie in (
            {"leap": 1e9, "message": '{"ENERGY": {"Pow'},
            {"watts": -NODE_W, "message": '{"ENERGY": {"Power": -40, "Unit": "W"}}'},
            {"watts": NODE_W, "message": '{"ENERGY": {"Power": 40000, "Unit": "mW"}}'},
            {"message": None},
        ):
            says.update(lie)
            time.sleep(1)
        said = self.ended(rubato)
        self.assertEqual(rubato.returncode, 4, said)
        report, told = self.told(machine)
        for meter, reasons in (
            ("snmp:rack", ("the register leapt by 1000000", "found -150 W")),
            ("mqtt:desk", ("the message is no JSON", "found -40 W", "the unit 'mW', needed 'W'")),
        ):
            whys = [hole["why"] for hole in self.holes(report, meter)]
            for reason in reasons:
                self.assertIn(reason, said)
                self.assertEqual(sum(reason in why for why in whys), 1, (reason, whys))
            for hole in self.holes(report, meter):
                # A second of lies, looked at once a second.
                self.assertLess(hole["end_s"] - hole["begin_s"], 4, self.holes(report, meter))
        self.assert_package_right(told)
        self.assert_true_within_band(told["snmp:rack/power"], NODE_W)
        self.assert_true_within_band(told["mqtt:desk/power"], FANS_W)

    def test_meters_that_cannot_be_reached_are_named_and_stop_nothing(self):
        machine, agent, broker = self.set_up()
        agent.stop()
        broker.stop()
        self.feed(machine.register.draw)
        begin = time.monotonic()
        done = machine.run(*MEASURE, "sh", "-c", "sleep 1; exit 5")
        self.assertLess(time.monotonic() - begin, 1 + 2 * 2 + LONGEST_END_S, "2 s for each, and an end")
        self.assertEqual(done.returncode, 5, done.stderr)
        for meter in ("snmp:rack", "mqtt:desk"):
            self.assertIn(f"meter {meter} is left out", done.stderr)
        _, told = self.told(machine)
        self.assertEqual(list(told), ["rapl/package-0"], "no zero for what was never read")
        self.assert_package_right(told)

    def test_a_rubato_that_is_killed_leaves_what_every_meter_told(self):
        machine, _, broker = self.set_up()
        self.feed(machine.register.draw, lambda _: broker.say(FANS_W))
        rubato = self.started(machine, "sleep", "60")
        job = job_of(rubato.pid)
        time.sleep(1.5)
        rubato.kill()
        rubato.wait()
        with open(f"/proc/{job}/stat", encoding="ascii") as stat:
            self.assertNotEqual(stat.read().rsplit(")", 1)[1].split()[0], "Z", "the job runs on")
        report, told = self.told(machine)
        self.assertFalse(report["complete"])
        self.assertIsNone(report["exit_status"])
        self.assertEqual(len(told), 3)
        for key, watts in (("rapl/package-0", PACKAGE_W), ("snmp:rack/power", NODE_W),
                           ("mqtt:desk/power", FANS_W)):
            self.assertGreater(told[key]["over_s"], 1)
            self.assert_true_within_band(told[key], watts)
        self.assertIn("cut short", machine.run("show", "last").stdout)

    def test_a_crash_inside_an_iteration_keeps_the_iterations_before_it(self):
        machine, _, broker = self.set_up()
        self.feed(machine.register.draw, lambda _: broker.say(FANS_W))
        done = machine.run(*MEASURE, sys.executable, "-c", CRASHING, str(SOURCE / "python"))
        self.assertEqual(done.returncode, -signal.SIGSEGV, done.stderr)
        report, told = self.told(machine)
        self.assertEqual(report["iterations"], 15)
        self.assertEqual(report["exit_status"], {"signal": signal.SIGSEGV})
        self.assert_package_right(told)

    @unittest.skipUnless(FULL, "RUBATO_CHECK_FULL=1")
    def test_servers_that_stand_still_at_the_end_do_not_hold_up_the_end(self):
        machine, agent, broker = self.set_up()
        self.feed(machine.register.draw)
        rubato = self.started(machine, "sh", "-c", "sleep 3; exit 6")
        for server in (agent, broker):
            server.process.send_signal(signal.SIGSTOP)
        said = self.ended(rubato)
        self.assertEqual(rubato.returncode, 6, said)
        self.assertIn("snmp:rack/power", self.told(machine)[1])


if __name__ == "__main__":
    unittest.main()
