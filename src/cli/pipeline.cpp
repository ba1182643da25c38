#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/output_file.h"
#include "cli/pipeline_report.h"
#include "cli/print_run.h"
#include "cli/words/units.h"
#include "plan/pipeline/perseus_files.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr std::uintmax_t kLargestFile = 64U << 20U;
// A stage of an A100 SXM that waits for its neighbours, as Perseus' artifact has it (SOSP 2024); 70.4 W on
// A40.
constexpr double kAssumedBlocking = 83.64;

struct Options {
  std::string profile;
  std::int64_t microbatches = 0;
  std::string schedule = "1f1b";
  std::string unit;
  std::optional<double> blocking;
  std::vector<std::string> stragglers;
  std::string deadline;
  std::string output;
  std::string clocks;
  bool force = false;
};

tl::unexpected<Error> wrong(std::string what, std::string hint = {}) {
  return fail(ErrorCode::invalid_argument, std::move(what), std::move(hint));
}

/// "1ms", "3.2 s", "3.2".
Result<Seconds> parse_seconds(const std::string& option, const std::string& text) {
  auto value = parse_number(text);
  if (const auto plain = plain_number("S", text); !value && plain) value = parse_number(*plain);
  if (!value || !std::isfinite(*value) || *value <= 0 || *value > 1e6)
    return wrong(cat(option, " ", text, " is no time above zero"), cat(option, " 1ms, or ", option, " 3.2s"));
  return Seconds(*value);
}

Result<Straggler> parse_straggler(const std::string& text) {
  const auto parts = split(text, '=');
  const auto stage = parse_integer(parts.front());
  const auto factor = parts.size() == 2 ? parse_number(parts.back()) : std::nullopt;
  if (!stage || *stage < 0 || !factor)
    return wrong(cat("--straggler ", text, " is no STAGE=FACTOR"),
                 "--straggler 3=1.2 is stage 3 (the first is 0) taking 20 % longer");
  return Straggler{static_cast<std::size_t>(*stage), *factor};
}

Result<plan::StageProfile> read_profile(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorCode::not_found, cat("cannot read ", path, ": ", error.message()));
  if (size > kLargestFile)
    return wrong(cat(path, " has ", size, " bytes; at most ", kLargestFile, " are read"));
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in) return fail(ErrorCode::io, cat("cannot read ", path));
  return plan::read_stage_profile(text, std::filesystem::path(path).filename().string());
}

Status write(const std::string& target, const std::string& text, bool force) {
  return write_file(target, force, [&](report::Sink& to) { return to.write(text); });
}

/// `plain` is the pipeline without its stragglers.
Result<PipelineChoice> choose(const plan::Pipeline& plain, const plan::Pipeline& real,
                              std::optional<Seconds> deadline) {
  const auto before = plain.at(plain.fastest()).clocks;
  PipelineChoice choice;
  choice.deadline = deadline ? *deadline : real.counted_time(before);
  // A deadline as it was printed is not refused for the digits left out.
  constexpr double kPrinted = 1e-3;
  if (choice.deadline.value() < real.fastest().value() - kPrinted)
    return wrong(cat("--deadline ", choice.deadline, ": the fastest iteration takes ", real.fastest()),
                 cat("--deadline ", number(std::ceil(1e3 * real.fastest().value()) / 1e3), " or more"));
  choice.deadline = std::max(choice.deadline, real.fastest());
  choice.chosen = real.at(choice.deadline);
  choice.now = real.cost(choice.chosen.clocks, choice.deadline);
  choice.kept = real.cost(before, choice.deadline);
  return choice;
}

