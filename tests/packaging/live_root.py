"""One life inside a root: a shell in namespaces of its own, to which commands are sent one after the other."""

import json
import subprocess
import time

PATIENCE = 60
END = "@@ended"


class LiveRoot:
    """What a command leaves running runs on until close(), which ends everything inside."""

    def __init__(self, root, **environment):
        self.root = root
        self.shell = subprocess.Popen(
            [*root.entered(**{"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **environment}), "bash"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip

    def close(self):
        self.shell.kill()
        self.shell.communicate()

    def ask(self, command):
        """Status and everything that was said."""
        self.shell.stdin.write(f"( {command} ) </dev/null\nstatus=$?; echo; echo {END} $status\n")
        self.shell.stdin.flush()
        said = []
        for line in self.shell.stdout:
            if line.startswith(END):
                return int(line.split()[1]), "".join(said).rstrip("\n")
            said.append(line)
        raise AssertionError(f"the root is gone at {command!r}: {''.join(said)}")

    def run(self, command):
        status, said = self.ask(command)
        if status != 0:
            raise AssertionError(f"{command!r} ended with {status}: {said}")
        return said

    def start(self, command, log):
        """In the background; its process id."""
        return int(self.run(f"{command} >{log} 2>&1 & echo $!"))

    def alive(self, pid):
        status, state = self.ask(f"cut -d ' ' -f 3 /proc/{pid}/stat")
        return status == 0 and state != "Z"

    def requested_limit(self, gpu):
        told = json.loads(self.run(f"rubato devices --gpu {gpu} --json 2>/dev/null"))
        return told["gpus"][0]["power_limits"]["requested_w"]

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {PATIENCE} s for: {what}")
            time.sleep(0.05)
