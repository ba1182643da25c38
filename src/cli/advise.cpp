// `rubato advise`: measures a command at the setting that is found, and says what to set.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/log.h"
#include "cli/advise_model.h"
#include "cli/advise_probe.h"
#include "cli/caller.h"
#include "cli/factor_options.h"
#include "cli/governing.h"
#include "cli/invocation.h"
#include "cli/job_gpus.h"
#include "cli/job_options.h"
#include "cli/no_nan.h"
#include "cli/print_run.h"
#include "cli/records.h"
#include "cli/report/advice_report.h"
#include "cli/run_files.h"
#include "cli/stale.h"
#include "cli/wanted.h"
#include "cli/wrap.h"
#include "device/sim/profile.h"
#include "experiment/advise/candidates.h"
#include "govern/measure_only_strategy.h"
#include "plan/setting_of.h"
#include "record/reader.h"

namespace rubato::cli {
namespace {

constexpr int kNoAdvice = 1;

struct Options {
  std::string run;
  std::string max_slowdown = "5%";
  double confidence_percent = 100 * experiment::kUsualCaution.confidence;
  std::string objective{name_of(Objective::energy)};
  std::vector<std::string> knobs = {std::string(name_of(Knob::power_limit))};
  SecondPriceText second;
  ModelWish model;
  std::size_t probes = 0;
  std::optional<std::string> report_file;
  bool as_root = false;
  JobOptions job;
};

struct Wish {
  Goal goal;
  plan::Caution caution;
  std::vector<Knob> knobs;
  // Of the GPUs asked; empty where an old run is advised on.
  std::vector<Megahertz> sm_clocks;
  std::vector<Megahertz> memory_clocks;
  std::size_t probes = 0;

