"""rubato-exporter with its dashboard, beside the simulated machine of a test."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from harness import BUILD, PATIENCE  # noqa: E402

EXPORTER = BUILD / "bin" / "rubato-exporter"


def missing():
    return None if EXPORTER.exists() else "rubato-exporter was not built: libmicrohttpd-dev is missing"


class Dashboard:
    def __init__(self, machine, gpus="0", port=0, options=(), http=True, host="127.0.0.1"):
        self.machine, self.gpus, self.port, self.options, self.http, self.host = machine, gpus, port, options, http, host
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [EXPORTER, "--gpu", self.gpus, "--listen", "127.0.0.1:0", *(["--http", f"{self.host}:{self.port}"] if self.http else []), *self.options],
            env=self.machine.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = ""
        for line in self.process.stderr:
            self.said += line
            if found := re.search(r"dashboard http://[0-9.]+:(\d+)/ \(token in (.+)\)", line):
                self.port, self.token_file = int(found[1]), found[2]
            if "serving" in line:
                break
        else:
            raise AssertionError(f"rubato-exporter ended: {self.said}")
        if not self.http:
            return
        with open(self.token_file) as file:
            self.token = file.read().strip()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.login = f"{self.url}?token={self.token}"

    def stop(self, by=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(by)
        status = self.process.wait(PATIENCE)
        self.process.stderr.close()
        return status

    def again(self):
        """The same address and token, as a service that was restarted."""
        self.stop()
        self.start()

    def ask(self, path, **headers):
        """(status, headers, body) as a program gets them; `token=None` leaves the token out."""
        sent = {name.replace("_", "-"): value for name, value in headers.items() if name != "token"}
        token = headers.get("token", self.token)
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url.rstrip("/") + path, headers=sent)
        try:
            with urllib.request.build_opener(NoRedirect).open(request, timeout=PATIENCE) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.headers, refused.read().decode()

    def document(self, path):
        deadline = time.monotonic() + PATIENCE
        status, _, body = self.ask(path)
        while status == 503 and time.monotonic() < deadline:
            time.sleep(0.1)
            status, _, body = self.ask(path)
        if status != 200:
            raise AssertionError(f"{path}: {status} {body}")
        return json.loads(body)

    def cpu_s(self):
        """User and system time so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None
