"""Slurm's NVML plugin: AutoDetect=nvml and --gpu-freq."""

import json
import unittest

from clients import HERE, LIBRARIES, ClientTest, needs

PLUGINS = LIBRARIES / "slurm-wlm"


@needs("slurm")
class SlurmPlugin(ClientTest):
    def test_it_finds_the_gpus_and_sets_and_resets_a_steps_clock(self):
        machine = self.machine(profiles="v100,a100")
        config = machine.folder / "slurm.conf"
        config.write_text(f"ClusterName=test\nSlurmctldHost=localhost\nPluginDir={PLUGINS}\n")
        trace = machine.folder / "trace"
        said = self.call(
            machine, "/usr/bin/python3", HERE / "slurm_plugin.py", PLUGINS, SLURM_CONF=str(config), RUBATO_SIM_TRACE=str(trace)
        )
        found = json.loads(said.splitlines()[-1])
        self.assertEqual(found["gpus"], 2)
        self.assertEqual(found["during"], 1200)
        self.assertEqual(found["after"], found["before"])
        self.assertNotEqual(found["before"], 1200)
        called = trace.read_text().split()
        for name in ("nvmlDeviceSetApplicationsClocks", "nvmlDeviceResetApplicationsClocks", "nvmlDeviceGetMinorNumber"):
            self.assertIn(name, called)


if __name__ == "__main__":
    unittest.main()