  [[nodiscard]] bool wants(Knob knob) const {
    return std::find(knobs.begin(), knobs.end(), knob) != knobs.end();
  }
};

Result<Wish> parse(const Options& options) {
  Wish out;
  const auto bound = parse_max_slowdown(options.max_slowdown);
  if (!bound) return fail(bound.error());
  out.goal.max_slowdown = bound->value_or(out.goal.max_slowdown);
  out.caution.confidence = options.confidence_percent / 100;
  const auto objective = parse_objective_of_run(options.objective);
  if (!objective) return fail(objective.error());
  out.goal.objective = *objective;
  out.probes = options.probes;
  if (const Status fine = add_to_goal(options.second, out.goal); !fine) return fail(fine.error());
  for (const std::string& name : options.knobs) {
    const auto knob = parse_tunable_knob(name);
    if (!knob) return fail(knob.error());
    if (!out.wants(*knob)) out.knobs.push_back(*knob);
  }
  return out;
}

/// What can be asked for is known only while the GPU is open.
Status ask_clocks(Wish& wish, const OpenGpus& open) {
  if (open.gpus.empty() || (!wish.wants(Knob::sm_clock) && !wish.wants(Knob::memory_clock))) return {};
  device::Gpu& gpu = *open.gpus.front();
  const auto clocks = gpu.supported_clocks();
  if (!clocks) return fail(clocks.error());
  wish.sm_clocks = clocks->sm;
  wish.memory_clocks = clocks->memory;
  return {};
}

/// Tries settings one by one, each the one that would tell most; stops where none is left.
Status probe(experiment::Advice& advice, experiment::AdviceRequest& request, const AdviceModel& model,
             const Wish& wish, const experiment::MeasuredDefault& by_default, const Invocation& invocation) {
  std::vector<bool> measured(request.candidates.size(), false);
  for (std::size_t k = 0; k < wish.probes && advice.refused.empty(); ++k) {
    const auto next =
        plan::next_probe(advice.believed, request.goal, request.known.at_default.power(), measured);
    if (!next) return {};
    measured[*next] = true;
    const predict::KnobPoint& at = request.candidates[*next];
    log::info(cat("probe ", k + 1, " of ", wish.probes, ": ", describe(plan::setting_of(at))));
    const auto file = run_at(at, invocation);
    if (!file) return fail(file.error());
    const auto run = record::read_run(*file);
    if (!run) return fail(run.error());
    const auto observed = experiment::measured_at(*run, at, by_default);
    if (!observed) return fail(observed.error());
    request.known.probes.push_back(*observed);
    auto better = experiment::advise(*model.model, model.facts, request);
    if (!better) return fail(better.error());
    advice = std::move(*better);
  }
  return {};
}

/// What has to stand behind --gpu for the board of a run that is read: nothing here shows a simulated one.
std::string simulated_gpu(const record::DeviceInfo& device) {
  const auto* profile = device.backend == "sim" ? device::sim::find_board(device.identity.name) : nullptr;
  return profile == nullptr ? std::string() : cat("sim:", profile->name);
}

Result<AdviceReport> advice_on(const std::filesystem::path& file, const AdviceModel& model, const Wish& wish,
                               const Invocation& invocation) {
  const auto run = record::read_run(file);
  if (!run) return fail(run.error());
  auto measured = experiment::measured_default(*run);
  if (!measured) return fail(measured.error());
  predict::Known& known = measured->known;
  if (!wish.sm_clocks.empty())
    known.highest.sm_clock = *std::max_element(wish.sm_clocks.begin(), wish.sm_clocks.end());
  if (!wish.memory_clocks.empty())
    known.highest.memory_clock = *std::max_element(wish.memory_clocks.begin(), wish.memory_clocks.end());
  experiment::AdviceRequest request{
      .known = known, .candidates = {}, .goal = wish.goal, .caution = wish.caution};
  request.candidates =
      experiment::candidates({measured->limits, wish.sm_clocks, wish.memory_clocks}, wish.knobs);
  if (request.candidates.empty())
    return fail(ErrorCode::not_supported, cat(known.gpu, " has none of these knobs to set"),
                "rubato devices");
  auto advice = experiment::advise(*model.model, model.facts, request);
  if (!advice) return fail(advice.error());
  if (const Status probed = probe(*advice, request, model, wish, *measured, invocation); !probed)
    log::warning(Error{probed.error().code, cat("not probed any further: ", probed.error().what),
                       probed.error().hint});
  known.probes = std::move(request.known.probes);
  return AdviceReport{
      .run_id = run->info.run_id,
      .command = run->info.command,
      .gpu_list = invocation.gpu.empty() ? simulated_gpu(run->devices.front().info) : invocation.gpu,
      .measured = std::move(*measured),
      .model = model.facts,
      .knobs = wish.knobs,
      .goal = wish.goal,
      .advice = std::move(*advice)};
}

Status print(const AdviceReport& report, const Invocation& invocation, const std::string& target,
             int otherwise) {
  std::string text;
  if (invocation.json) {
    text = report::render_json(advice_json(report));
  } else {
    Page page(target.empty() ? text_options(otherwise) : report::TextOptions{});
    say_advice(page, report);
    text = page.take();
  }
  return write_report(text, target, otherwise);
}

/// The status rubato is to leave with.
int answer(const std::filesystem::path& file, const AdviceModel& model, const Wish& wish,
           const Invocation& invocation, const std::string& target, int otherwise) {
  const auto report = advice_on(file, model, wish, invocation);
  const Status done = report ? print(*report, invocation, target, otherwise) : fail(report.error());
  if (done) return 0;
  log::error(Error{done.error().code, cat("no advice: ", done.error().what), done.error().hint});
  return kNoAdvice;
}

int advise_on_run(Invocation& invocation, const Options& options, const Wish& wish) {
  if (invocation.separated)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument,
                        "a run and a command were named; one is advised on at a time", "leave --run out"});
  if (wish.wants(Knob::sm_clock) || wish.wants(Knob::memory_clock))
    return refuse(invocation, Error{ErrorCode::not_supported,
                                    "a record does not tell which clocks its GPU can be locked to",
                                    "rubato advise --knobs sm-clock -- COMMAND"});
  if (wish.probes > 0)
    return refuse(invocation, Error{ErrorCode::invalid_argument, "--probe needs the command to run again",
                                    "rubato advise --probe 2 -- COMMAND"});
  const JobOptions& job = options.job;
  if (!job.meters.empty() || job.no_hooks || job.kernels || job.counters != JobOptions().counters)
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    "--meter, --no-hooks, --kernels and --counters are of a command that is "
                                    "measured; --run names one that was",
                                    "leave them out, or measure again: rubato advise -- COMMAND"});
  const auto file = find_record(options.run);
  if (!file) return refuse(invocation, file.error());
  const auto run = record::read_run(*file);
  if (!run) return refuse(invocation, run.error());
  const std::string gpu = run->devices.empty() ? "this GPU" : run->devices.front().info.identity.name;
  const auto model = model_for_advice(options.model, gpu, wish.knobs, wish.goal, wish.caution);
  if (!model) return refuse(invocation, model.error());
  return invocation.status =
             answer(*file, *model, wish, invocation, options.report_file.value_or(""), STDOUT_FILENO);
}

