"""integrations/container/Containerfile, built by buildah from a base that is made here, for no registry of images is asked;
and its programs run inside. Without a container runtime: in a chroot of buildah's."""

import pathlib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from old_root import SUITES, tarball
from test_packages import PACKAGES, ROOTS, SOURCE, package

BASE, IMAGE = "localhost/rubato-test-base", "localhost/rubato-test"
# As Debian's own image, with what rubato's packages depend on, so that little is left to download.
SUITES["container"] = {
    **SUITES["bookworm"], "suite": "bookworm", "variant": "apt",
    "packages": ["libfmt9", "libmicrohttpd12", "libsodium23", "libsqlite3-0", "libzstd1", "procps", "zlib1g"],
}  # fmt: skip


class Container(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() != 0 or not shutil.which("buildah"):
            raise unittest.SkipTest("no buildah, or not root, to build an image with")
        for name in ("rubato", "rubatod", "rubato-exporter"):
            package(name)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-container-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        # Nothing of the machine's own images is touched.
        cls.store = ["--storage-driver", "vfs", "--root", folder / "store", "--runroot", folder / "run"]
        base = cls.buildah("from", "scratch")
        cls.buildah("add", base, tarball("container", ROOTS), "/")
        cls.buildah("commit", "--rm", base, BASE)
        options = ["--isolation", "chroot", "--pull-never", "--build-arg", f"BASE={BASE}", "--tag", IMAGE]
        cls.buildah("build", *options, "--file", SOURCE / "integrations/container/Containerfile", PACKAGES)
        cls.container = cls.buildah("from", "--pull-never", IMAGE)

    @classmethod
    def buildah(cls, *words):
        done = subprocess.run(
            ["buildah", words[0], *map(str, cls.store), *map(str, words[1:])], capture_output=True, text=True, timeout=400, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"buildah {words[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout.strip()

    def inside(self, *command):
        return self.buildah("run", "--isolation", "chroot", self.container, "--", *command)

    def test_its_programs_run_as_an_ordinary_user(self):
        self.assertEqual(self.inside("id", "-u"), "65534")
        for name in ("rubato", "rubatod", "rubato-exporter"):
            self.assertTrue(self.inside(name, "--version").startswith(name.split("-")[0]), name)
        self.assertIn("no NVIDIA driver", self.inside("sh", "-c", "rubato doctor || true"))

    def test_a_run_on_a_simulated_gpu_is_put_back(self):
        script = (
            "export HOME=/tmp/home RUBATO_SIM_SCENARIO=/tmp/scenario.json; mkdir -p $HOME; "
            """echo '{"rights": "owner", "rate": 20}' >$RUBATO_SIM_SCENARIO; """
            "rubato run --gpu sim:v100 --power-limit 150 -- rubato sim train resnet50 --iterations 100; rubato show last --json"
        )
        self.assertIn('"restoration": "restored"', self.inside("sh", "-c", script))

    def test_what_apt_left_is_not_in_the_image(self):
        self.assertEqual(self.inside("sh", "-c", "ls -d /packages /var/lib/apt/lists/* 2>/dev/null || true"), "")


if __name__ == "__main__":
    sys.exit(unittest.main())
