"""What tools/make-release has made: sums that are right, and a bill of materials that names what the files really are."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
VERSION = re.search(r"^project\(rubato VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
RELEASE = pathlib.Path(os.environ.get("RUBATO_RELEASE_DIR", SOURCE / "build" / f"rubato-{VERSION}"))
SCHEMAS = SOURCE / "build" / "venvs" / "schemas" / "bin" / "python"
VALIDATE = """
import pathlib, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(pathlib.Path(sys.argv[1]).read_text())
sys.exit(str(error) if error else 0)
"""


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = RELEASE / f"rubato-{VERSION}.cdx.json"
        if not cls.file.exists():
            raise unittest.SkipTest(f"no {cls.file}: tools/make-release")
        cls.bill = json.loads(cls.file.read_text())
        cls.components = {c["bom-ref"]: c for c in cls.bill["components"]}
        cls.needs = {d["ref"]: d["dependsOn"] for d in cls.bill["dependencies"]}

    def test_every_file_has_its_sum(self):
        sums = dict(reversed(line.split("  ")) for line in (RELEASE / "SHA256SUMS").read_text().splitlines())
        files = {p.name: p for p in RELEASE.iterdir() if p.name != "SHA256SUMS"}
        self.assertEqual({name: sha256(path) for name, path in files.items()}, sums)

    def test_every_released_file_is_told_of_by_its_hash(self):
        told = {c["name"]: c["hashes"][0]["content"] for c in self.components.values() if c["type"] == "application"}
        files = [p for p in RELEASE.iterdir() if p.suffix in (".deb", ".gz", ".whl")]
        self.assertGreaterEqual(len(files), 4)
        self.assertEqual(told, {p.name: sha256(p) for p in files})

    def test_references_lead_somewhere(self):
        root = self.bill["metadata"]["component"]["bom-ref"]
        for reference, on in self.needs.items():
            self.assertIn(reference, {*self.components, root})
            for needed in on:
                self.assertIn(needed, self.components)

    def test_a_package_depends_on_what_the_bill_says_that_its_programs_link(self):
        """dpkg-shlibdeps finds the libraries in a way of its own."""
        for deb in RELEASE.glob("*.deb"):
            asked = subprocess.run(["dpkg-deb", "--field", deb, "Depends"], check=True, capture_output=True, text=True).stdout
            wanted = {d.split()[0] for d in asked.split(", ")} - {"procps", "rubato"}
            linked = set()
            for program in self.needs[f"file:{deb.name}"]:
                for part in self.needs[program]:
                    how = [p["value"] for p in self.components[part]["properties"]]
                    if "linked when started" in how and not self.components[part]["name"].endswith("-dev"):
                        linked.add(self.components[part]["name"])
            # dpkg-shlibdeps leaves out a library of which no symbol is used.
            self.assertLessEqual(wanted, linked, deb.name)

    def test_what_is_compiled_or_copied_in_is_there_with_its_licence(self):
        (deb,) = RELEASE.glob("rubato_*.deb")
        inside = {self.components[r]["name"]: self.components[r] for r in self.needs[f"file:{deb.name}#usr/bin/rubato"]}
        for name in ("libcli11-dev", "nlohmann-json3-dev", "libeigen3-dev", "libtomlplusplus-dev", "libexpected-dev", "uplot"):
            self.assertIn("licenses", inside.get(name, {}), name)
        self.assertNotIn("uplot", {self.components[r]["name"] for r in self.needs[self.program("rubatod_", "usr/bin/rubatod")]})

    def program(self, package, name):
        return next(r for r in self.needs if r.startswith(f"file:{package}") and r.endswith(f"#{name}"))

    def test_the_schema_of_cyclonedx_takes_it(self):
        if not SCHEMAS.exists():
            self.skipTest("no build/venvs/schemas: tools/make-test-venv schemas")
        done = subprocess.run([SCHEMAS, "-c", VALIDATE, self.file], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_same_files_give_the_same_bill(self):
        with tempfile.TemporaryDirectory() as folder:
            again = pathlib.Path(folder) / "again.json"
            files = sorted(p for p in RELEASE.iterdir() if p.suffix in (".deb", ".gz", ".whl"))
            subprocess.run([SOURCE / "tools" / "make-sbom", "--out", again, *files], check=True, cwd=SOURCE, capture_output=True)
            self.assertEqual(again.read_text(), self.file.read_text())


if __name__ == "__main__":
    sys.exit(unittest.main())
