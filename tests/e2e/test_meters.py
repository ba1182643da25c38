"""Meters beside the GPUs, and what the job is given for its hooks, end to end: a made RAPL tree, a real rubato."""

import ast
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import unittest

from harness import BUILD, PATIENCE, SOURCE, MachineTest, job_of, wait_until
from meter_world import STALE_S

INJECT = SOURCE / "python" / "inject"

# Draws joules by the clock into the made register: 40 W, so that a stretch of any length is known.
DRAW = """
import sys, time
register, seconds = sys.argv[1], float(sys.argv[2])
begin = now = time.monotonic()
while now - begin < seconds:
    now = time.monotonic()
    with open(register, "r+") as out:
        out.write(f"{int(1e6 + 40e6 * (now - begin)):012d}")
    time.sleep(0.005)
"""
WATTS = 40

# Draws like that in a process of its own, and looks at a second of it by the package's own means.
WINDOW = """
import subprocess, sys, time
register, draw, package, options = sys.argv[1:]
sys.path.append(package)
import rubato
from rubato import _board
drawing = subprocess.Popen([sys.executable, "-c", draw, register, "600"])
while open(register).read() == "000001000000\\n": pass
while options == "{}" and not (_board.read() and _board.read().channels): pass  # the first quarter of a second
with rubato.window("second", **eval(options)) as w:  # for 40 J of the register: the meter is another process's
    until = int(open(register).read()) + 40_000_000
    while int(open(register).read()) < until: pass
print(w.seconds, w.joules, w.cpu_joules, w.dram_joules, w.source, w.why, w.meters, sep="\\n")
drawing.kill(); drawing.wait()
"""


