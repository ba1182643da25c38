"""The first ten minutes of five users: what each types, on which machine, and how the transcript is told.

A command is shown as typed; (command, end) cuts what a reader of the page need not see, `end` lines from its top.
"""

import dataclasses
import re

from place import Place

ON_THE_CPU = 'print("epoch 1, loss 0.31")\n'


def on_the_gpu(iterations):
    return f"""import os, subprocess, sys
rank = os.environ.get("LOCAL_RANK", "0")
training = ["rubato", "sim", "train", "resnet50", "--iterations", "{iterations}", "--device", rank]
done = subprocess.run(training, stdout=subprocess.PIPE, text=True)
name = f"rank {{rank}}: " if "LOCAL_RANK" in os.environ else ""
sys.stdout.write("".join(name + line + "\\n" for line in done.stdout.splitlines()[-1:]))
sys.exit(done.returncode)
"""


@dataclasses.dataclass
class Situation:
    name: str
    title: str
    prose: str
    place: Place
    commands: list

    def transcript(self):
        """[(command, output, status)]"""
        results = self.place.run(self.commands)
        return [(command, result["output"], result["status"]) for command, result in zip(self.commands, results)]


SITUATIONS = [
    Situation(
        "laptop",
        "A laptop without a GPU",
        "The job runs and its status is its own; one line says what was measured, here nothing, and the next one offers the\n"
        "simulated GPU.",
        Place("laptop", files={"~/train.py": ON_THE_CPU}),
        [
            "rubato run --max-slowdown 5% -- python3 train.py",
            "rubato measure -- sh -c 'exit 3'; echo \"status $?\"",
            "rubato doctor",
            "rubato run --gpu sim:v100 --power-limit 150 --quiet -- rubato sim train resnet50 --iterations 20 | tail -n 1",
        ],
    ),
    Situation(
        "workstation",
        "A workstation with sudo",
        "Only the guard is started through sudo; the job, its files and its record stay the user's. Programs that draw the\n"
        "desktop on the same GPU hold no compute context and do not count as somebody else's work.",
        Place("workstation", profiles="rtx3080ti", sudo=True, files={"~/train.py": on_the_gpu(300)}, found={"power_limit_w": 300}),
        [
            "rubato doctor",
            "rubato run --power-limit 250 --report without.txt -- python3 train.py",
            "rubato run --sudo --power-limit 250 --report report.txt -- sh -c 'id -un; python3 train.py'",
            "grep -E '^  (found|set to|put back) ' report.txt; stat --format=%U report.txt",
        ],
    ),
    Situation(
        "slurm",
        "A shared Slurm node, without root",
        "rubato measures, says which step is the administrator's, and prints the request for it.",
        Place(
            "node17", profiles="v100-sxm2-32gb", outlives_job=False, environment={"SLURM_JOB_ID": "4242", "SLURM_JOB_NODELIST": "node17"},
            files={"~/train.py": on_the_gpu(60)},
        ),
        [
            "rubato run --power-limit 200 --report report.txt -- python3 train.py",
            "rubato doctor",
            "rubato doctor --request",
        ],
    ),
    Situation(
        "container",
        "A rented container: root, but not on the host",
        "Root in a container has only the capabilities that the host left it, and CAP_SYS_ADMIN is rarely among them. rubato\n"
        "measures and says what could be set. `rubato advise` estimates what that would save; only trying it tells.\n"
        "In such a container nothing is tried.",
        Place("pod-7f3a", profiles="a100", user="", container=True, withheld=True, outlives_job=False, files={"~/train.py": on_the_gpu(60)}, found={"power_limit_w": 300}),
        [
            "rubato doctor",
            "rubato run --power-limit 200 --report report.txt -- python3 train.py",
            "rubato run --max-slowdown 5% --report report.txt -- python3 train.py",
            "rubato doctor --request",
        ],
    ),
    Situation(
        "node",
        "Eight GPUs and torchrun",
        "Around torchrun, one rubato sees every rank as its own descendant. Inside torchrun there are eight rubatos: the first to\n"
        "ask leads, watches all eight GPUs and sets them, and knows the other ranks by the variables that torchrun gave them; the\n"
        "others only run their rank, and say so with `-v`. Each GPU is counted once either way. Where the leader's rank ends before\n"
        "the others, everything is put back and a warning says so; the lead is not handed over. The same goes for `srun`, Open MPI\n"
        "and launchers that set LOCAL_RANK, MASTER_ADDR and MASTER_PORT. (Here `torchrun` is a stand-in with the same variables.)",
        Place("dgx1", profiles=",".join(["v100-sxm2-32gb"] * 8), rights="owner", files={"~/train.py": on_the_gpu(200)}, rate=10),
        [
            "rubato doctor",
            "rubato measure --report around.txt -- torchrun --nproc-per-node 8 train.py | sort",
            "grep -c '^GPU ' around.txt",
            "torchrun --nproc-per-node 8 --no-python rubato run -v --power-limit 180 --report inside.txt -- python3 -u train.py 2>&1 | grep -c 'measures and sets for all of them'",
            "grep -E '^  (found|set to|put back) ' inside.txt | sort | uniq -c",
            "rubato runs --json | grep -c run_id",
        ],
    ),
]

RUN_ID = re.compile(r"\d{8}-\d{6}-\d{3}-[0-9a-f]{4}")
NUMBER = re.compile(r"(?<![\w.-])\d+(\.\d+)?(?= (m?s|min|k?J|s/iteration)\b)|\d+\.\d+(?= s/iteration)")


def settled(text):
    """What has to be the same every time: without ids, times, energies, and where lines are broken."""
    text = RUN_ID.sub("RUN", text)
    text = NUMBER.sub("N", text)
    return " ".join(text.split())
