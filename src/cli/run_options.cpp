#include "cli/factor_options.h"
#include "cli/run.h"

namespace rubato::cli {
namespace {

void add_governing(CLI::App& command, GoverningText& text) {
  command
      .add_option(
          "--max-slowdown", text.max_slowdown,
          "how much longer the whole job may take, search included; 5% where nothing is said, 0 for only "
          "what costs no time")
      ->type_name("PERCENT");
  command
      .add_option("--objective", text.objective,
                  "what is to become small: energy, edp, ed2p, or cost, which takes --price and "
                  "--price-hour")
      ->type_name("NAME");
  command.add_option("--knobs", text.knobs, "what may be set: power-limit, sm-clock, memory-clock")
      ->type_name("LIST")
      ->delimiter(',');
  command
      .add_option("--strategy", text.strategy,
                  "who chooses the setting where none is given; `rubato` where nothing is said")
      ->type_name("NAME");
  command
      .add_option("--power-budget", text.power_budget,
                  "for the power limits of all GPUs of the job together, divided so that it loses the least "
                  "time")
      ->type_name("WATTS");
  add_second_price(command, text.second);
  command
      .add_option("--eta", text.second.eta,
                  "Zeus's weight: so much of energy, the rest of time at the board's highest power limit")
      ->type_name("SHARE");
  command
      .add_option("--deadline", text.deadline,
                  "when the job has to be over, as in 90m, 18:30 or 2026-11-22T18:30; Slurm's own is known")
      ->type_name("TIME");
  command.add_flag("--no-memory", text.no_memory,
                   "neither use nor keep what this program settled at in an earlier run");
}

}  // namespace

void add_run(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("run", "run a command at a better setting, measured, and put everything back");
  static RunOptions options;
  add_common(*command, invocation);
  command->add_option("--power-limit", options.wanted.power_limit_w, "power limit of every GPU the job uses")
      ->type_name("W");
  command->add_option("--sm-clock", options.wanted.sm_clock_mhz, "lock the SM clock")->type_name("MHZ");
  command->add_option("--memory-clock", options.wanted.memory_clock_mhz, "lock the memory clock")
      ->type_name("MHZ");
  add_governing(*command, options.governing);
  command
      ->add_option("--found-sm-clock", options.wanted.found_sm_clock,
                   "the SM clock lock that is in force now, to be put back at the end, or that there is none")
      ->type_name("MIN:MAX|none");
  command
      ->add_option(
          "--plan", options.plan_file,
          "switch clocks inside the iteration as this plan says (`rubato layers plan`), where that pays")
      ->type_name("FILE");
  command
      ->add_option("--pid", options.pid,
                   "in the place of a command: a job that runs already, until it ends or Ctrl-C; it goes on")
      ->check(CLI::PositiveNumber);
  command->add_flag("--dry-run", options.dry_run, "say what would be set or searched, and only measure");
  command->add_flag("--accept-unrestored", options.accept_unrestored,
                    "set even where nothing could put it back after a kill");
  command->add_flag("--allow-shared", options.allow_shared,
                    "set even where other programs compute on the GPU");
  auto* sudo = command->add_flag("--sudo", options.sudo, "start the guard, and only the guard, through sudo");
  command
      ->add_flag("--as-root", options.as_root, "under sudo: stay root instead of becoming the caller again")
      ->excludes(sudo);
  command->add_option("--seed", options.seed, "of the random starts of control blocks, and of searches")
      ->capture_default_str();
  command
      ->add_option(
          "--report", options.report_file,
          "write the report to FILE (FILE.html: a page with charts; or fd:N) instead of standard error")
      ->type_name("FILE");
  command
      ->add_option(
          "--agents", options.agents.agents,
          "with whom the setting is agreed on: auto (the ranks of a job on several nodes), job (also "
          "on one node), off, or RANK/SIZE@HOST:PORT")
      ->type_name("WHO")
      ->capture_default_str();
  command
      ->add_option("--agents-key", options.agents.key_file,
                   "the file of mode 0600 that all ranks derive the job's secret from, in the place of the "
                   "user's own in the state folder")
      ->type_name("FILE");
  command
      ->add_option("--rank-clocks", options.agents.rank_clocks,
                   "same: one SM clock for all ranks; own: a lower one for ranks that wait for slower ones "
                   "(rank 0's word counts)")
      ->type_name("WHICH")
      ->capture_default_str();
  add_job_options(*command, options.job);
  command->footer("rubato run [OPTIONS] -- COMMAND\nrubato run [OPTIONS] --pid PID");
  command->callback([&invocation] { run_job(invocation, options); });
}

}  // namespace rubato::cli
