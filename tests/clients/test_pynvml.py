"""NVIDIA's own Python bindings: what they read is what rubato reads, and what they set is set."""

import json
import subprocess
import unittest

from clients import BUILD, HERE, PYTHON, RUBATO, ClientTest, client_command, in_one_world_of, needs


@needs("pynvml")
class Pynvml(ClientTest):
    def python(self, machine, body, **options):
        head = "import json, pynvml as n; n.nvmlInit(); g = n.nvmlDeviceGetHandleByIndex(0)\n"
        return self.call(machine, PYTHON, "-c", head + body, **options)

    def ask(self, machine, expression):
        return json.loads(self.python(machine, f"print(json.dumps({expression}))"))

    def test_its_numbers_and_layouts_are_ours(self):
        ours = json.loads(subprocess.run([BUILD / "bin" / "nvml_numbers"], capture_output=True, check=True).stdout)
        script = (
            "import ctypes, json, pynvml as n, sys; ours = json.load(sys.stdin); print(json.dumps("
            "{'numbers': {k: getattr(n, k, None) for k in ours['numbers']},"
            " 'sizes': {k: ctypes.sizeof(getattr(n, k)) for k in ours['sizes']}}))"
        )
        theirs = subprocess.run([PYTHON, "-c", script], input=json.dumps(ours), capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(theirs.stdout), ours)

    def test_it_reads_what_rubato_reads(self):
        machine = self.machine()
        ours = self.devices(machine)
        theirs = self.ask(
            machine,
            "{'uuid': n.nvmlDeviceGetUUID(g), 'name': n.nvmlDeviceGetName(g),"
            " 'limit': n.nvmlDeviceGetPowerManagementLimit(g) / 1000,"
            " 'default': n.nvmlDeviceGetPowerManagementDefaultLimit(g) / 1000,"
            " 'range': n.nvmlDeviceGetPowerManagementLimitConstraints(g),"
            " 'memory': n.nvmlDeviceGetSupportedMemoryClocks(g)}",
        )
        self.assertEqual(theirs["uuid"], ours["uuid"])
        self.assertEqual(theirs["name"], ours["name"])
        limits = ours["power_limits"]
        self.assertEqual(theirs["limit"], limits["requested_w"])
        self.assertEqual(theirs["default"], limits["default_w"])
        self.assertEqual([w / 1000 for w in theirs["range"]], [limits["min_w"], limits["max_w"]])
        self.assertEqual(theirs["memory"], [877])

    def test_it_reads_the_performance_monitors_of_a_board_that_has_them(self):
        script = """
import sys; sys.path.insert(0, %r)
from program import Training
supported = n.nvmlGpmQueryDeviceSupport(g).isSupportedDevice
earlier, later = n.nvmlGpmSampleAlloc(), n.nvmlGpmSampleAlloc()
with Training(%r, 400) as training:
    steps = training.iterations()
    for sample in (earlier, later):
        for _ in range(5): next(steps)
        n.nvmlGpmSampleGet(g, sample)
request = n.c_nvmlGpmMetricsGet_t()
request.version, request.numMetrics, request.sample1, request.sample2 = n.NVML_GPM_METRICS_GET_VERSION, 3, earlier, later
for i, name in enumerate(("SM_UTIL", "DRAM_BW_UTIL", "ANY_TENSOR_UTIL")):
    request.metrics[i].metricId = getattr(n, "NVML_GPM_METRIC_" + name)
n.nvmlGpmMetricsGet(request)
for sample in (earlier, later): n.nvmlGpmSampleFree(sample)
print(json.dumps([supported] + [[m.nvmlReturn, m.value] for m in request.metrics[:3]]))
""" % (str(HERE), str(RUBATO))
        machine = self.machine(rate=20, profiles="h100")
        supported, (sm_code, sm), (dram_code, dram), (tensor_code, _) = json.loads(self.python(machine, script))
        self.assertEqual((supported, sm_code, dram_code), (1, 0, 0))
        self.assertTrue(0 < dram < sm <= 100, f"{dram} and {sm} %")
        self.assertEqual(tensor_code, 3, "which pipe works no simulated workload says: not supported")

    def test_a_limit_it_sets_is_the_one_rubato_finds(self):
        machine = self.machine()
        self.python(machine, "n.nvmlDeviceSetPowerManagementLimit(g, 160000)")
        self.assertEqual(self.devices(machine)["power_limits"]["requested_w"], 160)

    def test_a_lock_it_sets_holds_under_load_and_is_gone_when_reset(self):
        machine = self.machine(rate=20, found={"power_limit_w": 250})
        script = """
import sys; sys.path.insert(0, %r)
from program import Training
clock = lambda: n.nvmlDeviceGetClockInfo(g, n.NVML_CLOCK_SM)
n.nvmlDeviceSetGpuLockedClocks(g, 135, 1005)
with Training(%r, 400) as training:
    steps = training.iterations()
    for _ in range(5): next(steps)
    locked = clock()
    n.nvmlDeviceResetGpuLockedClocks(g)
    for _ in range(5): next(steps)
    print(json.dumps([locked, clock()]))
""" % (str(HERE), str(RUBATO))
        locked, free = json.loads(self.python(machine, script))
        self.assertLessEqual(locked, 1005)
        self.assertGreater(free, 1005)

    def test_what_it_may_not_set_is_refused_in_the_drivers_own_words(self):
        script = (
            "try: n.nvmlDeviceSetPowerManagementLimit(g, %d)\n"
            "except n.NVMLError as e: print(type(e).__name__)"
        )
        withheld = self.machine(rights="none")
        self.assertIn("NVMLError_NoPermission", self.python(withheld, script % 150000))
        allowed = self.machine()
        self.assertIn("NVMLError_InvalidArgument", self.python(allowed, script % 90000))

    def test_application_clocks_are_set_read_back_and_reset(self):
        machine = self.machine()
        graphics = "n.nvmlDeviceGetApplicationsClock(g, n.NVML_CLOCK_GRAPHICS)"
        self.python(machine, "n.nvmlDeviceSetApplicationsClocks(g, 877, 1200)")
        self.assertEqual(self.ask(machine, graphics), 1200)
        self.python(machine, "n.nvmlDeviceResetApplicationsClocks(g)")
        self.assertEqual(self.ask(machine, graphics), self.ask(machine, graphics.replace("GetApp", "GetDefaultApp")))

    def enter(self, rate):
        self.world = self.machine(rate=rate)

    @in_one_world_of(10, 2)
    def test_its_energy_rubatos_energy_and_the_truth_agree_within_rubatos_band(self):
        machine = self.world
        before = self.truth(machine)
        done = machine.run(
            "measure", "--gpu", "0", "--", *client_command(machine, PYTHON, HERE / "energy_reader.py", RUBATO, 100)
        )
        after = self.truth(machine)
        self.assertEqual(done.returncode, 0, done.stderr)
        inside = json.loads(done.stdout.splitlines()[-1])
        self.assertEqual(inside["iterations"], 100)
        (gpu,) = machine.last()["gpus"]
        ours = gpu["energy_j"]
        sampling, calibration = gpu["energy_band_sampling_j"], gpu["energy_band_calibration_j"]
        # rubato's window lies around the client's and inside the test's; what was used at the two ends is known exactly.
        ends = (after - before) - inside["truth_j"]
        self.assertLess(ends, 0.25 * inside["truth_j"], "the ends would hide what is compared")
        self.assertLess(sampling, 0.05 * ours, "a band that wide would hold anything")
        # The two read one sensor: its error is in both.
        self.assertGreaterEqual(ours, inside["counter_j"] - sampling)
        self.assertLessEqual(ours, inside["counter_j"] + ends + sampling)
        # The truth has none.
        self.assertAlmostEqual(inside["counter_j"], inside["truth_j"], delta=calibration)
        self.assertGreaterEqual(ours, inside["truth_j"] - sampling - calibration)
        self.assertLessEqual(ours, inside["truth_j"] + ends + sampling + calibration)


if __name__ == "__main__":
    unittest.main()
