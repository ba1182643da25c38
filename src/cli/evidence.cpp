// `rubato evidence`: half an hour on a GPU, everything put back, one file for others to learn from.
#include <fmt/format.h>

#include <cctype>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "analyse/student_t.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/evidence_conductor.h"
#include "cli/evidence_report.h"
#include "cli/managed.h"
#include "cli/no_nan.h"
#include "cli/output_file.h"
#include "cli/print_run.h"
#include "cli/stale.h"
#include "cli/sweep_world.h"
#include "cli/version.h"
#include "cli/writing_options.h"
#include "experiment/evidence_scrub.h"

namespace rubato::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Where nobody knows the sensor yet, most since Maxwell (arXiv 2312.02741).
constexpr Seconds kUsualPeriod{0.1};

struct EvidenceOptions {
  double minutes = 30;
  std::string output;
  bool force = false;
  bool dry_run = false;
  RunOptions run;  // seed and rights
};

/// UTC: a time zone would tell where it was made.
std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

std::string usual_name(const std::string& gpu) {
  std::string out = "evidence-";
  for (const char c : gpu)
    out += std::isalnum(static_cast<unsigned char>(c)) != 0
               ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
               : '-';
  return cat(out, "-", today(), ".json");
}

/// The guards need root and nothing else does.
Status not_behind_sudo(const EvidenceOptions& options, bool simulated) {
  if (options.run.as_root) return {};
  const auto caller = caller_behind_sudo();
  if (!caller) return fail(caller.error());
  if (!*caller) return {};
  if (simulated) return become(**caller);
  return fail(
      ErrorCode::invalid_argument, "evidence makes several runs, each with a guard of its own",
      "rubato evidence --sudo lets sudo start the guards, and only them; or stay root with --as-root");
}

Status write_document(const Json& document, const std::string& file) {
  const std::string text = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return write_file(file, true, [&](report::Sink& to) { return to.write(text); });
}

std::optional<Watts> limit_of(const Json& board) {
  if (!board.contains("power_limits") || !board["power_limits"].is_object()) return std::nullopt;
  const Json& requested = board["power_limits"]["requested_w"];
  return requested.is_number() ? std::optional(Watts(requested.get<double>())) : std::nullopt;
}

int gather(Invocation& invocation, const EvidenceOptions& options, const EvidenceFacts& facts,
           experiment::EvidencePlan plan, const std::string& file, Interrupts& interrupts) {
  const std::string gpu = facts.kind == Kind::modelled ? invocation.gpu : facts.uuid;
  const auto begin = std::chrono::steady_clock::now();
  EvidenceConductor conductor(invocation, options.run, facts, plan, interrupts);
  experiment::Evidence evidence = conductor.run();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  evidence.date = today();
  evidence.rubato_version = kVersion;
  evidence.clock_rate = facts.clock_rate;
  evidence.asked = Seconds(options.minutes * 60);
  evidence.took = Seconds(wall.count()) * facts.clock_rate;
  evidence.kind = facts.kind;
  evidence.limit_before = facts.found_limit;
  // Only now: the runs have found out how often the sensor is refreshed.
  auto board = ask_board(interrupts, gpu, options.run.as_root);
  if (board)
    evidence.limit_after = limit_of(*board);
  else
    evidence.missing.push_back({"the board", board.error().what});
  Json document = experiment::evidence_json(evidence, plan, board ? *board : Json({{"name", facts.name}}),
                                            &analyse::student_t_quantile);
  experiment::scrub(document, private_names(facts));
  invocation.status = conductor.status();
  if (const Status written = write_document(document, file); !written)
    return refuse(invocation, written.error(), 1);
  if (invocation.json)
    fmt::print("{}\n", document.dump(2, ' ', false, Json::error_handler_t::replace));
  else if (!invocation.quiet)
    fmt::print("{}", evidence_text(document, file, text_options(STDOUT_FILENO)));
  if (invocation.status == 0 && evidence.kernels.empty()) invocation.status = 1;
  return invocation.status;
}