class WithMeters(MachineTest):
    def machine_with_rapl(self, gpus=True, **options):
        machine = self.machine(rate=1, **options)
        zone = machine.folder / "sysroot/sys/class/powercap/intel-rapl:0"
        zone.mkdir(parents=True)
        for name, text in (("name", "package-0"), ("max_energy_range_uj", "262143328850"), ("energy_uj", "000001000000")):
            (zone / name).write_text(text + "\n")
        machine.register = zone / "energy_uj"
        machine.environment["RUBATO_SYSROOT"] = str(machine.folder / "sysroot")
        machine.environment["RUBATO_METERS"] = str(machine.folder / "meters.toml")
        (machine.folder / "meters.toml").write_text("")
        (machine.folder / "meters.toml").chmod(0o600)
        if not gpus:
            machine.environment["LD_LIBRARY_PATH"] = ""
        return machine

    @staticmethod
    def draw(machine, seconds):
        return [sys.executable, "-c", DRAW, str(machine.register), str(seconds)]

    @staticmethod
    @contextlib.contextmanager
    def record(machine):
        (file,) = (machine.folder / "state/rubato/runs").glob("*.sqlite")
        with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            yield db

    def test_a_meter_is_measured_beside_the_gpu(self):
        machine = self.machine_with_rapl()
        done = machine.run("measure", "--gpu", "0", "--meter", "rapl", "--", *self.draw(machine, 2))
        self.assertEqual(done.returncode, 0, done.stderr)
        with self.record(machine) as db:
            (meter, name, scope) = db.execute("SELECT meter, name, scope FROM channel").fetchone()
            (joules, band, begin, end, quality) = db.execute(
                "SELECT energy_j, band_sampling_j, energy_begin_ns, energy_end_ns, quality "
                "FROM channel_end JOIN source ON source.id = source_id"
            ).fetchone()
            (devices,) = db.execute("SELECT count(*) FROM device").fetchone()
        self.assertEqual((meter, name, scope), ("rapl", "package-0", "cpu_package"))
        self.assertEqual(devices, 1)
        # The interpreter draws nothing while it starts and ends.
        self.assertLess(joules, WATTS * (end - begin) * 1e-9 + band)
        self.assertGreater(joules + band, WATTS * 1.9)
        self.assertIn("powercap", quality)
        self.assertEqual(machine.run("show", "last").stdout.count("powercap"), 1)

    def window(self, machine, options, *around):
        """What a program's window of a second tells, on its own or under rubato."""
        command = [sys.executable, "-c", WINDOW, str(machine.register), DRAW, str(SOURCE / "python"), options]
        if around:
            done = machine.run(*around, *command)
        else:
            environment = {**machine.environment, "RUBATO_BINARY": str(BUILD / "bin/rubato")}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        seconds, joules, cpu, dram, source, why, meters = done.stdout.splitlines()[:7]
        self.assertEqual((dram, why), ("None", "None"))
        self.assertGreater(float(joules), 1)
        return float(seconds), cpu, source, ast.literal_eval(meters)

    def test_a_programs_window_has_the_meters_of_its_run(self):
        machine = self.machine_with_rapl()
        seconds, cpu, source, meters = self.window(machine, "{}", "measure", "--gpu", "0", "--meter", "rapl", "--")
        self.assertIn("energy board of the run", source)
        self.assertEqual([(m["meter"], m["channel"], m["scope"]) for m in meters], [("rapl", "package-0", "cpu_package")])
        # The board is written by whatever time this machine has for it: all of that stands in the band.
        self.assertAlmostEqual(float(cpu), WATTS * seconds, delta=meters[0]["band_sampling_j"] + WATTS * STALE_S)

    def test_a_programs_window_reads_a_meter_without_rubato_around_it(self):
        machine = self.machine_with_rapl()
        seconds, cpu, source, meters = self.window(machine, "{'gpu': 0, 'meter': ['rapl', 'rapl', 'nonsense']}")
        self.assertNotIn("board", source)
        missing, told = meters
        self.assertIn("nonsense", missing["why_missing"])
        self.assertEqual((told["scope"], told["why_missing"]), ("cpu_package", ""))
        self.assertEqual(told["kind"], "apportioned")  # at its edges, of few readings
        self.assertAlmostEqual(float(cpu), WATTS * seconds, delta=told["band_sampling_j"] + WATTS * STALE_S)

    def test_without_a_gpu_the_meters_are_measured(self):
        machine = self.machine_with_rapl(gpus=False)
        done = machine.run("measure", "--meter", "rapl", "--", *self.draw(machine, 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("nothing was measured", done.stderr)
        with self.record(machine) as db:
            self.assertEqual(db.execute("SELECT count(*) FROM device").fetchone(), (0,))
            self.assertGreater(db.execute("SELECT energy_j FROM channel_end").fetchone()[0], WATTS * 0.8)
        self.assertEqual(machine.last()["gpus"], [])

    def test_a_spec_that_cannot_work_is_refused_before_the_job(self):
        machine = self.machine_with_rapl()
        for spec in ("nonsense", "rapl:no-such-domain", "snmp:nowhere-described"):
            with self.subTest(spec):
                if spec.startswith("snmp") and not (BUILD / "lib/rubato/librubato-meter-snmp.so").exists():
                    self.skipTest("this build has no SNMP module")
                touched = machine.folder / "touched"
                done = machine.run("run", "--gpu", "0", "--meter", spec, "--", "touch", touched)
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertIn(spec.split(":")[0], done.stderr)
                self.assertFalse(touched.exists())

    def test_the_same_meter_twice_is_refused(self):
        machine = self.machine_with_rapl()
        done = machine.run("measure", "--gpu", "0", "--meter", "rapl", "--meter", "rapl", "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn("twice", done.stderr)

    def test_real_watts_on_a_faster_clock_are_said_to_be_so(self):
        machine = self.machine_with_rapl()
        scenario = {**machine.scenario, "rate": 20}
        (machine.folder / "scenario.json").write_text(json.dumps(scenario))
        done = machine.run("measure", "--gpu", "0", "--meter", "rapl", "--", *self.draw(machine, 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("20 times faster", done.stderr)
        with self.record(machine) as db:
            self.assertIn("20 times faster", db.execute("SELECT sensor_source FROM channel").fetchone()[0])
            self.assertGreater(db.execute("SELECT energy_j FROM channel_end").fetchone()[0], WATTS * 0.8)

    def test_a_meter_that_vanishes_is_named_and_the_job_goes_on(self):
        machine = self.machine_with_rapl()
        job = f"rm -r '{machine.register.parent}'; sleep 4; exit 3"
        done = machine.run("measure", "--gpu", "0", "--meter", "rapl", "--", "sh", "-c", job)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("rapl has told nothing"), 1, done.stderr)
        with self.record(machine) as db:
            (why,) = db.execute("SELECT why FROM gap WHERE why LIKE '%rapl%'").fetchone()
        self.assertIn("energy_uj", why)

    def test_a_killed_rubato_leaves_what_the_meter_told(self):
        machine = self.machine_with_rapl()
        rubato = machine.start("measure", "--gpu", "0", "--meter", "rapl", "--", *self.draw(machine, 60))

        def readings():
            with contextlib.suppress(ValueError, sqlite3.Error), self.record(machine) as db:
                return db.execute("SELECT sum(samples) FROM channel_chunk").fetchone()[0] or 0
            return 0

        wait_until(lambda: readings() >= 10, "ten readings to be committed")
        job = job_of(rubato.pid)
        rubato.send_signal(signal.SIGKILL)
        rubato.communicate()
        os.kill(job, signal.SIGKILL)
        self.assertGreaterEqual(readings(), 10)
        shown = machine.last()
        self.assertFalse(shown["complete"])

    def test_garbage_where_marks_arrive_harms_nothing(self):
        machine = self.machine()
        job = (
            "import os, pathlib\n"
            "folder = pathlib.Path(os.environ['RUBATO_MARKS'])\n"
            "for i in range(20):\n"
            "    (folder / f'{i}-1.ring').write_bytes(os.urandom(4096 * i))\n"
            "    (folder / f'{i}.kernels').write_bytes(os.urandom(100 * i))\n"
            "(folder / 'loop.ring').symlink_to('loop.ring')\n"
            "os.mkfifo(folder / '9-9.ring')\n"
        )
        done = machine.run("measure", "--gpu", "0", "--", sys.executable, "-c", job)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.last()["iterations"], 0)

    def test_devices_and_doctor_list_meters(self):
        machine = self.machine_with_rapl()
        shown = json.loads(machine.run("devices", "--gpu", "0", "--json").stdout)
        (rapl,) = [m for m in shown["meters"] if m["spec"].startswith("rapl")]
        self.assertTrue(rapl["available"], rapl)
        self.assertIn("meter rapl", machine.run("doctor", "--gpu", "0").stdout)
        alone = self.machine_with_rapl(gpus=False)
        listed = alone.run("devices")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("rapl", listed.stdout)

    def test_a_calibration_without_movement_is_refused(self):
        machine = self.machine_with_rapl()
        done = machine.run("calibrate-meter", "--gpu", "0", "--meter", "rapl", "--", *self.draw(machine, 0.5))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not calibrated: no channel of this meter has a GPU behind it", done.stderr)
        self.assertEqual(machine.run("calibrate-meter", "--gpu", "0", "--", "true").returncode, 125)
        self.assertFalse(list((machine.folder / "state").rglob("sensors/*calib*")))


class Hooks(MachineTest):
    SHOW = "import os; print(os.environ.get('PYTHONPATH')); print('RUBATO_MARKS' in os.environ)"

    def shown(self, *options, environment=None, python=()):
        machine = self.machine()
        done = machine.run(
            "measure", "--gpu", "0", *options, "--", sys.executable, *python, "-c", self.SHOW, environment=environment
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines(), done.stderr

    @unittest.skipUnless((INJECT / "sitecustomize.py").exists(), "this source tree has no python/inject")
    @unittest.skipUnless(BUILD.parent.parent == SOURCE, "the build folder does not lie in the source tree")
    def test_pythonpath_begins_with_ours_and_keeps_the_rest(self):
        (path, marks), _ = self.shown(environment={"PYTHONPATH": "/somewhere"})
        self.assertEqual(path, f"{INJECT}:/somewhere")
        self.assertEqual(marks, "True")

    def test_the_off_switches_leave_it_alone(self):
        for options, environment in ((("--no-hooks",), {}), ((), {"RUBATO_HOOKS": "off"})):
            (path, _), _ = self.shown(*options, environment={"PYTHONPATH": "/somewhere", **environment})
            self.assertEqual(path, "/somewhere")

    def test_what_keeps_hooks_out_is_said(self):
        _, told = self.shown(python=("-I",))
        self.assertIn("cannot be active", told)
        self.assertIn("-I", told)

    def test_kernels_are_asked_for_and_never_taken_from_another(self):
        machine = self.machine()
        done = machine.run(
            "measure", "--gpu", "0", "--kernels", "2s/60s", "--", "sh", "-c", "echo $RUBATO_KERNELS $CUDA_INJECTION64_PATH",
            environment={"CUDA_INJECTION64_PATH": "/opt/other.so"},
        )
        self.assertEqual(done.stdout.split(), ["2s/60s", "/opt/other.so"], done.stderr)
        self.assertIn("/opt/other.so", done.stderr)


if __name__ == "__main__":
    unittest.main()
