"""rubato-exporter, judged by promtool and scraped by a real Prometheus while trainings run."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from harness import BUILD, PATIENCE, SOURCE, MachineTest, free_port, guard_of, wait_until  # noqa: E402

EXPORTER = BUILD / "bin" / "rubato-exporter"
SERVERS = SOURCE / "build" / "servers"
PROMETHEUS = SERVERS / "root" / "usr" / "bin" / "prometheus"
PROMTOOL = SERVERS / "root" / "usr" / "bin" / "promtool"
RULES = SOURCE / "integrations" / "prometheus"
DASHBOARD = SOURCE / "integrations" / "grafana" / "rubato.json"
METRIC = re.compile(r"\b(?:rubato|process)_[a-z_]+\b")


def why_missing():
    if not EXPORTER.exists():
        return "rubato-exporter was not built: libmicrohttpd-dev is missing"
    try:
        status = (SERVERS / "status").read_text()
    except FileNotFoundError:
        return "run tools/unpack-test-servers: prometheus was never fetched"
    reason = dict(line.split("\t", 1) for line in status.splitlines()).get("prometheus", "it was never fetched")
    return None if reason == "ok" else f"prometheus: {reason}"


WHY_NOT = why_missing()


def promtool(*arguments, **options):
    done = subprocess.run([str(PROMTOOL), *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **options)
    return done.returncode, done.stdout + done.stderr


def listed():
    done = subprocess.run([str(EXPORTER), "--list-metrics"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return {line.split("\t")[0]: line.split("\t")[1] for line in done.stdout.splitlines()}


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class Files(unittest.TestCase):
    def test_the_rules_fire_when_they_should_and_only_then(self):
        code, said = promtool("test", "rules", RULES / "rubato-rules-test.yaml")
        self.assertEqual(code, 0, said)
        code, said = promtool("check", "config", RULES / "prometheus.yaml")
        self.assertEqual(code, 0, said)

    def test_every_alert_has_a_test(self):
        names = set(re.findall(r"alert: (\w+)", (RULES / "rubato-rules.yaml").read_text()))
        tested = set(re.findall(r"alertname: (\w+)", (RULES / "rubato-rules-test.yaml").read_text()))
        self.assertEqual(names, tested)

    def test_rules_and_dashboard_ask_for_metrics_that_there_are(self):
        there = set(listed())
        board = json.loads(DASHBOARD.read_text())
        asked = " ".join(t["expr"] for p in board["panels"] for t in p.get("targets", []))
        asked += " ".join(v.get("definition", "") for v in board["templating"]["list"])
        self.assertLessEqual(set(METRIC.findall(asked)), there)
        expressions = re.sub(r"(?m)^ *#.*$|^ *(summary|description):.*$", "", (RULES / "rubato-rules.yaml").read_text())
        self.assertLessEqual(set(METRIC.findall(expressions)), there)

    def test_the_page_of_the_docs_lists_every_metric_and_no_other(self):
        text = (SOURCE / "docs" / "exporter.md").read_text()
        self.assertEqual(set(re.findall(r"`((?:rubatod?|process)_[a-z_]+)`", text)), set(listed()))


@unittest.skipIf(WHY_NOT is not None, WHY_NOT)
class Exporter(MachineTest):
    def serve(self, machine, port=0):
        process = subprocess.Popen(
            [str(EXPORTER), "--gpu", "0", "--listen", f"127.0.0.1:{port}"],
            env=machine.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        first = process.stderr.readline()
        found = re.search(r"serving http://127\.0\.0\.1:(\d+)/metrics", first)
        self.assertTrue(found, first)
        return process, int(found.group(1))

    def prometheus(self, machine, target):
        port = free_port()
        config = machine.folder / "prometheus.yaml"
        config.write_text(
            f"global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n"
            f"rule_files: ['{RULES / 'rubato-rules.yaml'}']\n"
            f"scrape_configs: [{{job_name: rubato, static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n"
        )
        process = subprocess.Popen(
            [
                str(PROMETHEUS),
                f"--config.file={config}",
                f"--storage.tsdb.path={machine.folder / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{port}",
                f"--web.console.templates={machine.folder}",
                f"--web.console.libraries={machine.folder}",
                "--log.level=error",
            ],
            stdin=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(machine.folder), "GOMAXPROCS": "1"},
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.api = f"http://127.0.0.1:{port}/api/v1/"
        wait_until(lambda: self.value("up") == 1, "Prometheus to have scraped the exporter")

    def ask(self, what, **parameters):
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"{self.api}{what}?{query}", timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 503:
                    return None  # it opens its storage
                self.fail(f"{what} {parameters}: {error.read().decode()}")
        except OSError:
            return None  # it has not begun yet

    def value(self, expression):
        """The one value an expression has now, or None."""
        answer = self.ask("query", query=expression)
        if not answer or len(answer["result"]) != 1:
            return None
        return float(answer["result"][0]["value"][1])

    def wait_for(self, expression, value):
        wait_until(lambda: self.value(expression) == value, f"{expression} to be {value}")

    def test_promtool_finds_nothing_to_say_of_the_page(self):
        machine = self.machine()
        done = machine.run("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(40))
        self.assertEqual(done.returncode, 0, done.stderr)
        page = subprocess.run(
            [str(EXPORTER), "--gpu", "0", "--once"], env=machine.environment, capture_output=True, text=True, timeout=PATIENCE
        )
        self.assertEqual(page.returncode, 0, page.stderr)
        self.assertEqual(promtool("check", "metrics", input=page.stdout), (0, ""))
        for metric in ("rubato_gpu_power_watts", "rubato_gpu_limited_seconds_total", "rubato_job_energy_joules_total"):
            self.assertRegex(page.stdout, rf"(?m)^{metric}\{{.*\}} [0-9.e+]+$")
        self.assertNotIn("sim train", page.stdout, "a command line may hold secrets")

    def test_prometheus_follows_a_run_to_its_end(self):
        machine = self.machine(rate=5)
        _, port = self.serve(machine)
        self.prometheus(machine, port)
        run = machine.start("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(2000))
        self.wait_for("rubato_job_running", 1)
        self.wait_for("rubato_job_power_limit_requested_watts", 150)
        self.wait_for("rubato_gpu_power_limit_requested_watts", 150)
        self.wait_for("rubato_job_power_limit_found_watts", 200)
        self.wait_for("rubato_gpu_setting_held", 1)
        wait_until(lambda: (self.value("rubato_job_energy_joules_total") or 0) > 0, "the job's energy to be counted")
        wait_until(lambda: (self.value("rate(rubato_gpu_energy_joules_total[5s])") or 0) > 0, "the energy to be a rate")
        so_far = self.value("rubato_job_energy_joules_total")
        run.send_signal(signal.SIGTERM)  # forwarded to the job
        run.communicate(timeout=PATIENCE)
        self.wait_for("rubato_job_running", 0)
        self.wait_for('rubato_job_setting_restored{outcome="restored"}', 1)
        self.wait_for("rubato_gpu_setting_held", 0)
        (gpu,) = machine.last()["gpus"]
        self.assertAlmostEqual(self.value("rubato_job_energy_joules_total") / gpu["energy_j"], 1, delta=0.01)
        self.assertGreaterEqual(self.value("rubato_job_energy_joules_total"), so_far)
        self.assertEqual(self.value('count(rubato_gpu_info{quality="modelled"})'), 1, "simulated, and so said")
        targets = self.ask("targets")["activeTargets"]
        self.assertEqual([t["lastError"] for t in targets], [""])
        types = {name: of[0]["type"] for name, of in self.ask("metadata").items()}
        self.assertEqual(types["rubato_gpu_energy_joules"], "counter")  # OpenMetrics names the family so
        self.assertEqual(types["rubato_gpu_power_watts"], "gauge")
        for panel in json.loads(DASHBOARD.read_text())["panels"]:
            for target in panel.get("targets", []):
                expression = target["expr"].replace("$__rate_interval", "10s").replace("$__range", "1m")
                self.assertIsNotNone(self.ask("query", query=re.sub(r"\$\w+", ".*", expression)), expression)

    def test_a_restarted_exporter_begins_anew_and_the_drivers_counter_does_not(self):
        machine = self.machine(rate=5)
        process, port = self.serve(machine)
        self.prometheus(machine, port)
        energy, driver = "rubato_gpu_energy_joules_total", "rubato_gpu_driver_energy_joules_total"
        # So much that the new one cannot have passed it when it is first scraped.
        wait_until(lambda: (self.value(energy) or 0) > 2000, "some energy")
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0, "SIGTERM is a proper end")
        self.serve(machine, port)
        self.wait_for(f"resets({energy}[10m])", 1)
        wait_until(lambda: (self.value(energy) or 0) > 10, "energy again")
        self.assertEqual(self.value(f"resets({driver}[10m])"), 0)

    def test_what_a_dead_run_leaves_behind_is_told_until_it_is_put_back(self):
        machine = self.machine(rate=5)
        _, port = self.serve(machine)
        self.prometheus(machine, port)
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # the job lives on and would hold a pipe
        run = machine.start("run", "--gpu", "0", "--power-limit", "150", "--", *machine.train(100000), **nowhere)
        self.wait_for_limit(machine, 150, "the limit to be in force")
        guard = guard_of(run.pid)
        os.kill(guard, signal.SIGSTOP)  # or it would restore between the two
        os.kill(run.pid, signal.SIGKILL)
        os.kill(guard, signal.SIGKILL)
        run.wait(PATIENCE)
        self.wait_for("rubato_gpu_setting_unrestored", 1)
        self.assertEqual(self.value("rubato_gpu_setting_held"), 0)
        restored = machine.run("restore", "--gpu", "0")
        self.assertEqual(restored.returncode, 0, restored.stderr)
        self.wait_for("rubato_gpu_setting_unrestored", 0)

    def test_what_cannot_be_is_refused_with_a_hint(self):
        machine = self.machine()
        for arguments in (["--gpu", "7"], ["--listen", "everywhere:80"], ["--listen", "127.0.0.1"], ["--jobs", "-1"], ["extra"]):
            done = subprocess.run(
                [str(EXPORTER), *arguments], env=machine.environment, capture_output=True, text=True, timeout=PATIENCE
            )
            self.assertEqual(done.returncode, 125, arguments)
            self.assertIn("rubato: hint:", done.stderr, arguments)


if __name__ == "__main__":
    unittest.main()
