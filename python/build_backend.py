"""Builds the wheel (PEP 517): the files that tools/make-portable has made, and the package rubato.

The native program goes to the scripts folder, so that `rubato` starts without a Python around it.
"""

import base64
import hashlib
import os
import pathlib
import time
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
TAGS_BEFORE_PEP_600 = {"2.17": "manylinux2014", "2.12": "manylinux2010"}


class Wheel:
    """A zip file with modes and a record of its hashes; the same input gives the same bytes."""

    def __init__(self, path, dist_info):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.dist_info = dist_info
        self.time = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
        self.record = []

    def add(self, name, content, mode=0o644):
        info = zipfile.ZipInfo(name, self.time)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        self.archive.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def add_tree(self, folder, to):
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            self.add(f"{to}/{path.relative_to(folder)}", path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)

    def close(self):
        name = f"{self.dist_info}/RECORD"
        self.record.append(f"{name},,\n")
        self.archive.writestr(zipfile.ZipInfo(name, self.time), "".join(self.record))
        self.archive.close()


def stage():
    """What tools/make-portable has installed, and the glibc it is for."""
    if "RUBATO_STAGE" not in os.environ:
        raise SystemExit("the wheel carries a native program that tools/make-portable builds: run that")
    return pathlib.Path(os.environ["RUBATO_STAGE"]), os.environ["RUBATO_GLIBC"]


def platform_tag(glibc):
    tags = [f"manylinux_{glibc.replace('.', '_')}_x86_64"]
    if glibc in TAGS_BEFORE_PEP_600:  # for pip before 20.3
        tags.append(f"{TAGS_BEFORE_PEP_600[glibc]}_x86_64")
    return ".".join(tags)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files, glibc = stage()
    project = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
    version = files.name.split("-")[1]
    distribution = f"{project['name'].replace('-', '_')}-{version}"
    tag = platform_tag(glibc)
    name = f"{distribution}-py3-none-{tag}.whl"
    dist_info = f"{distribution}.dist-info"
    wheel = Wheel(pathlib.Path(wheel_directory) / name, dist_info)

    for path in sorted((HERE / "rubato").rglob("*.py")):
        wheel.add(path.relative_to(HERE).as_posix(), path.read_bytes())
    wheel.add_tree(files / "lib" / "rubato", "rubato/standin")
    # Daemons and their services are an administrator's, and nothing for an environment.
    wheel.add(f"{distribution}.data/scripts/rubato", (files / "bin" / "rubato").read_bytes(), 0o755)
    for folder in ("man/man1", "bash-completion", "zsh", "fish", "rubato/gpus", "rubato/priors", "rubato/python"):
        if (files / "share" / folder).is_dir():
            wheel.add_tree(files / "share" / folder, f"{distribution}.data/data/share/{folder}")
    # pip removes a folder with the package only where a file lies in it directly.
    wheel.add(f"{distribution}.data/data/share/rubato/VERSION", f"{version}\n".encode())
    for text in ("LICENSE", "THIRD-PARTY-NOTICES"):
        wheel.add(f"{dist_info}/licenses/{text}", (files / "share" / "doc" / "rubato" / text).read_bytes())

    metadata = {
        "Metadata-Version": "2.1",
        "Name": project["name"],
        "Version": version,
        "Summary": project["description"],
        "License": project["license"],
        "Requires-Python": project["requires-python"],
    }
    wheel.add(f"{dist_info}/METADATA", "".join(f"{k}: {v}\n" for k, v in metadata.items()).encode())
    about = ["Wheel-Version: 1.0", "Generator: rubato", "Root-Is-Purelib: false"]
    about += [f"Tag: py3-none-{platform}" for platform in tag.split(".")]
    wheel.add(f"{dist_info}/WHEEL", ("\n".join(about) + "\n").encode())
    wheel.close()
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("there is no source distribution: the sources are the repository")
