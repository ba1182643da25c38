"""A job on several nodes: every node is a machine of its own (folders, simulated world), and their agents agree over the
loopback. Launchers are torchrun's and Slurm's variables, --agents by hand, and Open MPI itself."""

import json
import os
import shutil
import signal
import subprocess
import textwrap
import unittest

from harness import MachineTest, alive, free_port, guard_of, job_of, wait_until

GPUS = 4
# Simulated seconds go by this much faster than the wall: answers are waited for on the wall's clock.
RATE = 8
CLOCK = "1005"


class Nodes(MachineTest):
    """Two nodes of four GPUs that share a key, as a cluster's home folder would."""

    def nodes(self, count=2, gpus=GPUS, **options):
        nodes = [self.machine(rate=RATE, profiles=",".join(["v100"] * gpus), **options) for _ in range(count)]
        key = nodes[0].folder / "job.key"
        key.write_text("4f" * 32 + "\n")
        key.chmod(0o600)
        self.key = key
        return nodes

    def job(self, machine, iterations):
        """One rank's part: the simulated trainer on every GPU of the node; the first one's marks count."""
        trainers = "".join(f"{' '.join(machine.train(iterations))} --device {gpu} & p=\"$p $!\"; " for gpu in range(GPUS))
        return ["sh", "-c", trainers + "trap 'kill $p' TERM; wait; wait"]

    def run_rank(self, machine, agents, *options, iterations=150, job=None, environment=None):
        return machine.start("run", "--agents", agents, "--agents-key", self.key, *options, "--",
                             *(job or self.job(machine, iterations)), environment=environment)

    def ended(self, process):
        try:
            out, err = process.communicate(timeout=150)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"did not end:\n{out}\n{err}") from None
        return process.returncode, out, err

    def all_unlocked(self, *machines):
        for machine in machines:
            self.assertIsNone(machine.gpu().sm_lock())
            self.assertEqual(machine.journals(), [])


