"""A client that means harm changes nothing and slows nobody."""

import ctypes
import fcntl
import os
import random
import resource
import signal
import socket
import time
import unittest

import harness
from daemon_world import MANAGE, Client, DaemonTest
from harness import FOUND_W

# Far above what a request takes; far below the 4.5 s after which a client gives a daemon up.
SLOWEST_S = 2.0
CONNECTIONS = 10_000
CLONE_NEWUSER = 0x10000000  # sched.h


class Hostile(DaemonTest):
    def set_up(self, config=MANAGE, **options):
        # Of the wall's time: heartbeats of the honest client are one a second.
        machine = self.machine(rate=1)
        self.process = self.daemon(machine, config, **options)
        honest = Client(machine.socket)
        (gpu,) = honest.gpus()
        self.assertEqual(honest.acquire(gpu)[0], "granted")
        self.assertEqual(honest.set_limit(gpu, 160)[0], "applied")
        return machine, honest, gpu

    def still_served(self, machine, honest, gpu, watts):
        begin = time.monotonic()
        verb, lines = honest.set_limit(gpu, watts)
        self.assertEqual(verb, "applied", lines)
        self.assertLess(time.monotonic() - begin, SLOWEST_S)
        self.assertEqual(machine.gpu().limit(), watts)

    def raw(self, machine):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(str(machine.socket))  # waits where the queue is full, as it would not with a timeout
        connection.settimeout(harness.PATIENCE)
        return connection

    def test_garbage_half_messages_and_too_long_ones(self):
        machine, honest, gpu = self.set_up()
        dice = random.Random(7)
        whole = f"rubato-lease/1 apply 1\ngpu {gpu}\npower-limit 250\n".encode()
        for round_number in range(40):
            connection = self.raw(machine)
            try:
                for _ in range(20):
                    kind = dice.randrange(4)
                    if kind == 0:
                        connection.send(dice.randbytes(dice.randrange(1, 2000)))
                    elif kind == 1:
                        connection.send(whole[: dice.randrange(1, len(whole))])
                    elif kind == 2:
                        connection.send(b"rubato-lease/1 hello 1\nclient " + b"x" * 40_000)
                    else:
                        connection.send(whole)
            except OSError:
                pass  # let go
            connection.close()
            if round_number % 10 == 0:
                self.still_served(machine, honest, gpu, 150 + round_number // 10)
        self.assertIsNone(self.process.poll())

    def test_ten_thousand_connections(self):
        machine, honest, gpu = self.set_up()
        crowd = []
        for number in range(CONNECTIONS):
            crowd.append(self.raw(machine))
            # No more at once than an ordinary process may have open.
            if len(crowd) > 800:
                crowd.pop(0).close()
            if number % 2000 == 1999:
                self.still_served(machine, honest, gpu, 150 + number // 2000)
        for connection in crowd:
            connection.close()
        self.still_served(machine, honest, gpu, 170)

    def test_a_flood_of_messages_waits_in_its_own_socket(self):
        machine, honest, gpu = self.set_up()
        flood = Client(machine.socket)
        flood.socket.setblocking(False)
        end = time.monotonic() + 2
        sent = 0
        while time.monotonic() < end:
            try:
                flood.socket.send(b"rubato-lease/1 heartbeat 0\n")
                sent += 1
            except OSError:
                time.sleep(0.001)
        self.assertGreater(sent, 500)
        self.still_served(machine, honest, gpu, 155)

    def test_a_client_that_never_reads_is_let_go(self):
        machine, honest, gpu = self.set_up()
        deaf = Client(machine.socket)
        deaf.socket.settimeout(1)
        with self.assertRaises(OSError):
            for _ in range(200_000):
                deaf.send("status")
        self.still_served(machine, honest, gpu, 155)

    def refused_often(self, machine, gpu, times=60):
        """Each is a line in the log. Slowly enough for the rates that a user has."""
        busy = Client(machine.socket)
        for _ in range(times):
            self.assertEqual(busy.acquire(gpu)[0], "refused")
            time.sleep(0.02)

    def test_a_line_longer_than_a_pipe_takes_at_once_keeps_nobody_waiting(self):
        machine, reader, daemon = self.with_a_narrow_log()
        honest = Client(machine.socket)
        (gpu,) = honest.gpus()
        self.assertEqual(honest.acquire(gpu)[0], "granted")
        busy = Client(machine.socket)
        names = [f"gpu GPU-{i:02}" + "\u00e9" * 45 for i in range(64)]
        self.assertEqual(busy.ask("acquire", *names, "knob power-limit")[0], "refused")
        self.still_served(machine, honest, gpu, 155)
        line = os.read(reader, 1 << 16)
        self.assertLessEqual(max(map(len, line.split(b"\n"))), 4096)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(harness.PATIENCE), 0)

    def with_a_narrow_log(self):
        """A daemon whose log is a pipe of one page, and the end of it that nobody reads."""
        machine = self.machine(rate=1)
        self.daemon(machine)  # writes the configuration, and is ready
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        self.process_ended(machine)
        machine.config.write_text(f'disable_file = "{machine.disable_file}"\n{MANAGE}')
        daemon = self.start(machine, stderr=writer)
        os.close(writer)
        harness.wait_until(lambda: self.ready(machine), "rubatod to be ready")
        return machine, reader, daemon

    def test_a_log_that_nobody_reads_keeps_nobody_waiting(self):
        machine, _, daemon = self.with_a_narrow_log()
        honest = Client(machine.socket)
        (gpu,) = honest.gpus()
        self.assertEqual(honest.acquire(gpu)[0], "granted")
        self.refused_often(machine, gpu)
        self.still_served(machine, honest, gpu, 155)
        honest.close()
        harness.wait_until(lambda: machine.gpu().limit() == FOUND_W, "the lease of the one that is gone to end")
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(harness.PATIENCE), 0)

    def test_a_log_that_may_not_grow_ends_no_lease(self):
        machine = self.machine(rate=1)
        self.daemon(machine)
        self.process_ended(machine)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        # The journal has to be written, in a file of its own.
        daemon = self.start(machine, limits=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, before[1])))
        harness.wait_until(lambda: self.ready(machine), "rubatod to be ready")
        honest = Client(machine.socket)
        (gpu,) = honest.gpus()
        self.assertEqual(honest.acquire(gpu)[0], "granted")
        self.refused_often(machine, gpu)
        self.assertIsNone(daemon.poll())
        self.still_served(machine, honest, gpu, 155)

    def public_daemon(self, rules):
        machine = self.machine(rate=1)
        machine.folder.chmod(0o711)
        public = machine.folder / "public"
        public.mkdir(mode=0o755)
        self.daemon(machine, rules, socket_path=public / "rubatod.sock")
        return machine

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_all_connections_of_a_user_together_have_a_rate(self):
        machine = self.public_daemon(MANAGE + "[rates]\nuser_messages_per_s = 50\n")

        def flood():
            begin = time.monotonic()
            crowd = [Client(machine.socket, hello=False) for _ in range(20)]
            for client in crowd:
                client.socket.setblocking(False)
            replies = 0
            while time.monotonic() - begin < 3:
                for client in crowd:
                    try:
                        client.send("hello")
                        replies += len(client.socket.recv(1 << 15)) > 0
                    except BlockingIOError:
                        pass
            return f"{replies} {time.monotonic() - begin}"

        replies, seconds = self.as_nobody(flood).split()
        self.assertGreater(int(replies), 100)
        self.assertLessEqual(int(replies), 50 * (2 + float(seconds)) + 1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_an_ordinary_user_leaves_no_lock_behind_and_gains_nothing_in_a_user_namespace(self):
        machine = self.public_daemon(MANAGE)

        def attack():
            honest = Client(machine.socket)
            (gpu,) = honest.gpus()
            wanted = ("acquire", f"gpu {gpu}", "knob sm-clock")
            stating = dict(honest.ask(*wanted, "found-sm-clock 135 135")[1])
            told = [stating["what"], honest.ask(*wanted)[0], honest.ask("release")[0]]
            if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER) != 0:
                return "no user namespaces here"
            inside = Client(machine.socket)
            return "\n".join((*told, inside.ask("status")[0], dict(inside.ask(*wanted)[1])["what"]))

        said = self.as_nobody(attack)
        if said == "no user namespaces here":
            self.skipTest(said)
        stating, *told, inside = said.split("\n")
        self.assertIn("only root tells rubatod of a clock lock", stating)
        self.assertEqual(told, ["granted", "restored", "state"])
        self.assertIn("no rule of rubatod is for user 65534", inside)
        self.assertIn("in a user namespace", inside)
        self.assertIn([135, 135], [line.get("found_sm_clock_mhz") for line in self.audit(machine)])

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_an_ordinary_user_gains_nothing_by_any_message(self):
        machine = self.public_daemon(MANAGE + "[[rule]]\nusers = [0]\n[rates]\nconnections_per_user = 8\n")
        honest = Client(machine.socket)
        (gpu,) = honest.gpus()
        honest.acquire(gpu)
        honest.set_limit(gpu, 160)

        def attack():
            thief = Client(machine.socket)
            told = []
            for verb, *lines in (
                ("acquire", f"gpu {gpu}", "knob power-limit"),
                ("apply", f"gpu {gpu}", "power-limit 100"),
                ("apply", f"gpu {gpu}", "sm-clock 210 210"),
                ("restore", f"gpu {gpu}"),
                ("release",),
                ("hello", "client root", "token 0", "uid 0"),
                ("granted", f"gpu {gpu}", "limits 100 250 250 200 200"),
                ("acquire", f"gpu {gpu}", "knob power-limit"),
                ("acquire", "gpu ../../etc/passwd", "knob power-limit"),
            ):
                told.append(thief.ask(verb, *lines)[0])
            crowd = [Client(machine.socket, hello=False) for _ in range(20)]
            told.append(crowd[-1].receive()[0])
            return " ".join(told)

        said = self.as_nobody(attack)
        self.assertEqual(said, "refused refused refused refused refused welcome refused refused refused refused")
        self.still_served(machine, honest, gpu, 150)
        # Nor does what lies about help: journals, locks and the rules are root's alone.
        runtime = machine.folder / "runtime" / "rubato"

        def write():
            opened = 0
            for path in (machine.config, machine.audit_file, *runtime.parent.glob("**/*")):
                try:
                    os.close(os.open(path, os.O_WRONLY))
                    opened += 1
                except OSError:
                    pass
            return str(opened)

        self.assertEqual(self.as_nobody(write), "0")
        honest.ask("release")
        self.assertEqual(machine.gpu().limit(), FOUND_W)


if __name__ == "__main__":
    unittest.main()
