#include "cli/words/pages.h"

#include <algorithm>

namespace rubato::cli {
namespace {

const std::vector<CommandPage>& pages() {
  static const std::vector<CommandPage> all = {
      {"",
       "",
       "Wraps a training command, measures what its GPUs draw, holds the setting at which it takes the least "
       "energy without becoming slower than allowed, and puts everything back.",
       {{"rubato doctor", "what can be measured and set on this machine"},
        {"rubato measure -- python3 train.py", "measure a training, change nothing"},
        {"rubato run --max-slowdown 5% -- python3 train.py",
         "train at the setting that saves most, at most 5 % slower"},
        {"rubato run --power-limit 150 -- python3 train.py",
         "train at 150 W, against the limit that was found"},
        {"rubato run --gpu sim:v100 --power-limit 150 -- rubato sim train resnet50",
         "the same without a GPU: it is simulated, and says so"}}},
      {"run",
       "-- COMMAND",
       "Everything behind -- is the command, as it would be typed alone. Its output, exit status and signals "
       "are its "
       "own. First the job is measured as the GPU was found; then a few settings are tried and the one that "
       "saves most inside --max-slowdown is held, or the one that --power-limit and the clocks name. At the "
       "end, whatever the end was, the GPU is as it was found.\n\nThe report goes to standard error, because "
       "standard output "
       "is the "
       "job's. For programs: --json --report FILE, or --report fd:3 for a descriptor opened by the caller.",
       {{"rubato run --max-slowdown 5% -- python3 train.py",
         "the setting that saves most, the whole run at most 5 % slower"},
        {"rubato run --power-limit 150 -- python3 train.py", "a limit of 150 W on every GPU the job uses"},
        {"rubato run --sm-clock 1005 --gpu 0 -- ./train.sh", "a locked SM clock on one GPU"},
        {"rubato run --max-slowdown 5% --pid 41231", "a job that runs already, until Ctrl-C; it goes on"},
        {"rubato run --power-limit 150 --json --report run.json -- python3 train.py",
         "the report for a program"}}},
      {"measure",
       "[-- COMMAND]",
       "With a command it measures while that runs, as run does, and the report goes to standard error. "
       "Without one "
       "(--seconds, --pid) the report goes to standard output. Nothing is set.",
       {{"rubato measure -- python3 train.py", "a training"},
        {"rubato measure --seconds 10", "ten seconds of whatever runs now"},
        {"rubato measure --meter rapl -- python3 train.py", "with the processors, by their own counters"},
        {"rubato measure --json --report fd:3 -- make train 3> run.json", "the report for a program"}}},
      {"show",
       "",
       "The record is written while the run goes on, so a run can be shown before it ends.",
       {{"rubato show", "the last run"}, {"rubato show 20261121-1 --json", "by the beginning of its id"}}},
      {"runs", "", "Newest last. A run that goes on is listed as running.", {{"rubato runs", "all of them"}}},
      {"compare",
       "",
       "Whole runs are compared with the sensor's error bands, iterations with 90 % confidence intervals, "
       "both at the "
       "setting each run settled at. A difference below two standard errors is called not distinguishable. "
       "What makes "
       "a comparison unsound (another GPU model, another command, simulated against measured, another number "
       "of "
       "iterations, temperatures far apart) is said first.",
       {{"rubato compare 20261121-08 last", "the last run against an earlier one"},
        {"rubato compare before.sqlite after.sqlite --json", "two files, for a program"}}},
      {"export",
       "",
       "HTML is the report as one page that needs no network. CSV holds one series, after comment lines that "
       "say what was measured how; JSON holds the report and "
       "the "
       "series. Units stand in the names; what was not read is empty in CSV and null in JSON, never zero.",
       {{"rubato export last --format html -o report.html", "a page with charts, for a browser"},
        {"rubato export --format csv -o run.csv", "the samples of the last run"},
        {"rubato export 20261121-08 --format csv --what iterations", "the iterations of another"},
        {"rubato export --format json | jq .run.energy_j", "for a program"}}},
      {"sweep",
       "-- COMMAND",
       "Runs the command once at every setting, with runs at the setting that was found in between, and "
       "tells "
       "energy, time and EDP of each with its interval. What was measured is kept: the same line again goes "
       "on "
       "after an interruption. The result is a sweep table, from which models learn.",
       {{"rubato sweep --knob power-limit=100:250:25 -- python3 train.py", "seven power limits"},
        {"rubato sweep --knob sm-clock=900:1380:60 --within -- python3 train.py",
         "clocks, all inside one run of the command"},
        {"rubato sweep --dry-run --knob power-limit=100:250:25 -- python3 train.py",
         "only what it would do"}}},
      {"advise",
       "-- COMMAND",
       "Measures the command as it stands, changes nothing, and says what to set, what that saves and how "
       "sure that is; or that nothing is worth it, or that no model knows this GPU.",
       {{"rubato advise --max-slowdown 5% -- python3 train.py", "a power limit for a training"},
        {"rubato advise --probe 2 -- python3 train.py", "surer: the command runs under two limits as well"},
        {"rubato advise --run last --objective edp", "on a run that is recorded already"}}},
      {"model",
       "",
       "Learns from sweep tables what other settings would cost, and says how well it predicts workloads it "
       "never saw.",
       {{"rubato model train --table v100.csv --knobs power-limit -o v100.json",
         "a model from a sweep table"},
        {"rubato model validate --table v100.csv --knobs power-limit --probes 2",
         "its errors, leaving one group out"},
        {"rubato model predict v100.json --default-time 12.4 --default-power 228", "from one measured run"}}},
      {"lab run",
       "",
       "Every workload of a sweep table, or of a suite of modelled jobs, is trained in virtual time under "
       "every "
       "strategy, and the whole runs are compared: search, waste and broken bounds included. No GPU is "
       "needed.",
       {{"rubato lab run --suite v100 --strategies rubato,bisection",
         "on modelled jobs; `rubato lab suites` lists them"},
        {"rubato lab run --table v100.csv --strategies rubato,zeus --knobs power-limit",
         "on somebody's measurements"}}},
      {"import",
       "",
       "Files of other tools as a sweep table.",
       {{"rubato import zeus-power summary_power_v100.csv -o v100.csv", "Zeus' power traces"}}},
      {"calibrate",
       "",
       "Runs micro-benchmarks of its own under a list of settings, so that a model of this GPU can be "
       "trained. Everything is put back.",
       {{"rubato calibrate --dry-run", "what it would run, measured at the present setting only"},
        {"rubato calibrate --gpu 0 -o table.csv", "the first GPU"}}},
      {"evidence",
       "",
       "Says first what it will set and for how long. Then three micro-benchmarks run under a coarse list of "
       "limits and clocks, control blocks tell drift from the setting, and changes are timed. Everything is "
       "put back. The file names no person, machine or serial number.",
       {{"rubato evidence --dry-run", "what it would do, and for how long"},
        {"rubato evidence --gpu 0 --sudo", "the first GPU"},
        {"rubato evidence --gpu sim:v100 --minutes 6", "a simulated one, to see what it does"}}},
      {"period",
       "",
       "Looks for the iteration in power, utilisation and clock alone, as rubato does where neither marks "
       "nor "
       "kernels tell it. The answer is a period with its confidence, or that there is none; then a rate of "
       "progress stands in.\n\nA trace is CSV with the column time_s and at least one of power_w, "
       "sm_util_pct, memory_util_pct and sm_clock_mhz; its time stamps may be irregular.",
       {{"rubato period", "every GPU of the last run"},
        {"rubato period --trace trace.csv --json", "a recording of anybody's, for a program"},
        {"rubato period --trace trace.csv --detector gpoeo", "what GPOEO's detector makes of it"}}},
      {"top",
       "",
       "What every GPU does now, which limit is asked for and in force and what holds its clocks back; what "
       "each "
       "run of yours has come to, what rubato does about it and why; and who computes. ? lists the keys. "
       "Into a "
       "pipe, or on a terminal that cannot place text, a table per interval. Nothing is set.",
       {{"rubato top", "every GPU, in the whole terminal"},
        {"rubato top --once", "one table"},
        {"rubato top --json --interval 10 > gpus.jsonl", "a line every ten seconds, for a program"},
        {"rubato top --gpu sim:h100,sim:h100", "simulated GPUs"}}},
      {"restore",
       "",
       "Needed only after rubato and its guard were both killed. Whatever the next rubato command finds, it "
       "restores "
       "by itself.",
       {{"sudo rubato restore", "journals of real GPUs belong to root"}}},
      {"doctor",
       "",
       "",
       {{"rubato doctor", "every GPU"}, {"rubato doctor --gpu sim:v100", "a simulated one"}}},
      {"devices", "", "", {{"rubato devices --json", "for a program"}}},
      {"calibrate-meter",
       "[-- COMMAND]",
       "A GPU's own power reading may be several per cent off, in proportion and for good. While the load "
       "varies "
       "between idle and full, its readings are laid against those of another meter, lag taken out, and a "
       "straight "
       "line is drawn through both. Its slope is kept for this board and corrects later runs, which say so. "
       "What "
       "moved too little, or fits no line, is refused.\n\nA meter at the wall sees the losses of the power "
       "supply "
       "too: the gain is the board as that meter sees it.",
       {{"rubato calibrate-meter --meter snmp:rack --gpu 0 --seconds 300", "while a load of your own varies"},
        {"rubato calibrate-meter --meter mqtt:plug --gpu 0 -- ./varying-load.sh", "while a command runs"}}},
      {"latency",
       "",
       "Locks clocks in pairs, under a load of its own, and reads until the clock and the power are there: "
       "what "
       "plans that change clocks inside an iteration count with. Kept for this GPU. Everything is put back.",
       {{"rubato latency --dry-run", "which changes it would time, and for how long"},
        {"rubato latency --gpu 0 --sudo", "the first GPU"},
        {"rubato latency --gpu sim:rtxa4000 --memory-clocks", "a simulated one, memory clocks too"}}},
      {"layers show",
       "",
       "Counted from shapes: operations, bytes and parameters of every layer in every pass of an iteration. "
       "Beside "
       "them, modelled from the figures of the GPU's board, the time at its default clocks and what holds "
       "the layer "
       "up. No GPU is needed to count. docs/layers.md says what is counted and what is not.",
       {{"rubato layers show resnet50 --batch 64 --gpu sim:rtxa4000",
         "on a board there is a file of in gpus/"},
        {"rubato layers show vgg16 --batch 32 --precision fp16 --pass backward",
         "one pass, in half precision"},
        {"rubato layers show network.json --run last", "a traced model, beside what the last run measured"}}},
      {"pipeline frontier",
       "",
       "From stage profiles as Perseus writes them: the least energy of an iteration for every time it may "
       "take, and a clock for every forward and backward. What waits anyway is slowed first. It plans only; "
       "docs/pipeline.md says how, and what frameworks do with it.",
       {{"rubato pipeline frontier profile.csv --microbatches 12 --blocking-power 83 -o frontier.csv",
         "the whole frontier"},
        {"rubato pipeline frontier profile.csv --microbatches 12 --blocking-power 83 --clocks clocks.py",
         "clocks that cost no time"},
        {"rubato pipeline frontier profile.csv --microbatches 12 --blocking-power 83 --straggler 3=1.2",
         "the others' clocks when stage 3 is 20 % slower"}}},
      {"sim train",
       "",
       "Run it inside rubato run or measure: its iterations take as long as the simulated GPU's clocks make "
       "them take.",
       {{"rubato measure --gpu sim:v100 -- rubato sim train resnet50 --iterations 200", ""}}},
      {"completion",
       "",
       "Prints a script that the shell reads.",
       {{"source <(rubato completion bash)", "in ~/.bashrc"},
        {"rubato completion zsh > ~/.zfunc/_rubato", "where ~/.zfunc is in $fpath"},
        {"rubato completion fish > ~/.config/fish/completions/rubato.fish", ""}}},
      {"help",
       "",
       "",
       {{"rubato help run", "as rubato run --help"},
        {"rubato help --man run | man -l -", "as a manual page"}}},
  };
  return all;
}

}  // namespace

const CommandPage* page_of(std::string_view path) {
  const auto found = std::ranges::find(pages(), path, &CommandPage::path);
  return found == pages().end() ? nullptr : &*found;
}

const std::vector<Section>& manual_sections() {
  static const std::vector<Section> sections = {
      {"EXIT STATUS",
       {{"the job's", "run and measure end as the command ended; of a signal, if it died of one."},
        {"125", "What was typed cannot be done; a command was not started."},
        {"126, 127", "The command cannot be executed, or does not exist."},
        {"0, 1",
         "Of commands without a job: done, or failed. doctor returns 1 where something is missing."}}},
      {"ENVIRONMENT",
       {{"XDG_STATE_HOME",
         "Run records go to rubato/runs below it; without it to ~/.local/state/rubato/runs."},
        {"XDG_RUNTIME_DIR", "Simulated worlds, and journals of simulated GPUs."},
        {"CUDA_VISIBLE_DEVICES", "Which GPUs are meant without --gpu."},
        {"RUBATO_SIM_WORLD, RUBATO_SIM_SCENARIO",
         "The file of a simulated world, and how it starts and misbehaves."},
        {"RUBATO_HOOKS", "off: the job's Python is left as it is; a list selects frameworks."},
        {"RUBATO_METERS", "The file that describes meters, in the place of meters.toml."},
        {"NO_COLOR", "Set to anything: no colour."},
        {"CLICOLOR_FORCE", "Other than 0: colour into pipes and files too, unless NO_COLOR is set."},
        {"CLICOLOR", "0: no colour on terminals either."}}},
      {"FILES",
       {{"~/.local/state/rubato/runs/", "One SQLite file per run; its tables are documented in formats.md."},
        {"/run/rubato/",
         "Journals and locks of GPUs, root's alone: what a killed run left is put back from there."}}}};
  return sections;
}

}  // namespace rubato::cli
