"""The packages under a real systemd, booted in a bare Debian: its services start as their units say, in their sandbox,
serve an ordinary user, and whatever ends rubatod, no GPU stays changed. On a simulated GPU."""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest

from booted_root import BootedRoot
from old_root import OldRoot
from test_packages import FOUND_W, GPU, ROOTS, SCENARIO, WANTED_W, package, with_version

WORLD = "/run/rubato/world"
# All that is changed of the installed units: which GPU, and that there need not be a driver.
DROP_INS = {
    "rubatod": f"""[Unit]
ConditionPathExists=
ConditionPathExists=!/etc/rubato/disable
[Service]
Environment=XDG_RUNTIME_DIR=/run RUBATO_SIM_WORLD={WORLD} RUBATO_SIM_SCENARIO=/etc/scenario.json
ExecStart=
ExecStart=/usr/bin/rubatod --config /etc/rubato/rubatod.toml --gpu {GPU} --socket /run/rubato/rubatod.sock
ExecStartPost=/bin/chmod 666 {WORLD}
ExecStopPost=
ExecStopPost=/usr/bin/rubatod --config /etc/rubato/rubatod.toml --gpu {GPU} --restore-only
""",
    "rubato-exporter": f"""[Service]
ExecStart=
ExecStart=/usr/bin/rubato-exporter --listen 127.0.0.1:9836 --jobs 0 --gpu {GPU}
Environment=RUBATO_SOCKET=/run/rubato/rubatod.sock
""",
}
HOME = "/tmp/user"
AS_USER = (
    f"XDG_RUNTIME_DIR={HOME} XDG_STATE_HOME={HOME}/state HOME={HOME} RUBATO_SIM_WORLD={WORLD} RUBATO_SOCKET=/run/rubato/rubatod.sock "
    "setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs"
)
CAP_SYS_ADMIN = 21