Status frontier(const Invocation& invocation, const Options& options) {
  if (options.output == "-" && invocation.json)
    return wrong("-o - and --json both want standard output", "-o FILE");
  if (options.clocks == "-" && invocation.json)
    return wrong("--clocks - and --json both want standard output", "--clocks FILE");
  if (!options.output.empty() && options.output == options.clocks)
    return wrong(
        cat("-o and --clocks both want ", options.output == "-" ? "standard output" : options.output),
        "the frontier and the clocks are two files");
  plan::FrontierWishes wishes;
  if (options.microbatches < 1)
    return wrong(cat("--microbatches ", options.microbatches, ": a pipeline runs at least 1"),
                 "--microbatches 12");
  wishes.microbatches = static_cast<std::size_t>(options.microbatches);
  wishes.blocking = Watts(options.blocking.value_or(kAssumedBlocking));
  if (!std::isfinite(wishes.blocking.value()) || wishes.blocking < Watts(0))
    return wrong(cat("--blocking-power ", wishes.blocking, " is below zero"), "--blocking-power 83");
  if (!options.unit.empty()) {
    const auto unit = parse_seconds("--time-unit", options.unit);
    if (!unit) return fail(unit.error());
    wishes.unit = *unit;
  }
  std::optional<Seconds> deadline;
  if (!options.deadline.empty()) {
    const auto parsed = parse_seconds("--deadline", options.deadline);
    if (!parsed) return fail(parsed.error());
    deadline = *parsed;
  }
  const auto profile = read_profile(options.profile);
  if (!profile) return fail(profile.error());
  PipelineFacts facts;
  plan::StageProfile slow = *profile;
  for (const std::string& text : options.stragglers) {
    const auto straggler = parse_straggler(text);
    if (!straggler) return fail(straggler.error());
    const auto same = [&](const Straggler& s) { return s.stage == straggler->stage; };
    if (std::any_of(facts.stragglers.begin(), facts.stragglers.end(), same))
      return wrong(cat("--straggler ", text, ": stage ", straggler->stage, " is named twice"),
                   "one factor for each stage");
    auto slower = plan::slowed(std::move(slow), straggler->stage, straggler->factor);
    if (!slower) return fail(slower.error());
    slow = std::move(*slower);
    facts.stragglers.push_back(*straggler);
  }
  const auto plain = plan::Pipeline::make(*profile, wishes);
  if (!plain) return fail(plain.error());
  const auto real = plan::Pipeline::make(std::move(slow), wishes);
  if (!real) return fail(real.error());

  facts.profile = profile->name;
  facts.stages = profile->stages.size();
  facts.microbatches = wishes.microbatches;
  facts.unit = wishes.unit;
  facts.blocking = wishes.blocking;
  facts.blocking_assumed = !options.blocking;
  facts.dropped = real->dropped();
  facts.highest = real->cost(real->all_at_highest());
  auto made = real->frontier();
  if (!made) return fail(made.error());
  facts.frontier = std::move(*made);
  if (deadline || !facts.stragglers.empty() || !options.clocks.empty()) {
    auto choice = choose(*plain, *real, deadline);
    if (!choice) return fail(choice.error());
    facts.choice = std::move(*choice);
  }
  if (!options.output.empty())
    if (const Status done = write(options.output, perseus_frontier(facts.frontier), options.force); !done)
      return done;
  if (!options.clocks.empty())
    if (const Status done =
            write(options.clocks, perseus_clocks(real->schedule(), facts.choice->chosen), options.force);
        !done)
      return done;
  if (options.output == "-" || options.clocks == "-" || invocation.quiet) return {};
  if (invocation.json) {
    fmt::print("{}", report::render_json(pipeline_json(facts)));
    return {};
  }
  Page page(text_options(STDOUT_FILENO));
  say_pipeline(page, facts);
  fmt::print("{}", page.take());
  return {};
}

}  // namespace

void add_pipeline(CLI::App& app, Invocation& invocation) {
  auto* group = app.add_subcommand("pipeline", "clocks for pipeline-parallel training");
  group->require_subcommand(1);
  auto* command = group->add_subcommand(
      "frontier", "the time-energy frontier of an iteration, and a clock for every forward and backward");
  static Options options;
  command->add_option("profile", options.profile, "stage profile: stage,instruction,frequency,time,energy")
      ->type_name("FILE")
      ->required();
  command->add_option("--microbatches", options.microbatches, "micro-batches of an iteration")
      ->type_name("N")
      ->required();
  command->add_option("--schedule", options.schedule, "in which order a stage works")
      ->type_name("NAME")
      ->capture_default_str()
      ->check(CLI::IsMember({"1f1b"}));
  command
      ->add_option("--blocking-power", options.blocking,
                   "what one stage draws while it waits (default: 83.64, A100 SXM)")
      ->type_name("W");
  command
      ->add_option("--time-unit", options.unit,
                   "floor times to whole units, as Perseus' published files do (default: exact times)")
      ->type_name("TIME");
  command
      ->add_option("--straggler", options.stragglers,
                   "a stage that takes FACTOR times as long; again for more of them")
      ->type_name("STAGE=FACTOR")
      ->allow_extra_args(false);
  command
      ->add_option("--deadline", options.deadline,
                   "the iteration lasts until then anyway: choose the point for it (default: the fastest)")
      ->type_name("TIME");
  command->add_option("-o,--output", options.output, "write the frontier as CSV")->type_name("FILE");
  command
      ->add_option("--clocks", options.clocks,
                   "write a clock for every forward and backward of the chosen point, as Perseus reads it")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "overwrite files");
  command->add_flag("--json", invocation.json, "machine-readable output (rubato.pipeline-frontier/1)");
  command->add_flag("--quiet,-q", invocation.quiet, "errors only");
  command->callback([&invocation] {
    if (const Status done = frontier(invocation, options); !done) refuse(invocation, done.error());
  });
}

}  // namespace rubato::cli
