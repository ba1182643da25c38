"""Runs as the first process of a machine of its own: builds that machine's root, then runs commands there as its user.

Reads a description (JSON) from standard input, writes [{"output", "status"}] for its commands. Started by place.py in
private mount, process, host name and cgroup namespaces, so that nothing of it is left when it ends.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

ETC = ("passwd", "group", "shadow", "pam.d", "security", "nsswitch.conf", "alternatives", "login.defs", "ld.so.conf")


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True)


def build_root(place):
    root = pathlib.Path(place["root"])
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", root)
    for name in ("etc/ld.so.conf.d", "usr", "proc", "dev", "tmp", "run", "home", "root", "var/lib", "opt"):
        (root / name).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        if pathlib.Path("/", name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
        elif pathlib.Path("/", name).is_dir():
            (root / name).mkdir()
            mount("--rbind", f"/{name}", root / name)
    mount("--rbind", "/usr", root / "usr")
    mount("--rbind", "/dev", root / "dev")
    mount("-t", "proc", "proc", root / "proc")
    for name in ETC:
        source = pathlib.Path("/etc", name)
        if source.is_dir():
            shutil.copytree(source, root / "etc" / name, symlinks=True)
        elif source.exists():
            shutil.copy(source, root / "etc" / name)
    for source, target in place["binds"]:
        (root / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
        mount("--bind", source, root / target.lstrip("/"))
    for path, content in place["files"].items():
        file = root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
    (root / "etc/ld.so.conf.d/place.conf").write_text("".join(f"{target}\n" for _, target in place["binds"] if target.endswith("/driver")))
    (root / "etc/hosts").write_text(f"127.0.0.1 localhost {place['host']}\n")
    os.chroot(root)
    os.chdir("/")
    subprocess.run(["ldconfig"], check=False)


def make_user(name, uid):
    with open("/etc/passwd", "a") as passwd, open("/etc/group", "a") as group, open("/etc/shadow", "a") as shadow:
        passwd.write(f"{name}:x:{uid}:{uid}::/home/{name}:/bin/sh\n")
        group.write(f"{name}:x:{uid}:\n")
        shadow.write(f"{name}:*:19000:0:99999:7:::\n")
    os.makedirs(f"/run/user/{uid}", exist_ok=True)
    home = pathlib.Path("/home", name)
    home.mkdir(exist_ok=True)
    for path in (home, *home.rglob("*"), pathlib.Path(f"/run/user/{uid}"), pathlib.Path("/sim"), *pathlib.Path("/sim").glob("*")):
        if path.exists():
            os.chown(path, uid, uid)
    os.chmod(f"/run/user/{uid}", 0o700)


def become(place):
    if place["user"]:
        return ["setpriv", "--reuid", str(place["uid"]), "--regid", str(place["uid"]), "--init-groups", *place["drop"]]
    return ["setpriv", *place["drop"]] if place["drop"] else []


def main():
    place = json.load(sys.stdin)
    build_root(place)
    subprocess.run(["hostname", place["host"]], check=True)
    if place["sudo"]:
        pathlib.Path("/etc/sudoers").write_text(place["sudo"])
        pathlib.Path("/etc/sudoers").chmod(0o440)
        pathlib.Path("/etc/pam.d/sudo").write_text("auth sufficient pam_permit.so\naccount sufficient pam_permit.so\nsession sufficient pam_permit.so\n")
    if place["user"]:
        make_user(place["user"], place["uid"])
    home = f"/home/{place['user']}" if place["user"] else "/root"
    results = []
    for command in place["commands"]:
        done = subprocess.run(
            [*become(place), "sh", "-c", command], env={**place["environment"], "HOME": home}, cwd=home,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=place["patience"],
        )
        results.append({"output": done.stdout, "status": done.returncode})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
