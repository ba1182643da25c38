"""Programs that only look: nvtop on a terminal of its own, and hwloc's lstopo."""

import fcntl
import os
import pty
import re
import select
import struct
import termios
import time
import unittest

from clients import LIBRARIES, PATIENCE, ROOT, ClientTest, environment, needs, wait_until


def screen(program, variables, wanted, patience=PATIENCE):
    """What a full-screen program writes until all of `wanted` was seen; it is then told to quit."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(program, [program], {**variables, "TERM": "xterm", "LINES": "50", "COLUMNS": "160"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
    text = ""
    try:
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and not all(re.search(w, text) for w in wanted):
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                raw = os.read(terminal, 1 << 16).decode(errors="replace")
            except OSError:  # it ended
                break
            text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()=>][0-9A-B]?", " ", raw)
        os.write(terminal, b"q")
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    return text


@needs("nvtop")
class Nvtop(ClientTest):
    def test_it_shows_power_limit_clock_and_the_training(self):
        machine = self.machine(rate=1)
        self.assertEqual(machine.gpu().processes(), 0, "whoever looks first makes the world")
        training = machine.start("sim", "train", "resnet50", "--iterations", "100000")
        try:
            wait_until(lambda: machine.gpu().processes() == 1, "the training to hold a context")
            wanted = [r"Tesla V100-PCIE-16GB", r"POW +\d+ / 200 W", r"MEM +877MHz", rf"{training.pid}\b.*Compute"]
            shown = screen(str(ROOT / "usr/bin/nvtop"), environment(machine), wanted)
        finally:
            training.kill()
            training.communicate()
        for pattern in wanted:
            self.assertRegex(shown, pattern)


@needs("lstopo")
class Lstopo(ClientTest):
    def test_it_puts_the_gpus_into_its_picture_of_the_machine(self):
        machine = self.machine(profiles="v100,a100")
        shown = self.call(
            machine, ROOT / "usr/bin/lstopo-no-graphics", "-v", "--of", "console", HWLOC_PLUGINS_PATH=str(LIBRARIES / "hwloc")
        )
        self.assertRegex(shown, r'GPUModel="Tesla V100-PCIE-16GB" NVIDIAUUID=GPU-51\S+ ?\) "nvml0"')
        self.assertRegex(shown, r'GPUModel="NVIDIA A100 80GB PCIe".* "nvml1"')


if __name__ == "__main__":
    unittest.main()