int evidence(Invocation& invocation, const EvidenceOptions& options) {
  if (invocation.separated)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "evidence runs kernels of its own and no command",
                        "rubato sweep measures a command"});
  const auto spec = backend_spec(invocation.gpu);
  if (!spec) return refuse(invocation, spec.error());
  const bool simulated = names_simulated(invocation.gpu);
  if (const Status fine = not_behind_sudo(options, simulated); !fine) return refuse(invocation, fine.error());
  const auto world = own_world(invocation.gpu, cat("evidence in ", fs::current_path().string()));
  if (!world) return refuse(invocation, world.error());
  struct RemovesWorld {
    const std::optional<fs::path>& path;
    ~RemovesWorld() {
      std::error_code ignored;
      if (path) fs::remove(*path, ignored);
    }
  } const removes_world{*world};
  if (!options.dry_run) put_back_stale(invocation.gpu);

  Interrupts interrupts;
  RunOptions rights = options.run;
  RefusedKnobs refused;
  for (const Knob knob : {Knob::power_limit, Knob::sm_clock}) {
    const auto managed = manager_grants(invocation.gpu, {knob});
    if (!managed) refused.emplace_back(knob, managed.error());
    // What rubatod grants, this process needs no right for.
    if (managed.value_or(false)) rights.sudo = rights.accept_unrestored = true;
  }
  const auto facts = ask_evidence_facts(interrupts, invocation.gpu, rights, refused);
  if (!facts) return refuse(invocation, facts.error());
  const auto plan = experiment::plan_evidence(facts->ranges, facts->sensor_period.value_or(kUsualPeriod),
                                              Seconds(options.minutes * 60), options.run.seed);
  if (!plan) return refuse(invocation, plan.error());
  const std::string file = options.output.empty() ? usual_name(facts->name) : options.output;
  if (options.dry_run) {
    const std::string text = invocation.json
                                 ? evidence_plan_json(*plan, *facts).dump(2) + "\n"
                                 : evidence_plan_text(*plan, *facts, file, text_options(STDOUT_FILENO));
    const Status told = write_report(text, {}, STDOUT_FILENO);
    return told ? 0 : refuse(invocation, told.error(), 1);
  }
  std::error_code ignored;
  if (!options.force && fs::is_regular_file(file, ignored))
    return refuse(invocation, Error{ErrorCode::conflict, cat(file, " is there already"),
                                    "name another file with -o, or replace it with --force"});
  if (const Status fine = OutputFile::check(file); !fine) return refuse(invocation, fine.error());
  if (!invocation.quiet) {
    const std::string text = evidence_plan_text(*plan, *facts, file, text_options(STDERR_FILENO));
    if (const Status told = write_report(text, {}, STDERR_FILENO); !told) log::warning(told.error());
  }
  return gather(invocation, options, *facts, *plan, file, interrupts);
}

}  // namespace

void add_evidence(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand(
      "evidence", "half an hour on a real GPU, everything put back, one file to share with the project");
  static EvidenceOptions options;
  RunOptions& run = options.run;
  add_common(*command, invocation);
  command->add_option("--minutes", options.minutes, "how long it may take: it measures what fits")
      ->check(CLI::Range(1.0, 600.0))
      ->check(no_nan())
      ->capture_default_str();
  command->add_flag("--dry-run", options.dry_run, "say what would be done and for how long; touch nothing");
  command->add_option("-o,--output", options.output, "the file (default: evidence-GPU-DATE.json)")
      ->type_name("FILE");
  command->add_flag("--force", options.force, "replace FILE where it is there");
  command->add_option("--seed", run.seed, "of the order of settings")->capture_default_str();
  add_writing_options(*command, run);
  command->footer("rubato evidence --gpu 0 --sudo");
  command->callback([&invocation] { evidence(invocation, options); });
}

}  // namespace rubato::cli
