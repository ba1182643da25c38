"""Power meters with known watts: a made RAPL tree, a real snmpd, a real MQTT broker, and what feeds them.

The servers are those of tools/unpack-test-servers, on loopback. Watts come from a thread that reads the wall
clock, so a stretch of any length has known joules however late the machine is.
"""

import collections
import functools
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time

from harness import BUILD, SOURCE, MachineTest, free_port, preload_sanitizer, wait_until

SERVERS = SOURCE / "build" / "servers"
POWER_OBJECT, ENERGY_OBJECT = "1.3.6.1.4.1.99999.1", "1.3.6.1.4.1.99999.2"
TICK_S = 0.05
# A busy machine rewrites the register of joules later than that.
STALE_S = 0.2

# Prints the board's power as any program on the machine sees it: time, watts.
WATCH_GPU = """
import ctypes, time
nvml = ctypes.CDLL("libnvidia-ml.so.1")
handle, power = ctypes.c_void_p(), ctypes.c_uint()
assert nvml.nvmlInit_v2() == 0 and nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
while True:
    if nvml.nvmlDeviceGetPowerUsage(handle, ctypes.byref(power)) == 0:
        print(time.monotonic(), power.value / 1000, flush=True)
    time.sleep(0.05)
"""


def why_no_server(name):
    """None where it is there, else the reason: for skipping."""
    try:
        lines = (SERVERS / "status").read_text().splitlines()
    except OSError:
        return "no test servers are unpacked: tools/unpack-test-servers"
    why = dict(line.split("\t", 1) for line in lines).get(name, "not unpacked")
    return None if why == "ok" else f"{name}: {why}"


def why_no_module(name):
    module = BUILD / "lib" / "rubato" / f"librubato-meter-{name}.so"
    return None if module.exists() else f"this build has no {module.name}"


class Server:
    """One of the unpacked programs; its output is kept in a log."""

    def __init__(self, log):
        self.log = log
        self.process = None

    def spawn(self, program, *words, **environment):
        root = SERVERS / "root"
        libraries = [str(root / folder / f"{os.uname().machine}-linux-gnu") for folder in ("usr/lib", "lib")]
        with open(self.log, "ab") as log:
            shared = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": ":".join(libraries), "MIBS": ""}
            self.process = subprocess.Popen([str(root / program), *map(str, words)], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env={**shared, **environment})

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


class Agent(Server):
    """snmpd as a power strip: whole watts and a register of joules, or whatever else it is told to say."""

    def __init__(self, folder):
        folder.mkdir()
        super().__init__(folder / "log")
        self.folder, self.port = folder, free_port(socket.SOCK_DGRAM)
        self.say(0)
        answers = f"/usr/bin/python3 -u {SOURCE}/tests/meter_net/agent_values.py {folder}/values"
        (folder / "snmpd.conf").write_text(f"agentaddress udp:127.0.0.1:{self.port}\n"
                                           "rocommunity secret 127.0.0.1\n"
                                           f"pass_persist .1.3.6.1.4.1 {answers}\n")
        self.start()

    def start(self):
        self.spawn("usr/sbin/snmpd", "-f", "-Lo", "-C", "-c", self.folder / "snmpd.conf",
                   "-p", self.folder / "pid", "-I", "-smux", SNMP_PERSISTENT_DIR=str(self.folder / "state"))

    def say(self, watts, joules=0, kind="integer"):
        lines = f".{POWER_OBJECT} {kind} {watts}\n.{ENERGY_OBJECT} counter64 {int(joules)}\n"
        (self.folder / "new").write_text(lines)
        (self.folder / "new").rename(self.folder / "values")

    def table(self, **more):
        return {"kind": "snmp", "host": "127.0.0.1", "port": self.port, "community": "secret",
                "power_oid": POWER_OBJECT, "period_s": 0.5, "accuracy": 0.01, **more}