int advise(Invocation& invocation, const Options& options) {
  auto wish = parse(options);
  if (!wish) return refuse(invocation, wish.error());
  if (is_page(options.report_file.value_or("")) && !invocation.json)
    return refuse(invocation, Error{ErrorCode::invalid_argument, "advice has no page with charts",
                                    "name another file for the text, or add --json"});
  if (options.report_file)
    if (const auto fine = check_report_target(*options.report_file); !fine)
      return refuse(invocation, fine.error());
  if (!options.run.empty()) return advise_on_run(invocation, options, *wish);
  if (invocation.command.empty())
    return refuse(invocation, Error{ErrorCode::invalid_argument,
                                    invocation.separated ? "no command stands behind --"
                                                         : "no command to measure: put it behind --",
                                    "rubato advise -- python3 train.py, or rubato advise --run last"});
  const auto counters = wanted_counters(options.job.counters);
  if (!counters) return refuse(invocation, counters.error());
  put_back_stale(invocation.gpu);
  if (!options.as_root)
    if (const auto dropped = drop_to_caller(); !dropped) return refuse(invocation, dropped.error());
  auto open = open_gpus_for_job(invocation);
  if (!open) return refuse(invocation, open.error());
  if (open->gpus.empty())
    return refuse(invocation, Error{ErrorCode::unavailable, "there is no GPU to advise on", "rubato doctor"});
  if (const Status asked = ask_clocks(*wish, *open); !asked) return refuse(invocation, asked.error());
  // What cannot be answered is said before the job runs for it.
  auto found = model_for_advice(options.model, open->gpus.front()->identity().name, wish->knobs, wish->goal,
                                wish->caution);
  if (!found) return refuse(invocation, found.error());
  const auto model = std::make_shared<const AdviceModel>(std::move(*found));
  WrapPlan plan;
  plan.info = describe_run("measure", invocation.command);
  plan.strategy = std::make_unique<govern::MeasureOnlyStrategy>("measuring for advice: nothing is set");
  plan.meters = options.job.meters;
  plan.hooks = options.job.hooks();
  plan.counters = *counters;
  plan.conclude = [&invocation, &options, wish = *wish, model](const Result<std::filesystem::path>& file) {
    if (file) return answer(*file, *model, wish, invocation, options.report_file.value_or(""), STDERR_FILENO);
    log::error(Error{file.error().code, cat("no advice: ", file.error().what), file.error().hint});
    return kNoAdvice;
  };
  return wrap(invocation, std::move(plan), std::move(*open));
}

}  // namespace

void add_advise(CLI::App& app, Invocation& invocation) {
  auto* command =
      app.add_subcommand("advise", "measure a command, then say what to set and what that would save");
  static Options options;
  add_common(*command, invocation);
  command->add_option("--run", options.run, "advise on a run that was measured already: an id, or `last`")
      ->type_name("RUN");
  command->add_option("--max-slowdown", options.max_slowdown, "how much longer the run may take")
      ->type_name("PERCENT")
      ->capture_default_str();
  command
      ->add_option("--confidence", options.confidence_percent,
                   "least probability that the slowdown stays inside --max-slowdown")
      ->type_name("PERCENT")
      ->transform([](std::string text) {
        if (!text.empty() && text.back() == '%') text.pop_back();
        return text;
      })
      ->check(CLI::Range(0.0, 99.9))
      ->check(no_nan())
      ->capture_default_str();
  command->add_option("--objective", options.objective, "what is to become small: energy, edp, ed2p, cost")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--knobs", options.knobs, "what may be set: power-limit, sm-clock, memory-clock")
      ->type_name("LIST")
      ->delimiter(',')
      ->capture_default_str();
  add_second_price(*command, options.second);
  auto* model = command->add_option("--model", options.model.file, "a model made by `rubato model train`")
                    ->type_name("FILE");
  command->add_option("--table", options.model.table, "learn from this sweep table instead")
      ->type_name("FILE")
      ->excludes(model);
  command
      ->add_option("--probe", options.probes,
                   "run the command again under up to N settings that tell most, as `rubato run` does")
      ->type_name("N")
      ->check(CLI::Range(0, 20));
  command
      ->add_option("--report", options.report_file,
                   "write the advice to FILE (or fd:N) instead of the terminal")
      ->type_name("FILE");
  command->add_flag("--as-root", options.as_root,
                    "under sudo: stay root instead of becoming the caller again");
  add_job_options(*command, options.job);
  command->footer("rubato advise [OPTIONS] -- COMMAND");
  command->callback([&invocation] { advise(invocation, options); });
}

}  // namespace rubato::cli
