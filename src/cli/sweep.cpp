// `rubato sweep`: one command under many settings, and what each of them costs.
#include <unistd.h>

#include <ctime>

#include "analyse/student_t.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/managed.h"
#include "cli/output_file.h"
#include "cli/print_run.h"
#include "cli/report/file_page.h"
#include "cli/stale.h"
#include "cli/sweep_conductor.h"
#include "cli/sweep_report.h"
#include "cli/sweep_world.h"
#include "cli/version.h"
#include "cli/writing_options.h"
#include "core/sweep_table_csv.h"
#include "experiment/sweep_result_table.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::string text(16, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d", &local));
  return text;
}

// The guard needs root and nothing else does; here the process that starts guards also keeps the files.
Status not_behind_sudo(const SweepOptions& options, bool simulated) {
  if (options.run.as_root) return {};
  const auto caller = caller_behind_sudo();
  if (!caller) return fail(caller.error());
  if (!*caller) return {};
  if (simulated) return become(**caller);
  return fail(ErrorCode::invalid_argument,
              "a sweep keeps files of yours between its runs and is not started as root through sudo",
              "leave sudo out and say `rubato sweep --sudo …`, which starts the guards alone through it; or "
              "stay root with --as-root");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) out += cat(out.empty() ? "" : ",", part);
  return out;
}

Status write_table(const SweepPlan& plan, const SweepOptions& options, const SweepFacts& facts,
                   const experiment::SweepSummary& summary, const SweepEnd& end) {
  experiment::SweepNames names{facts.gpu, facts.board, plan.workload, plan.group, {}};
  names.comments = {cat("rubato ", kVersion, " sweep, ", today(), ": ", plan.command),
                    cat("numbers are ", name_of(summary.kind), "; time and energy of ",
                        options.within ? "an iteration" : "the whole command",
                        "; the default is the setting that was found"),
                    cat("order ", name_of(plan.schedule.order), ", seed ", plan.schedule.seed, ", repeats ",
                        plan.schedule.repeats)};
  if (!end.why.empty()) names.comments.push_back(cat("not complete: ", end.why));
  const auto limit = plan.sweeps(Knob::power_limit) ? facts.found_limit : std::nullopt;
  const auto text = write_sweep_table(experiment::table_of(summary, names, limit));
  if (!text) return fail(text.error());
  return write_file(plan.output.string(), true, [&](report::Sink& to) { return to.write(*text); });
}

Status write_page(const std::string& document, const std::string& target) {
  return write_file(target, true, [&](report::Sink& to) {
    return write_document_page(document, std::filesystem::path(target).filename().string(),
                               std::string(kVersion), to);
  });
}

/// Whether the state has done its work: the table was written, or nothing that was measured gives one. What
/// rubato exits with is in `invocation`.
bool conclude(Invocation& invocation, const SweepOptions& options, const SweepPlan& plan,
              const SweepFacts& facts, const SweepEnd& end, const experiment::SweepState& state) {
  const auto summary = experiment::summarise_sweep(state.measured(), &analyse::student_t_quantile);
  std::optional<experiment::SweepChoices> choices;
  SweepReport report{plan, options, facts, end, state.measured()};
  invocation.status = end.status;
  bool state_done = false;
  if (summary) {
    report.summary = &*summary;
    if (summary->settings.size() > 1) {
      choices = experiment::choices_of(*summary, plan.max_slowdown);
      report.choices = &*choices;
    } else {
      report.why_not =
          "no run at another setting than the found one can be used, so there is nothing to compare";
      if (invocation.status == 0) invocation.status = 1;
    }
    if (const Status written = write_table(plan, options, facts, *summary, end); !written) {
      log::error(
          Error{written.error().code, written.error().what,
                cat("what was measured is kept in ", plan.state.string(),
                    ": make room for the table, and the same command writes it without measuring anew")});
      if (invocation.status == 0) invocation.status = 1;
    } else {
      state_done = true;
      log::info(cat("the table is ", plan.output.string()));
    }
  } else {
    report.why_not = summary.error().what;
    state_done = true;  // going on with it would say the same again
    if (invocation.status == 0) invocation.status = 1;
  }
  const std::string target = options.run.report_file.value_or("");
  if (!invocation.quiet || invocation.json || !target.empty()) {
    const auto words = target.empty() ? text_options(STDERR_FILENO) : report::TextOptions{};
    const bool page = is_page(target) && !invocation.json;
    const std::string text =
        invocation.json || page ? report::render_json(sweep_json(report)) : sweep_text(report, words);
    if (const Status written = page ? write_page(text, target) : write_report(text, target, STDERR_FILENO);
        !written)
      log::warning(written.error());
  }
  if (!end.why.empty())
    log::error(Error{ErrorCode::unavailable, end.why,
                     state.measured().empty() ? "" : "the same command again goes on where this one ended"});
  return state_done;
}

