"""One training on two nodes of four GPUs each: the agents of its ranks, which share nothing but the user's home, agree on
every setting, and whoever is lost takes all back. Needs a cluster of 2 nodes with 4 GPUs (slurm.sh)."""

import json
import os
import pathlib
import signal
import unittest

from slurm_cluster import NODES, SHARED, SlurmTest, as_found, job_state, locks, train, wait_until

GPUS = 4
CLOCK = 1005
LOCKED = [1] * GPUS
FOUND = [0] * GPUS
JOBS = SHARED / "home/.local/state/rubato/jobs"
# Four ranks a node, all GPUs in sight of each and every rank on its own: as frameworks start them.
RANKS = ("-N2", "--ntasks-per-node=4", f"--gres=gpu:{GPUS}")


def ranks(iterations):
    return f"bash -c 'exec {train(iterations)} --device $SLURM_LOCALID'"


def rubato_of(node, job):
    """The process that governs the job's GPUs on a node; process ids are the whole cluster's."""
    wanted = {f"SLURMD_NODENAME={node}", f"SLURM_JOB_ID={job}", "SLURM_LOCALID=0"}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
            environment = (folder / "environ").read_text(errors="replace").split("\0")
        except OSError:
            continue
        if words[0].endswith("rubato") and words[1:2] == ["run"] and wanted <= set(environment):
            return int(folder.name)
    raise AssertionError(f"no rubato of job {job} on {node}")


class OneTrainingOnTwoNodes(SlurmTest):
    def setUp(self):
        self.known = set(JOBS.glob("*.json"))

    def training(self, *lines):
        return self.submit(*lines, options=RANKS)

    def wait_for_locks(self, node, wanted, what):
        wait_until(lambda: locks(node) == wanted, f"{node}: {what}")

    def job_report(self):
        (file,) = set(JOBS.glob("*.json")) - self.known
        return json.loads(file.read_text())

    def assert_whole(self, job, text):
        """Of all ranks, every GPU once and put back."""
        gpus = [gpu for part in job["parts"] for gpu in part["gpus"]]
        self.assertEqual((job["launcher"], job["ranks"], job["agents"], job["all_ranks"]), ("srun", 8, 2, True), text)
        self.assertEqual((len(gpus), len({gpu["uuid"] for gpu in gpus})), (8, 8), text)
        self.assertEqual({gpu["restoration"] for gpu in gpus}, {"restored"}, text)
        self.assertAlmostEqual(job["energy_j"], sum(gpu["energy_j"] for gpu in gpus), places=3)
        self.assertGreaterEqual(job["switches"], 1, text)

    def test_srun_of_rubato_run_agrees_on_one_clock_with_one_report(self):
        job, output = self.training(f"srun rubato run --sm-clock {CLOCK} -- {ranks(400)}")
        for node in NODES:
            self.wait_for_locks(node, LOCKED, "every GPU at the clock agreed on")
        self.assertEqual(self.wait_for_end(job), "COMPLETED", output.read_text())
        text = output.read_text()
        self.assertIn("8 ranks of srun, 2 agents, 8 GPUs", text)
        self.assert_whole(self.job_report(), text)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_the_option_governs_all_nodes_together(self):
        job, output = self.training("#SBATCH --rubato=max-slowdown=5%,knobs=sm-clock", f"srun {ranks(1500)}")
        self.assertEqual(self.wait_for_end(job), "COMPLETED", output.read_text())
        text = output.read_text()
        self.assert_report(text, 2 * GPUS)
        self.assert_whole(self.job_report(), text)
        self.assertIn("less GPU energy", text)

    def test_a_member_that_is_killed_takes_the_other_node_back_and_the_training_goes_on(self):
        job, output = self.training(f"#SBATCH --rubato=sm-clock={CLOCK}", f"srun {ranks(1_000_000)}")
        for node in NODES:
            self.wait_for_locks(node, LOCKED, "every GPU at the clock agreed on")
        member = rubato_of(NODES[1], job)
        (trainer,) = map(int, pathlib.Path(f"/proc/{member}/task/{member}/children").read_text().split())
        # Without cgroups Slurm loses sight of what its task leaves behind.
        self.addCleanup(os.kill, trainer, signal.SIGKILL)
        os.kill(member, signal.SIGKILL)
        for node in NODES:
            self.wait_for_locks(node, FOUND, "back at the found setting")
        self.assertEqual(job_state(job), "RUNNING")
        wait_until(lambda: "is lost" in output.read_text(), "rank 0 to say whom it lost")


if __name__ == "__main__":
    unittest.main(verbosity=2)