class Broker(Server):
    """mosquitto, and a smart plug that publishes to it: MQTT 3.1.1, quality of service 0."""

    TOPIC = "tele/desk/SENSOR"

    def __init__(self, folder):
        folder.mkdir()
        super().__init__(folder / "log")
        self.port, self.plug = free_port(socket.SOCK_STREAM), None
        self.configuration = folder / "mosquitto.conf"
        self.configuration.write_text(f"listener {self.port} 127.0.0.1\nuser root\nallow_anonymous true\n")
        self.start()

    def start(self):
        self.spawn("usr/sbin/mosquitto", "-c", self.configuration)

    def publish(self, message):
        """As a plug does: lost where the broker is away."""
        try:
            if self.plug is None:
                self.plug = socket.create_connection(("127.0.0.1", self.port), timeout=2)
                self.plug.sendall(b"\x10\x10\x00\x04MQTT\x04\x02\x00\x00\x00\x04desk")
                if self.plug.recv(4) != b"\x20\x02\x00\x00":
                    raise OSError("the broker refuses")
            topic = self.TOPIC.encode()
            body = len(topic).to_bytes(2, "big") + topic + message.encode()
            size = len(body)
            length = [size] if size < 128 else [size % 128 + 128, size // 128]
            self.plug.sendall(b"\x30" + bytes(length) + body)
        except OSError:
            if self.plug:
                self.plug.close()
            self.plug = None

    def stop(self):
        super().stop()
        if self.plug:
            self.plug.close()
            self.plug = None

    def say(self, watts):
        self.publish(json.dumps({"ENERGY": {"Power": watts}}))

    def table(self, **more):
        return {"kind": "mqtt", "host": "127.0.0.1", "port": self.port, "topic": self.TOPIC,
                "power_path": "ENERGY.Power", "accuracy": 0.01, **more}


class Register:
    """energy_uj of one CPU package, rewritten in place so that no reader sees half of it."""

    def __init__(self, sysroot, first_uj=1_000_000, range_uj=262_143_328_850):
        self.zone = pathlib.Path(sysroot) / "sys/class/powercap/intel-rapl:0"
        self.zone.mkdir(parents=True)
        (self.zone / "name").write_text("package-0\n")
        (self.zone / "max_energy_range_uj").write_text(f"{range_uj}\n")
        self.first_uj, self.range_uj, self.begin, self.watts = first_uj, range_uj, time.monotonic(), 0
        (self.zone / "energy_uj").write_text(f"{first_uj:015d}\n")

    def draw(self, now):
        joules = self.watts * (now - self.begin)
        with open(self.zone / "energy_uj", "r+", encoding="ascii") as out:
            out.write(f"{int(self.first_uj + 1e6 * joules) % self.range_uj:015d}\n")


class Feed(threading.Thread):
    """Calls every feeder with the time, 20 times a second, until it is closed."""

    def __init__(self, *feeders):
        super().__init__(daemon=True)
        self.feeders, self.ending, self.longest_s = feeders, threading.Event(), 0.0
        self.last = time.monotonic()
        self.start()

    def run(self):
        while not self.ending.wait(TICK_S):
            now = time.monotonic()
            self.longest_s, self.last = max(self.longest_s, now - self.last), now
            for feed in self.feeders:
                feed(time.monotonic())

    def late_s(self):
        """The longest time that no feeder was called for."""
        return max(self.longest_s, time.monotonic() - self.last)

    def stale_s(self):
        """How old the register of joules may have been: at both ends, on a machine as busy as it was."""
        return max(STALE_S, 2 * self.late_s())

    def close(self):
        self.ending.set()
        self.join()


class GpuPower(threading.Thread):
    """What the simulated board drew, to be told again later."""

    def __init__(self, machine):
        super().__init__(daemon=True)
        self.seen = collections.deque(maxlen=600)
        environment = preload_sanitizer({**machine.environment, "ASAN_OPTIONS": "detect_leaks=0"})
        self.process = subprocess.Popen([sys.executable, "-c", WATCH_GPU], stdout=subprocess.PIPE, text=True,
                                        env=environment)
        self.start()

    def run(self):
        for line in self.process.stdout:
            self.seen.append(tuple(map(float, line.split())))

    def at(self, moment):
        return next((watts for when, watts in reversed(list(self.seen)) if when <= moment), 0.0)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.join()
        self.process.stdout.close()


def in_time(test):
    """For what is told of meters that are on time: tried again where the thread behind them was held up meanwhile."""

    @functools.wraps(test)
    def tried(self):
        for _ in range(2):
            try:
                return test(self)
            except AssertionError:
                if self.feeding.late_s() <= STALE_S:
                    raise
        return test(self)

    return tried


class MeterTest(MachineTest):
    """A machine whose meters can be had with --meter rapl, snmp:rack and mqtt:desk."""

    def machine_with_meters(self, gpus=True, rapl=None, **options):
        machine = self.machine(rate=1, **options)
        machine.register = Register(machine.folder / "sysroot", **(rapl or {}))
        machine.environment["RUBATO_SYSROOT"] = str(machine.folder / "sysroot")
        machine.environment["RUBATO_METERS"] = str(machine.folder / "meters.toml")
        self.tables(machine)
        if not gpus:
            machine.environment["LD_LIBRARY_PATH"] = ""
        return machine

    @staticmethod
    def tables(machine, **tables):
        text = "".join(
            f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
            for name, table in tables.items()
        )
        (machine.folder / "meters.toml").write_text(text)
        (machine.folder / "meters.toml").chmod(0o600)

    def agent(self, machine):
        self.need("snmpd", "snmp")
        agent = Agent(machine.folder / "agent")
        self.addCleanup(agent.stop)
        return agent

    def broker(self, machine):
        self.need("mosquitto", "mqtt")
        broker = Broker(machine.folder / "broker")
        self.addCleanup(broker.stop)
        wait_until(lambda: broker.publish("{}") or broker.plug, "the broker to listen")
        return broker

    def need(self, server, module):
        for why in (why_no_server(server), why_no_module(module)):
            if why:
                self.skipTest(why)

    def feed(self, *feeders):
        self.feeding = Feed(*feeders)
        self.addCleanup(self.feeding.close)
        return self.feeding