int sweep(Invocation& invocation, const SweepOptions& options) {
  if (options.dry_run && is_page(options.run.report_file.value_or("")) && !invocation.json)
    return refuse(invocation, Error{ErrorCode::invalid_argument, "a dry run has no page with charts",
                                    "name another file for the text, or add --json"});
  auto planned = plan_sweep(options, invocation.command);
  if (!planned) return refuse(invocation, planned.error());
  const SweepPlan& plan = *planned;
  const auto spec = backend_spec(invocation.gpu);
  if (!spec) return refuse(invocation, spec.error());
  const bool simulated = names_simulated(invocation.gpu);
  if (const Status fine = not_behind_sudo(options, simulated); !fine) return refuse(invocation, fine.error());
  if (const Status fine = check_output(plan, options.force); !fine && !options.dry_run)
    return refuse(invocation, fine.error());
  const auto world = own_world(invocation.gpu, std::filesystem::absolute(plan.output).string());
  if (!world) return refuse(invocation, world.error());
  if (!options.dry_run) put_back_stale(invocation.gpu);

  Interrupts interrupts;
  std::vector<Knob> knobs;
  for (const auto& values : plan.knobs) knobs.push_back(values.knob);
  const auto managed = manager_grants(invocation.gpu, knobs);
  if (!managed && !options.dry_run) return refuse(invocation, managed.error());
  // What rubatod grants, this process needs no right for.
  RunOptions rights = options.run;
  if (managed.value_or(false)) rights.sudo = rights.accept_unrestored = true;
  auto facts = ask_facts(interrupts, invocation.gpu, rights, plan.grid, options.dry_run);
  if (facts && !managed) facts->notes.push_back(cat("it would be refused here: ", managed.error().what));
  if (!facts) return refuse(invocation, facts.error());
  const auto identity =
      identity_of(plan, options, simulated ? cat(invocation.gpu) : joined(facts->uuids), facts->found);
  if (options.dry_run) {
    const auto earlier = experiment::peek_sweep_state(plan.state, identity);
    if (!earlier) return refuse(invocation, earlier.error());
    const auto measured = earlier->value_or(std::vector<experiment::SweepMeasurement>{});
    const std::string text =
        invocation.json ? report::render_json(sweep_plan_json(plan, *facts, measured))
                        : sweep_plan_text(plan, options, *facts, measured, text_options(STDOUT_FILENO));
    const Status written = write_report(text, options.run.report_file.value_or(""), STDOUT_FILENO);
    if (!written) return refuse(invocation, written.error(), 1);
    if (*world) unlink((*world)->c_str());
    return 0;
  }
  for (const auto& note : facts->notes) log::info(note);
  if (facts->clock_rate != 1.0)
    log::info(cat("the GPU is simulated on a clock that runs ", number(facts->clock_rate, 1),
                  " times as fast as the wall"));
  auto state = experiment::SweepState::open(plan.state, identity);
  if (!state) return refuse(invocation, state.error());
  if (!state->measured().empty())
    log::info(
        cat("going on with the ", state->measured().size(), " runs that ", plan.state.string(), " has"));
  const SweepEnd end = SweepConductor(invocation, options, plan, *facts, interrupts, *state).run();
  const bool state_done = conclude(invocation, options, plan, *facts, end, *state);
  if ((end.why.empty() && state_done) || state->measured().empty()) {
    // Of a sweep that is through the table is all that is needed; of one that never began nothing is.
    unlink(plan.state.c_str());
    if (*world) unlink((*world)->c_str());
  }
  return invocation.status;
}

}  // namespace

void add_sweep(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("sweep", "run a command at many settings and say what each costs");
  static SweepOptions options;
  RunOptions& run = options.run;
  add_common(*command, invocation);
  command
      ->add_option("--knob", options.knobs,
                   "what to vary, as in power-limit=100:250:25 or sm-clock=705,1005; several make a grid")
      ->type_name("KNOB=VALUES")
      ->allow_extra_args(false);
  command->add_option("--repeats", options.repeats, "how often each setting is measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--order", options.order, "random, interleaved or ascending")->capture_default_str();
  command->add_option("--seed", run.seed, "of the random order")->capture_default_str();
  command
      ->add_option("--control-every", options.control_every,
                   "settings between two control runs as the GPU was found, at most")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command->add_option("--warmup", options.warmup, "warm-up runs at most, until the temperature is steady")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  command
      ->add_option("--max-slowdown", options.max_slowdown,
                   "name the best setting inside this bound, as in 5%")
      ->type_name("PERCENT");
  command->add_flag("--within", options.within,
                    "one run for all settings, changed between iterations; figures are per iteration");
  command->add_option("--iterations", options.iterations, "with --within: counted at each setting, at least")
      ->check(CLI::Range(4, 1'000'000))
      ->capture_default_str();
  command->add_flag("--stop-early", options.stop_early,
                    "leave out settings beyond the bound, or beyond an optimum that is bracketed");
  command->add_option("-o,--output", options.output, "the sweep table (default: sweep-COMMAND.csv)")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "replace a table that is there");
  command->add_option("--workload", options.workload, "its name in the table (default: the command)")
      ->type_name("NAME");
  command->add_option("--group", options.group, "what leave-one-out leaves out with it (default: itself)")
      ->type_name("NAME");
  command->add_flag("--dry-run", options.dry_run, "say what would be run, in which order; touch nothing");
  add_writing_options(*command, run);
  command
      ->add_option(
          "--report", run.report_file,
          "write the report to FILE (FILE.html: a page with charts; or fd:N) instead of standard error")
      ->type_name("FILE");
  add_job_options(*command, run.job);
  command->footer("rubato sweep --knob power-limit=100:250:25 [OPTIONS] -- COMMAND");
  command->callback([&invocation] { sweep(invocation, options); });
}

}  // namespace rubato::cli
