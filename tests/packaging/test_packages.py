"""The Debian packages in a bare Debian: installed, their units verified, started, upgraded and removed while a run holds
a setting. Whatever happens to the packages, no GPU stays changed."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from live_root import LiveRoot
from old_root import OldRoot

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = pathlib.Path(os.environ.get("RUBATO_PACKAGES_DIR", SOURCE / "build" / "release" / "packages"))
ROOTS = SOURCE / "build" / "portable" / "roots"
GPU = "sim:v100"
FOUND_W = 200
WANTED_W = 150
SCENARIO = {"rights": "owner", "rate": 20, "found": {"power_limit_w": FOUND_W}}
# Simulated GPUs have their journals in the runtime folder of their user: here the one that real GPUs have.
ENVIRONMENT = {"XDG_RUNTIME_DIR": "/run", "RUBATO_SIM_SCENARIO": "/scenario.json"}


def package(name):
    found = glob.glob(str(PACKAGES / f"{name}_*.deb"))
    if not found:
        raise unittest.SkipTest(f"no {name} in {PACKAGES}: tools/make-packages")
    return pathlib.Path(found[0])


def with_version(deb, version, folder):
    """The same package under another version."""
    tree = folder / "tree"
    subprocess.run(["dpkg-deb", "--raw-extract", deb, tree], check=True)
    control = tree / "DEBIAN" / "control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    made = folder / f"{deb.name.split('_')[0]}_{version}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", tree, made], check=True, capture_output=True)
    shutil.rmtree(tree)
    return made


class PackagesTest(unittest.TestCase):
    def setUp(self):
        debs = [package(name) for name in ("rubato", "rubatod", "rubato-exporter")]
        self.root = OldRoot("bookworm", ROOTS)
        self.addCleanup(self.root.close)
        (self.root.folder / "scenario.json").write_text(json.dumps(SCENARIO))
        self.config = self.root.folder / "etc/rubato/rubatod.toml"
        self.inside = LiveRoot(self.root, **ENVIRONMENT)
        self.addCleanup(self.inside.close)
        self.install(*debs)

    def install(self, *debs):
        for deb in debs:
            shutil.copy(deb, self.root.folder / "tmp")
        return self.inside.run("dpkg --force-unsafe-io --install " + " ".join(f"/tmp/{pathlib.Path(deb).name}" for deb in debs))

    def version_of(self, name):
        return self.inside.ask(f"dpkg-query --show --showformat='${{Version}} ${{db:Status-Status}}' {name}")[1]

    def journals(self):
        return [p.name for p in (self.root.folder / "run/rubato").glob("GPU-*") if p.suffix != ".lock"]

    # ---- a machine at work ----
    def manage(self, gpu=GPU):
        """As an administrator decides: rubatod may set."""
        self.config.write_text(f'mode = "manage"\ngpus = ["{gpu}"]\n')
        return self.config.read_text()

    def start_daemon(self):
        pid = self.inside.start("rubatod --config /etc/rubato/rubatod.toml", "/tmp/daemon.log")
        self.inside.wait_until(lambda: self.inside.ask(f"rubato doctor --gpu {GPU} | grep 'manages 1 GPU'")[0] == 0, "rubatod")
        return pid

    def start_run(self):
        pid = self.inside.start(
            f"rubato run --gpu {GPU} --power-limit {WANTED_W} -- rubato sim train resnet50 --iterations 100000", "/tmp/run.log"
        )
        self.inside.wait_until(lambda: self.inside.requested_limit(GPU) == WANTED_W, "the limit to be set")
        return pid

    def kill_both(self, daemon, run):
        """The journals that are left. rubato is not asked for the limit, as every start of it puts back."""
        self.inside.run(f"kill -STOP {run} && kill -KILL {daemon} {run}")
        self.assertEqual(len(self.journals()), 1)
        return self.journals()

    def assert_as_found(self):
        self.assertEqual(self.inside.requested_limit(GPU), FOUND_W)
        self.assertEqual(self.journals(), [])


class Installed(PackagesTest):
    def test_everything_is_in_its_place_and_rubatod_observes(self):
        self.assertEqual(self.inside.run("dpkg --audit"), "")
        for name in ("rubato", "rubatod", "rubato-exporter"):
            self.assertEqual(self.inside.run(f"dpkg --verify {name}"), "")
            self.assertTrue(self.inside.run(f"{name} --version").startswith(name.split("-")[0]))
        checked = self.inside.run("rubatod --config /etc/rubato/rubatod.toml --check")
        self.assertIn("mode observe", checked)
        self.assertEqual(self.inside.run("dpkg-query --show --showformat='${Conffiles}' rubatod | grep -c etc"), "2")
        self.assertIn("Tesla V100", self.inside.run(f"rubato devices --gpu {GPU}"))
        self.assertIn("rubato_gpu_power_watts", self.inside.run(f"rubato-exporter --gpu {GPU} --once"))
        self.assertTrue(self.inside.run("ls /usr/share/man/man1/rubato-run.1.gz /usr/share/man/man8/rubatod.8.gz"))
        self.assertEqual(self.inside.run("stat -c '%a %u' /run/rubato"), "755 0", "systemd-tmpfiles made it")

    def test_units_and_tmpfiles_are_what_systemd_takes(self):
        for unit in ("rubatod.service", "rubato-exporter.service"):
            done = subprocess.run(
                ["systemd-analyze", "verify", "--man=no", f"--root={self.root.folder}", f"/usr/lib/systemd/system/{unit}"],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), unit)
            # Of 100, as systemd counts what a unit could still reach: rubatod 17, the exporter 18.
            done = subprocess.run(
                ["systemd-analyze", "security", "--offline=yes", "--threshold=20", f"--root={self.root.folder}", unit],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, done.stdout[-200:] + done.stderr)
        wanted = self.root.folder / "etc/systemd/system/multi-user.target.wants"
        self.assertEqual(sorted(p.name for p in wanted.glob("rubato*")), ["rubato-exporter.service", "rubatod.service"])
        shutil.rmtree(self.root.folder / "run/rubato")
        subprocess.run(["systemd-tmpfiles", f"--root={self.root.folder}", "--create", "rubato.conf"], check=True)
        self.assertEqual(self.inside.run("stat -c '%a %u' /run/rubato"), "755 0")


class SlurmPlugin(PackagesTest):
    """In a root with slurmd, which brings the library whose functions a plugin calls."""

    FILES = ("usr/lib/rubato/rubato_spank.so", "usr/lib/rubato/rubato-slurm", "usr/lib/rubato/rubato-slurm-task")

    def test_the_plugin_is_where_the_page_says_loads_and_leaves_nothing(self):
        def ours():
            return set(self.inside.ask("find /usr /etc /var/lib/dpkg/info -name '*rubato*' 2>/dev/null")[1].splitlines())

        before = ours()
        self.install(package("rubato-slurm"))
        self.assertEqual(self.inside.run("dpkg --verify rubato-slurm"), "")
        page = (SOURCE / "docs" / "slurm.md").read_text()
        for file in self.FILES:
            self.assertTrue((self.root.folder / file).exists(), file)
            self.assertIn(f"{pathlib.Path(file).name}`", page)
            self.assertNotIn("not found", self.inside.run(f"ldd /{file}"))
        self.assertIn(f"optional /{self.FILES[0]}", page)
        self.inside.run("/usr/lib/rubato/rubato-slurm --version")
        said = self.inside.run(
            "srun --version; echo optional /usr/lib/rubato/rubato_spank.so >/etc/slurm/plugstack.conf;"
            "printf 'ClusterName=c\\nSlurmctldHost=localhost\\n' >/etc/slurm/slurm.conf; srun --help"
        )
        self.assertIn("--rubato", said, "Slurm's own srun has loaded it and asked for its options")
        self.inside.run("dpkg --purge rubato-slurm")
        self.assertEqual(ours(), before)


class Services(PackagesTest):
    """What the packages ask of a running systemd, which is only played here: two programs that write down their words."""

    def setUp(self):
        super().setUp()
        for name in ("systemctl", "deb-systemd-invoke"):
            tool = self.root.folder / "usr/local/sbin" / name
            tool.write_text(f'#!/bin/sh\necho {name} "$@" >>/asked\n')
            tool.chmod(0o755)
        (self.root.folder / "run/systemd/system").mkdir(parents=True)
        self.inside.run("dpkg --purge rubatod rubato-exporter")

    def asked(self, command, of):
        """What a command has systemd do with a unit, in order. deb-systemd-helper reloads it by itself besides."""
        asked = self.root.folder / "asked"
        asked.unlink(missing_ok=True)
        said = self.inside.run(f"PATH=/usr/local/sbin:$PATH {command}")
        lines = asked.read_text().splitlines() if asked.exists() else []
        return [line.split()[1] for line in lines if line.startswith("deb-systemd-invoke") and of in line], said

    def test_rubatod_is_started_where_it_observes_and_ended_before_it_goes(self):
        deb = f"/tmp/{package('rubatod').name}"
        self.assertEqual(self.asked(f"dpkg --install {deb}", "rubatod")[0], ["start"])
        self.manage()
        self.assertEqual(self.asked(f"dpkg --install {deb}", "rubatod")[0], ["stop", "start"], "an upgrade")
        self.assertEqual(self.asked("dpkg --remove rubatod", "rubatod")[0], ["stop"])
        asked, said = self.asked(f"dpkg --install {deb}", "rubatod")
        self.assertEqual(asked, [], "rules of an earlier time let it set")
        self.assertIn("systemctl start rubatod", said)

    def test_the_exporter_is_started_and_ended(self):
        deb = f"/tmp/{package('rubato-exporter').name}"
        self.assertEqual(self.asked(f"dpkg --install {deb}", "rubato-exporter")[0], ["start"])
        self.assertEqual(self.asked(f"dpkg --install {deb}", "rubato-exporter")[0], ["restart"])
        self.assertEqual(self.asked("dpkg --remove rubato-exporter", "rubato-exporter")[0], ["stop"])


class Changed(PackagesTest):
    def setUp(self):
        super().setUp()
        self.rules = self.manage()

    def test_an_upgrade_puts_back_what_a_run_holds_and_keeps_the_rules(self):
        old = self.start_daemon()
        run = self.start_run()
        with tempfile.TemporaryDirectory() as folder:
            self.install(with_version(package("rubatod"), "9.0-1", pathlib.Path(folder)))
        self.assertEqual(self.version_of("rubatod"), "9.0-1 installed")
        self.assertFalse(self.inside.alive(old))
        self.assert_as_found()
        self.assertTrue(self.inside.alive(run), "the training goes on")
        self.assertEqual(self.config.read_text(), self.rules)
        self.inside.run(f"kill -TERM {run}")
        self.inside.wait_until(lambda: not self.inside.alive(run), "the run to end")
        self.start_daemon()
        self.start_run()

    def test_a_removal_puts_back_what_a_run_holds_and_a_purge_leaves_nothing(self):
        daemon = self.start_daemon()
        self.start_run()
        self.inside.run("dpkg --remove rubatod")
        self.assertFalse(self.inside.alive(daemon))
        self.assert_as_found()
        self.assertTrue(self.config.exists(), "rules outlive a removal")
        self.inside.run("mkdir -p /var/log/rubato && touch /var/log/rubato/audit.jsonl && dpkg --purge rubatod rubato-exporter rubato")
        for left in ("etc/rubato", "etc/logrotate.d/rubatod", "var/log/rubato", "run/rubato/rubatod.sock"):
            self.assertFalse((self.root.folder / left).exists(), left)
        for unit in (self.root.folder / "etc/systemd").rglob("rubato*"):
            self.fail(f"{unit} is left")

    def test_what_a_killed_rubatod_left_is_put_back_before_the_program_goes(self):
        daemon = self.start_daemon()
        run = self.start_run()
        self.kill_both(daemon, run)
        said = self.inside.run("dpkg --remove rubatod")
        self.assertIn("restored", said)
        self.assert_as_found()

    def test_where_it_cannot_be_put_back_the_package_and_the_journal_stay(self):
        daemon = self.start_daemon()
        run = self.start_run()
        journals = self.kill_both(daemon, run)
        # The GPU is not among those that the driver has, as one that has fallen off the bus; the driver is there.
        (self.root.folder / "dev/nvidiactl").touch()
        self.manage(gpu="sim:h100")
        status, said = self.inside.ask("dpkg --remove rubatod")
        self.assertNotEqual(status, 0)
        self.assertIn("the package stays", said)
        self.assertTrue(self.version_of("rubatod").endswith(" installed"), self.version_of("rubatod"))
        self.assertEqual(self.journals(), journals)
        # Even a purge that went past that leaves the journal to whoever comes next.
        self.inside.run("sh /var/lib/dpkg/info/rubatod.postrm purge")
        self.assertEqual(self.journals(), journals)
        self.manage()
        self.inside.run("dpkg --remove rubatod")
        self.assert_as_found()


if __name__ == "__main__":
    sys.exit(unittest.main())
