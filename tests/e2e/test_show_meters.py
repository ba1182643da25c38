"""One training, three kinds of meter on known watts, and everything rubato then says of it."""

import csv
import io
import json
import math
import sys
import time
import unittest

from harness import FULL, RUBATO, SOURCE
from meter_world import GpuPower, MeterTest, in_time

PACKAGE_W, NODE_W, FANS_W = 60, 150, 40
PACKAGE = "rapl:package/package-0"
RANGE_UJ = 262_143_328_850
# 250 J from its end: the register starts again after some four seconds at 60 W.
NEARLY_FULL = {"first_uj": RANGE_UJ - 250_000_000, "range_uj": RANGE_UJ}

# Where there is no Keras: a training of 12 epochs of 40 steps by the package's own marks.
PLAIN_JOB = """
import sys, time
sys.path.insert(0, sys.argv[1])
import rubato
for epoch in range(12):
    with rubato.window(f"epoch {epoch}"):
        for _ in range(40):
            with rubato.iteration(): time.sleep(0.02)
"""


def training():
    for venv in ("keras3-tf", "tf215"):
        python = SOURCE / "build/venvs" / venv / "bin/python"
        if python.exists():
            program = SOURCE / "examples/benchmarks/mnist_cnn.py"
            return [str(python), str(program), "--epochs", "12", "--samples", "1500"]
    return [sys.executable, "-c", PLAIN_JOB, str(SOURCE / "python")]


def figures(part):
    """What is measured and what is apportioned of a row, in joules: one of them may be absent."""
    return [part[kind]["energy_j"] for kind in ("measured", "apportioned") if part[kind]]


