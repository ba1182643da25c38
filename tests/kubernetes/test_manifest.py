"""The Kubernetes manifest: what the API server's own schema takes, and no right beyond those that docs/kubernetes.md explains."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

try:
    import yaml
except ImportError:
    raise unittest.SkipTest("no python3-yaml") from None

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RUBATO_BUILD_DIR", SOURCE / "build" / "release"))
MANIFEST = SOURCE / "integrations" / "kubernetes" / "rubato.yaml"
SCHEMAS = SOURCE / "build" / "venvs" / "schemas" / "bin" / "python"
# Every version that is still maintained somewhere, and the newest.
VERSIONS = ("1.27", "1.31", "1.37")
VALIDATE = """
import sys, yaml, kubernetes_validate
for version in sys.argv[2:]:
    for resource in yaml.safe_load_all(open(sys.argv[1])):
        kubernetes_validate.validate(resource, version, strict=True)
"""
# Fields of a pod and of a security context that give rights; whatever else is one of these is not asked for here.
POD_RIGHTS = {"hostPID", "hostIPC", "hostNetwork", "hostUsers", "shareProcessNamespace", "serviceAccountName", "securityContext"}


class Manifest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.all = list(yaml.safe_load_all(MANIFEST.read_text()))
        cls.pods = {r["metadata"]["name"]: r["spec"]["template"]["spec"] for r in cls.all if r["kind"] == "DaemonSet"}

    def one(self, kind, name):
        return next(r for r in self.all if (r["kind"], r["metadata"]["name"]) == (kind, name))

    def container(self, name):
        (container,) = self.pods[name]["containers"]
        return container

    def test_the_schema_of_kubernetes_takes_every_resource(self):
        if not SCHEMAS.exists():
            self.skipTest("no build/venvs/schemas: tools/make-test-venv schemas")
        done = subprocess.run([SCHEMAS, "-c", VALIDATE, MANIFEST, *VERSIONS], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        wrong = BUILD / "kubernetes-wrong.yaml"
        wrong.write_text(MANIFEST.read_text().replace("hostPID: true", "hostPid: true"))
        done = subprocess.run([SCHEMAS, "-c", VALIDATE, wrong, VERSIONS[-1]], capture_output=True, text=True, check=False)
        wrong.unlink()
        self.assertIn("hostPid", done.stderr)

    def test_rubatod_has_these_rights_and_no_others(self):
        pod = self.pods["rubatod"]
        self.assertEqual(POD_RIGHTS & set(pod), {"hostPID"})
        rights = self.container("rubatod")["securityContext"]
        self.assertEqual(rights["capabilities"], {"drop": ["ALL"], "add": ["SYS_ADMIN"]})
        self.assertNotIn("privileged", rights)
        self.assertTrue(rights["readOnlyRootFilesystem"])
        self.assertEqual(rights["seccompProfile"], {"type": "RuntimeDefault"})
        # The API server refuses the manifest otherwise; no schema says so.
        self.assertTrue(rights["allowPrivilegeEscalation"])

    def test_the_exporter_has_no_right(self):
        pod = self.pods["rubato-exporter"]
        self.assertEqual(POD_RIGHTS & set(pod), {"hostPID"})
        rights = self.container("rubato-exporter")["securityContext"]
        self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
        self.assertTrue(rights["runAsNonRoot"] and rights["runAsUser"] > 0 and rights["readOnlyRootFilesystem"])
        self.assertIs(rights["allowPrivilegeEscalation"], False)
        self.assertTrue(all(m["readOnly"] for m in self.container("rubato-exporter")["volumeMounts"]))

    def test_of_the_node_they_see_one_folder_and_no_token(self):
        for name, pod in self.pods.items():
            folders = [v["hostPath"]["path"] for v in pod["volumes"] if "hostPath" in v]
            self.assertEqual(folders, ["/run/rubato"], name)
            self.assertIs(pod["automountServiceAccountToken"], False)
            mounted = {m["name"] for m in self.container(name)["volumeMounts"]}
            self.assertEqual(mounted, {v["name"] for v in pod["volumes"]})
            policy = self.one("NetworkPolicy", name)
            self.assertEqual(sorted(policy["spec"]["policyTypes"]), ["Egress", "Ingress"])
            self.assertNotIn("egress", policy["spec"], "nothing goes out")
            labels = self.one("DaemonSet", name)["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(policy["spec"]["podSelector"]["matchLabels"], labels)
        self.assertNotIn("ingress", self.one("NetworkPolicy", "rubatod")["spec"])

    def test_rubatod_takes_the_rules_and_they_observe(self):
        rules = self.one("ConfigMap", "rubatod")["data"]["rubatod.toml"]
        self.assertIn('mode = "observe"', rules)
        program = BUILD / "bin" / "rubatod"
        if not program.exists():
            self.skipTest(f"no {program}")
        file = BUILD / "kubernetes-rules.toml"
        file.write_text(rules)
        file.chmod(0o644)
        done = subprocess.run([program, "--config", file, "--check"], capture_output=True, text=True, check=False)
        file.unlink()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_options_and_page_are_those_of_the_programs(self):
        for name in self.pods:
            container = self.container(name)
            program = BUILD / "bin" / name
            if not program.exists():
                self.skipTest(f"no {program}")
            said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
            for word in container["command"][1:]:
                if word.startswith("--"):
                    self.assertIn(word, said)

    def test_every_right_is_explained(self):
        page = (SOURCE / "docs" / "kubernetes.md").read_text()
        for words in ("`hostPID`", "`SYS_ADMIN`", "`allowPrivilegeEscalation`", "`/run/rubato`", "`runtimeClassName: nvidia`",
                      "`NVIDIA_VISIBLE_DEVICES", "`priorityClassName", "`readOnlyRootFilesystem`", "`seccompProfile`",
                      "pod-security.kubernetes.io/enforce"):  # fmt: skip
            self.assertIn(words, page)

    def test_the_image_is_that_of_the_container_file(self):
        version = re.search(r"^project\(rubato VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]
        recipe = (SOURCE / "integrations" / "container" / "Containerfile").read_text()
        for name in self.pods:
            self.assertEqual(self.container(name)["image"], f"rubato:{version}")
        self.assertIn(f"-t rubato:{version} build/rubato-{version}", recipe)


if __name__ == "__main__":
    sys.exit(unittest.main())