class Systemd(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        debs = [package(name) for name in ("rubato", "rubatod", "rubato-exporter")]
        root = OldRoot("bookworm", ROOTS)
        cls.addClassCleanup(root.close)
        cls.folder = root.folder
        (root.folder / "etc/scenario.json").write_text(json.dumps(SCENARIO))
        for unit, text in DROP_INS.items():
            folder = root.folder / f"etc/systemd/system/{unit}.service.d"
            folder.mkdir(parents=True)
            (folder / "simulated.conf").write_text(text)
        cls.inside = BootedRoot(root)
        cls.addClassCleanup(cls.inside.close)
        cls.install(*debs)
        cls.inside.run(f"install -d -m 700 -o 65534 {HOME}")

    @classmethod
    def install(cls, *debs):
        for deb in debs:
            shutil.copy(deb, cls.folder / "root")
        return cls.inside.run("dpkg --force-unsafe-io --install " + " ".join(f"/root/{pathlib.Path(deb).name}" for deb in debs))

    def setUp(self):
        self.runs = []
        self.addCleanup(self.end_runs)

    def end_runs(self):
        self.inside.ask("pkill -TERM -x rubato")
        for run in self.runs:
            run.wait(60)

    def active(self, unit="rubatod"):
        return self.inside.ask(f"systemctl is-active {unit}")[1]

    def manage(self):
        """As an administrator decides, with the unit as it is; and none of what went before counts as a start too many."""
        config = self.folder / "etc/rubato/rubatod.toml"
        config.write_text(config.read_text().replace('mode = "observe"', 'mode = "manage"'))
        self.inside.run("systemctl reset-failed rubatod; systemctl restart rubatod")
        self.assertEqual(self.limit(), FOUND_W)

    def limit(self):
        told = json.loads(self.inside.run(f"{AS_USER} rubato devices --gpu {GPU} --json 2>/dev/null"))
        return told["gpus"][0]["power_limits"]["requested_w"]

    def start_run(self):
        job = "rubato sim train resnet50 --iterations 1000000"
        self.runs.append(self.inside.start(f"{AS_USER} rubato run --gpu {GPU} --power-limit {WANTED_W} -- {job}"))
        self.inside.wait_until(lambda: self.limit() == WANTED_W, "the limit to be set by an ordinary user's run")
        return self.runs[-1]

    def journals(self):
        return self.inside.ask("ls /run/rubato | grep '^GPU-' | grep -v lock$")[1]

    def main_process(self):
        return self.inside.run("systemctl show --property=MainPID --value rubatod")

    def test_1_the_packages_start_their_services_and_rubatod_observes(self):
        self.assertEqual((self.active(), self.active("rubato-exporter")), ("active", "active"))
        self.assertIn("mode observe", self.inside.run("cat /var/log/rubato/audit.jsonl"))
        self.inside.run(f"{AS_USER} rubato run --gpu {GPU} --power-limit {WANTED_W} -- rubato sim train resnet50 --iterations 100")
        self.assertIn('"would_set"', self.inside.run("cat /var/log/rubato/audit.jsonl"))
        self.assertEqual(self.limit(), FOUND_W)
        ask = r"exec 3<>/dev/tcp/127.0.0.1/9836 && printf 'GET /metrics HTTP/1.0\r\n\r\n' >&3 && cat <&3"
        for metric in ("rubato_gpu_power_watts", 'rubatod_request_seconds_count{request="acquire",part="own"}'):
            self.inside.wait_until(lambda: metric in self.inside.ask(ask)[1], f"{metric} on the exporter's page")

    def test_2_rubatod_lives_in_the_sandbox_of_its_unit(self):
        pid = self.main_process()
        status = dict(re.findall(r"^(\w+):\s+(\S+)", self.inside.run(f"cat /proc/{pid}/status"), re.M))
        self.assertEqual(int(status["CapEff"], 16) & ~(1 << CAP_SYS_ADMIN), 0)
        self.assertEqual(int(status["CapBnd"], 16), 1 << CAP_SYS_ADMIN)
        self.assertEqual((status["Seccomp"], status["NoNewPrivs"]), ("2", "1"))
        there = f"nsenter -t {pid} --mount"
        for path in ("/usr/bin", "/etc/rubato", "/var/lib", "/run", "/proc/sys/kernel/hostname"):
            _, said = self.inside.ask(f"{there} sh -c 'echo x >{path}/x 2>&1 || echo x >{path}' 2>&1")
            self.assertIn("Read-only file system", said, path)
        self.inside.run(f"touch /tmp/outside && ! {there} test -e /tmp/outside")
        self.assertEqual(self.inside.run(f"nsenter -t {pid} --net ls /sys/class/net"), "lo")
        exposure = self.inside.run("systemd-analyze security --no-pager rubatod | tail -n 1")
        self.assertLessEqual(float(re.search(r"level for rubatod.service: ([\d.]+)", exposure)[1]), 2.0, exposure)

    def test_3_a_killed_rubatod_is_followed_by_a_restoration_and_by_another(self):
        self.manage()
        self.start_run()
        killed = self.main_process()
        self.inside.run("systemctl kill --signal=KILL rubatod")
        self.inside.wait_until(lambda: self.limit() == FOUND_W, "ExecStopPost")
        self.assertIn("restored: power limit", self.inside.run("journalctl --no-pager --unit=rubatod"))
        self.inside.wait_until(lambda: self.active() == "active" and self.main_process() != killed, "another rubatod")
        self.assertEqual(self.inside.run("systemctl show --property=NRestarts --value rubatod"), "1")
        self.end_runs()
        self.start_run()

    def test_4_the_disable_file_restores_and_keeps_it_from_starting(self):
        self.manage()
        self.start_run()
        self.addCleanup(self.inside.ask, "rm -f /etc/rubato/disable")
        begun = time.monotonic()
        self.inside.run("touch /etc/rubato/disable")
        self.inside.wait_until(lambda: self.active() == "inactive", "rubatod to end by itself")
        passed = time.monotonic() - begun
        self.assertEqual((self.limit(), self.journals()), (FOUND_W, ""))
        # Within a second on its own; here beside whatever else the machine does.
        self.assertLess(passed, 10)
        self.inside.run("systemctl start rubatod")
        self.assertEqual(self.active(), "inactive", "the unit's condition")
        self.inside.run("rm /etc/rubato/disable && systemctl start rubatod")
        self.assertEqual(self.active(), "active")

    def test_5_an_upgrade_restores_and_starts_the_new_one(self):
        self.manage()
        run = self.start_run()
        old = self.main_process()
        with tempfile.TemporaryDirectory() as folder:
            said = self.install(with_version(package("rubatod"), "9.0-1", pathlib.Path(folder)))
        self.assertEqual(self.active(), "active", said)
        self.assertNotEqual(self.main_process(), old)
        self.assertEqual((self.limit(), self.journals()), (FOUND_W, ""))
        self.assertIsNone(run.poll(), "the training goes on")

    def test_6_a_removal_restores_and_leaves_no_service(self):
        self.manage()
        self.start_run()
        self.inside.run("dpkg --purge rubatod rubato-exporter")
        self.assertEqual((self.limit(), self.journals()), (FOUND_W, ""))
        self.assertNotEqual(self.active(), "active")
        units = self.inside.run("systemctl list-units --all --plain --no-legend 'rubato*'; systemctl list-unit-files --no-legend 'rubato*' || true")
        self.assertEqual(units, "")


if __name__ == "__main__":
    sys.exit(unittest.main())