class OneRunOfThreeMeters(MeterTest):
    @in_time
    def test_every_source_with_its_band_parts_that_add_up_and_exports_that_agree(self):
        machine = self.machine_with_meters(gpus=False, rapl=NEARLY_FULL)
        agent, broker = self.agent(machine), self.broker(machine)
        self.tables(machine, rack=agent.table(period_s=0.1), desk=broker.table(scope="rail", place="fans"))
        machine.register.watts = PACKAGE_W
        agent.say(NODE_W)
        self.feed(machine.register.draw, lambda _: broker.say(FANS_W))
        self.machine = machine
        meters = ("--meter", "rapl:package", "--meter", "snmp:rack", "--meter", "mqtt:desk")
        done = machine.run("measure", *meters, "--", *training())
        self.assertEqual(done.returncode, 0, done.stderr)
        report = machine.last()
        for check in (self.sources, self.parts, self.host, self.text, self.series, self.trace):
            check(report)
        self.assertLess(int((machine.register.zone / "energy_uj").read_text()), 1e10, "it started again in the run")

    def sources(self, report):
        told = {source["source"]: source for source in report["sources"]}
        self.assertEqual(
            {key: (source["scope"], source["inside"]) for key, source in told.items()},
            {PACKAGE: ("cpu_package", "snmp:rack/power"), "snmp:rack/power": ("node", None),
             "mqtt:desk/power": ("rail", None)},
        )
        for key, watts, accuracy in ((PACKAGE, PACKAGE_W, 0.10), ("snmp:rack/power", NODE_W, 0.01),
                                     ("mqtt:desk/power", FANS_W, 0.01)):
            source, energy = told[key], told[key]["energy"]
            self.assertIn(energy["kind"], ("measured", "apportioned"))
            slack = watts * self.feeding.stale_s() if key == PACKAGE else 0
            self.assertAlmostEqual(energy["energy_j"], watts * source["over_s"],
                                   delta=energy["band_sampling_j"] + slack)
            self.assertLess(energy["band_sampling_j"], 0.05 * energy["energy_j"])
            self.assertAlmostEqual(energy["band_calibration_j"], accuracy * energy["energy_j"], delta=0.01)
            self.assertIsNone(source["lag_s"])
            self.assertIn("no GPU's power was read", source["lag_quality"])
        rest = told["snmp:rack/power"]["not_accounted_for"]
        self.assertAlmostEqual(rest["energy_j"], (NODE_W - PACKAGE_W) * rest["over_s"], delta=rest["band_j"])

    def parts(self, report):
        rows = report["parts"]["rows"]
        self.assertGreater(report["iterations"], 100)
        self.assertIn("iterations", [row["part"] for row in rows])
        self.assertAlmostEqual(sum(row["time_s"] for row in rows), report["duration_s"], places=6)
        for balance in report["parts"]["balance"]:
            energies = [e for row in rows for e in row["energy"] if e["source"] == balance["source"]]
            added = sum(sum(figures(e)) for e in energies)
            self.assertAlmostEqual(added + balance["residual_j"], balance["run_j"], places=3)
            self.assertLessEqual(abs(balance["residual_j"]), balance["band_sampling_j"])
            for energy in energies:
                for kind in ("measured", "apportioned"):
                    if energy[kind]:
                        self.assertEqual(energy[kind]["apportioned"], kind == "apportioned")

    def host(self, report):
        host = report["host_watts"]
        self.assertEqual(host["source"], "snmp:rack power")
        self.assertAlmostEqual(host["value_w"], NODE_W, delta=host["band_w"])

    def text(self, report):
        shown = self.machine.run("show", "last").stdout
        node = shown.index("\n  snmp:rack power (node")
        package = shown.index("\n    rapl:package package-0 (cpu_package")
        self.assertLess(node, package, "what is inside stands below, indented")
        self.assertIn("mqtt:desk power (rail, fans", shown)
        self.assertIn("Iterations (", shown)
        self.assertRegex(shown, r"rapl:package package-0: ~?[0-9]+ J .* of the run")
        self.assertIn("not accounted for", shown)
        self.assertEqual(shown, self.machine.run("show", report["run_id"]).stdout)

    def series(self, report):
        export = lambda form: self.machine.run("export", "last", "--format", form, "--what", "meters").stdout
        as_json, text = json.loads(export("json")), export("csv")
        series = as_json["series"]["meters"]
        lines = [line for line in text.splitlines(True) if not line.startswith("# ")]
        rows = list(csv.DictReader(io.StringIO("".join(lines))))
        self.assertEqual(list(rows[0]), series["columns"])
        self.assertEqual(len(rows), len(series["rows"]))
        for row, values in zip(rows, series["rows"]):
            for column, value in zip(series["columns"], values):
                if isinstance(value, (int, float)):
                    self.assertTrue(math.isclose(float(row[column]), value, rel_tol=1e-9), (column, row))
                else:
                    self.assertEqual(row[column], value or "")
        package = [(float(r["time_s"]), float(r["energy_j"])) for r in rows if r["meter"] == "rapl:package"]
        (begin, first), (end, last) = package[0], package[-1]
        # The register is rewritten 20 times a second; each edge can be that old.
        self.assertAlmostEqual(last - first, PACKAGE_W * (end - begin), delta=PACKAGE_W * self.feeding.stale_s())
        self.assertEqual({float(r["power_w"]) for r in rows if r["meter"] == "snmp:rack"}, {NODE_W})
        self.assertEqual(as_json["run"]["sources"], report["sources"])

    def trace(self, report):
        file = self.machine.folder / "trace.json"
        done = self.machine.run("export", "last", "--format", "perfetto", "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        events = json.loads(file.read_text())["traceEvents"]
        counters = {event["name"] for event in events if event["ph"] == "C"}
        for source in ("rapl", "snmp:rack", "mqtt:desk"):
            self.assertTrue(any(source in name for name in counters), counters)
        bars = [event for event in events if event["ph"] == "X" and event["name"].startswith("iteration")]
        self.assertGreaterEqual(len(bars), report["iterations"])


class LagBehindTheGpu(MeterTest):
    # Nothing repeats: several lags would fit a regular load. Iterations, then a pause in seconds.
    BURSTS = ((3, 1.3), (7, 2.6), (2, 0.9), (11, 3.7), (4, 1.9), (6, 0.7))
    MORE = ((9, 0.7), (4, 2.9), (8, 1.1))
    LAG_S = {"snmp:rack/power": 2.5, "mqtt:desk/power": 0.7}

    def run_with_lagging_meters(self, command):
        machine = self.machine_with_meters()
        agent, broker = self.agent(machine), self.broker(machine)
        self.tables(machine, rack=agent.table(period_s=0.2), desk=broker.table())
        power = GpuPower(machine)
        self.addCleanup(power.close)
        machine.register.watts = PACKAGE_W
        self.feed(
            machine.register.draw,
            lambda now: agent.say(round(NODE_W + power.at(now - self.LAG_S["snmp:rack/power"]))),
            lambda now: broker.say(FANS_W + power.at(now - self.LAG_S["mqtt:desk/power"])),
        )
        meters = ("--meter", "rapl", "--meter", "snmp:rack", "--meter", "mqtt:desk")
        done = machine.run("measure", "--gpu", "0", *meters, "--", *command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return machine

    @in_time
    def test_a_meters_lag_is_found_where_the_gpus_power_moves(self):
        bursts = self.BURSTS + (self.MORE if FULL else ())
        train = f"'{RUBATO}' sim train resnet50 --iterations"
        job = "; ".join(f"{train} {iterations}; sleep {pause}" for iterations, pause in bursts)
        machine = self.run_with_lagging_meters(["sh", "-c", job])
        report = machine.last()
        told = {source["source"]: source for source in report["sources"]}
        found = self.LAG_S if FULL else {"snmp:rack/power": self.LAG_S["snmp:rack/power"]}
        for key, lag in found.items():
            self.assertIsNotNone(told[key]["lag_s"], told[key])
            # Half of what a reading stands for is in it: 0.1 s of the agent's 0.2 s.
            self.assertAlmostEqual(told[key]["lag_s"], lag, delta=0.25, msg=key)
        if not FULL and report["duration_s"] < 35:
            # One message a second is looked at: 25 s of them are too few to align, and are not.
            self.assertIsNone(told["mqtt:desk/power"]["lag_s"])
            self.assertRegex(told["mqtt:desk/power"]["lag_quality"], r"needed are 3[45](\.[0-9]+)? s")
        self.assertIsNone(told["rapl/package-0"]["lag_s"], "60 W whatever the GPU does")
        self.assertIn("unknown", told["rapl/package-0"]["lag_quality"])
        (gpu,) = (source for source in told.values() if source["scope"] == "gpu")
        self.assertEqual(gpu["kind"], "modelled")
        self.assertIsNone(gpu["inside"], "a simulated GPU draws nothing at a real wall")
        self.assertIsNone(report["host_watts"]["value_w"])
        self.assertIn("not a real one", report["host_watts"]["quality"])
        self.assertIn("behind", machine.run("show", "last").stdout)

    @in_time
    @unittest.skipUnless(FULL, "40 s of an idle GPU: RUBATO_CHECK_FULL=1")
    def test_no_lag_is_made_up_where_nothing_moves(self):
        report = self.run_with_lagging_meters(["sleep", "40"]).last()
        for source in report["sources"]:
            if source["scope"] != "gpu":
                self.assertIsNone(source["lag_s"], source)
                self.assertIn("unknown", source["lag_quality"])


if __name__ == "__main__":
    unittest.main()