class TwoNodes(Nodes):
    def test_eight_gpus_are_one_job_with_one_report(self):
        first, second = self.nodes()
        at = f"127.0.0.1:{free_port()}"
        leader = self.run_rank(first, f"0/2@{at}", "--sm-clock", CLOCK, "--json", "--report", first.folder / "report.json")
        member = self.run_rank(second, f"1/2@{at}", "--sm-clock", CLOCK)
        (code, _, said), (other_code, _, other_said) = self.ended(leader), self.ended(member)
        self.assertEqual((code, other_code), (0, 0), said + other_said)
        report = json.loads((first.folder / "report.json").read_text())
        job = report["job"]
        self.assertEqual((job["schema"], job["ranks"], job["agents"], job["gpus"]), ("rubato.job/1", 2, 2, 8), job)
        self.assertTrue(job["all_ranks"])
        gpus = [gpu for part in job["parts"] for gpu in part["gpus"]]
        self.assertEqual(len({gpu["uuid"] for gpu in gpus}), 8)
        self.assertAlmostEqual(job["energy_j"], sum(gpu["energy_j"] for gpu in gpus), places=3)
        self.assertEqual({gpu["restoration"] for gpu in gpus}, {"restored"}, said + other_said)
        self.assertGreaterEqual(job["switches"], 1, said + other_said)
        # One report: the other rank says where it is.
        self.assertIn("the report is rank 0's", other_said)
        self.assertEqual(json.loads(next((first.folder / "state").rglob("jobs/*.json")).read_text())["ranks"], 2)
        self.all_unlocked(first, second)
        # Both switched at the same iteration of their own count, whatever moment that was on either clock. An iteration takes
        # 50 ms of the wall here, so a busy machine lets a rank see its end some iterations late.
        self.assertLessEqual(abs(self.iteration_of_switch(first) - self.iteration_of_switch(second)), 10)

    def iteration_of_switch(self, machine):
        """How many iterations had ended when the first clock was set, by the machine's own record."""
        file = next((machine.folder / "state").rglob("runs/*.sqlite"))
        import sqlite3
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as record:
            (at,) = record.execute("select min(at_ns) from setting_change where who = 'rubato' and outcome = 'applied'").fetchone()
            (done,) = record.execute("select count(*) from iteration where end_ns <= ?", (at,)).fetchone()
        return done

    def test_a_node_that_is_killed_takes_all_back(self):
        first, second = self.nodes()
        at = f"127.0.0.1:{free_port()}"
        leader = self.run_rank(first, f"0/2@{at}", "--sm-clock", CLOCK, iterations=4000)
        member = self.run_rank(second, f"1/2@{at}", "--sm-clock", CLOCK, iterations=4000)
        for node in (first, second):
            wait_until(lambda node=node: node.gpu().sm_lock(), "both nodes to be at the clock")
        guard = guard_of(member.pid)
        job = job_of(member.pid)
        member.kill()
        wait_until(lambda: not second.gpu().sm_lock(), "the guard of the lost node to restore")
        wait_until(lambda: not first.gpu().sm_lock(), "the other node to go back")
        wait_until(lambda: not alive(guard), "the guard to end")
        self.assertTrue(alive(job))
        leader.send_signal(signal.SIGTERM)
        _, _, said = self.ended(leader)
        self.assertIn("is lost", said)
        self.all_unlocked(first, second)

    def test_a_leader_that_is_killed_takes_all_back(self):
        first, second = self.nodes()
        at = f"127.0.0.1:{free_port()}"
        leader = self.run_rank(first, f"0/2@{at}", "--sm-clock", CLOCK, iterations=4000)
        member = self.run_rank(second, f"1/2@{at}", "--sm-clock", CLOCK, iterations=4000)
        for node in (first, second):
            wait_until(lambda node=node: node.gpu().sm_lock(), "both nodes to be at the clock")
        leader.kill()
        wait_until(lambda: not second.gpu().sm_lock(), "the member to go back")
        wait_until(lambda: not first.gpu().sm_lock(), "the guard of the leader to restore")
        member.send_signal(signal.SIGTERM)
        _, _, said = self.ended(member)
        self.assertIn("rank 0 is lost", said)
        self.all_unlocked(first, second)

    def test_without_the_others_nothing_is_set(self):
        first, second = self.nodes()
        at = f"127.0.0.1:{free_port()}"
        other = second.folder / "other.key"
        other.write_text("5e" * 32 + "\n")
        other.chmod(0o600)
        leader = self.run_rank(first, f"0/2@{at}", "--sm-clock", CLOCK, "--json", "--report", first.folder / "report.json",
                               iterations=120)
        stranger = second.start("run", "--agents", f"1/2@{at}", "--agents-key", other, "--sm-clock", CLOCK, "-v", "--",
                                *self.job(second, 120))
        for process in (leader, stranger):
            code, _, said = self.ended(process)
            self.assertEqual(code, 0, said)
        report = json.loads((first.folder / "report.json").read_text())
        self.assertFalse(report["job"]["all_ranks"])
        self.assertIsNone(report["job"]["energy_j"])
        self.assertEqual({gpu["restoration"] for gpu in report["gpus"]}, {"not_needed"})
        self.all_unlocked(first, second)

    def test_torchrun_and_slurm_tell_who_is_who(self):
        first, second = self.nodes()
        torch = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1",
                 "GROUP_WORLD_SIZE": "2", "TORCHELASTIC_RUN_ID": "e2e", "LOCAL_RANK": "0"}
        slurm = {"SLURM_JOB_ID": str(free_port()), "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "2",
                 "SLURM_STEP_TASKS_PER_NODE": "1(x2)", "SLURM_STEP_NODELIST": "localhost,localhost2", "SLURM_LOCALID": "0"}
        for launcher, common, rank in (("torchrun", torch, "RANK"), ("srun", slurm, "SLURM_PROCID")):
            with self.subTest(launcher=launcher):
                runs = [self.run_rank(node, "auto", "--sm-clock", CLOCK, "--report", node.folder / "report.txt", iterations=60,
                                      environment={**common, rank: str(number), "SLURM_NODEID": str(number)})
                        for number, node in enumerate((first, second))]
                for code, _, said in map(self.ended, runs):
                    self.assertEqual(code, 0, said)
                    self.assertIn("agents:", said)
                self.assertIn(f"2 ranks of {launcher}, 2 agents, 8 GPUs", (first.folder / "report.txt").read_text())

    def test_what_is_typed_wrong_is_found_before_the_job_starts(self):
        (node,) = self.nodes(count=1)
        for agents in ("2/2@host:1", "nobody", "job"):
            done = node.run("run", "--agents", agents, "--sm-clock", CLOCK, "--", "true")
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertIn("--agents", done.stderr)
        self.key.chmod(0o644)
        done = node.run("run", "--agents", "0/1@127.0.0.1:1", "--agents-key", self.key, "--sm-clock", CLOCK, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("chmod 600", done.stderr)

    def test_clocks_of_ranks_own_want_ranks(self):
        machine = self.machine()
        done = machine.run("run", "--rank-clocks", "fastest", "--", "true")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("--rank-clocks fastest: there are same and own", done.stderr)
        done = machine.run("run", "--rank-clocks", "own", "--max-slowdown", "5%", "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no ranks beside it to agree with", done.stderr)


@unittest.skipUnless(shutil.which("mpirun"), "no Open MPI here (Debian package openmpi-bin)")
class OpenMpi(Nodes):
    """mpirun starts four ranks on this host; a script puts two on each of two "nodes", every rank with its own GPU."""

    def test_four_ranks_of_mpirun_agree(self):
        nodes = self.nodes(gpus=2)
        shared = nodes[0].folder / "shared"  # the state folder all ranks see: where rank 0 says how to be reached
        shared.mkdir(mode=0o700)
        wrapper = nodes[0].folder / "rank.sh"
        exports = "\n".join(
            f'  {index}) ' + " ".join(f"export {name}='{value}';" for name, value in {
                **node.environment, "XDG_STATE_HOME": str(shared)}.items()) + " ;;"
            for index, node in enumerate(nodes))
        wrapper.write_text(textwrap.dedent("""\
            #!/bin/sh
            case $((OMPI_COMM_WORLD_RANK / 2)) in
            {exports}
            esac
            export CUDA_VISIBLE_DEVICES=$((OMPI_COMM_WORLD_RANK % 2))
            exec {rubato} run --agents job --sm-clock {clock} -- {rubato} sim train resnet50 --iterations 120
            """).format(exports=exports, rubato=nodes[0].train()[0], clock=CLOCK))
        wrapper.chmod(0o700)
        environment = {**os.environ, **nodes[0].environment, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "4", str(wrapper)], env=environment, capture_output=True,
                              text=True, timeout=150)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 ranks of Open MPI, 4 agents, 4 GPUs", done.stderr)
        (job,) = [json.loads(file.read_text()) for file in shared.rglob("jobs/*.json")]
        self.assertEqual(len({gpu["uuid"] for part in job["parts"] for gpu in part["gpus"]}), 4)
        self.assertGreaterEqual(job["switches"], 1, done.stderr)
        self.all_unlocked(*nodes)


if __name__ == "__main__":
    unittest.main()
