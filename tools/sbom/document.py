"""A bill of materials in CycloneDX 1.5 (https://cyclonedx.org/docs/1.5/json/), and the programs in released files."""

import datetime
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import tarfile
import uuid
import zipfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
ELF = b"\x7fELF"
# Of rubato's own project on no registry: names the serial number, so that the same content has the same.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "rubato/sbom")


def version():
    return re.search(r"^project\(rubato VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]


def released(path):
    """Every program and library in a released file: its name there, and its bytes."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            yield from ((n, archive.read(n)) for n in sorted(archive.namelist()) if archive.read(n)[:4] == ELF)
        return
    packed = path.read_bytes()
    if path.suffix == ".deb":
        packed = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            content = archive.extractfile(member).read() if member.isfile() else b""
            if content[:4] == ELF:
                yield member.name.removeprefix("./"), content


def seconds():
    """When the sources were last changed: a document of the same sources has the same time."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    asked = subprocess.run(["git", "-C", SOURCE, "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(asked.stdout) if asked.stdout.strip() else int((SOURCE / "CMakeLists.txt").stat().st_mtime)


def sha256(content):
    return [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]


class Document:
    def __init__(self):
        self.components = {}
        self.depends = {}

    def add(self, path, programs):
        """One released file with its programs, and for each of those what it is made of and what it needs."""
        top = f"file:{path.name}"
        self.components[top] = {"type": "application", "name": path.name, "version": version(), "hashes": sha256(path.read_bytes())}
        self.depends[top] = set()
        for name, content, parts in programs:
            reference = f"{top}#{name}"
            self.components[reference] = {"type": "file", "name": name, "hashes": sha256(content)}
            self.depends[top].add(reference)
            self.depends[reference] = {part["purl"] for part in parts}
            for part in parts:
                known = self.components.setdefault(
                    part["purl"], {"type": "library", "name": part["name"], "version": part["version"], "purl": part["purl"]}
                )
                if "licence" in part:
                    known["licenses"] = [{"license": {"id": part["licence"]}}]
                # Linked when started, compiled in, or copied in: one library may be two of them, in different programs.
                how = {"name": "rubato:how", "value": part["how"]}
                properties = known.setdefault("properties", [])
                if how not in properties:
                    properties.append(how)

    def text(self):
        components = []
        for reference, about in sorted(self.components.items()):
            about.get("properties", []).sort(key=lambda p: p["value"])
            components.append({"bom-ref": reference, **about})
        root = f"rubato@{version()}"
        depends = {**self.depends, root: {r for r in self.components if r.startswith("file:") and "#" not in r}}
        content = {
            "components": components,
            "dependencies": [{"ref": r, "dependsOn": sorted(on)} for r, on in sorted(depends.items())],
        }
        serial = uuid.uuid5(NAMESPACE, json.dumps(content, sort_keys=True))
        when = datetime.datetime.fromtimestamp(seconds(), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        about = {
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "serialNumber": f"urn:uuid:{serial}",
            "version": 1,
            "metadata": {
                "timestamp": when,
                "component": {
                    "bom-ref": root, "type": "application", "name": "rubato", "version": version(),
                    "licenses": [{"license": {"id": "Apache-2.0"}}],
                },  # fmt: skip
            },
        }
        return json.dumps({**about, **content}, indent=1) + "\n"

    def summary(self):
        kinds = [about["type"] for about in self.components.values()]
        return f"{kinds.count('application')} files, {kinds.count('file')} programs, {kinds.count('library')} libraries"
