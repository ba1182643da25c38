// `rubato doctor`: what is missing on this machine, and the exact command that mends it, or that none does.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "cli/findings.h"
#include "cli/invocation.h"
#include "cli/lines.h"
#include "cli/print_run.h"
#include "conduct/patience.h"
#include "report/layout.h"
#include "report/render.h"
#include "report/value.h"

namespace rubato::cli {
namespace {

using report::Array;
using report::Object;
using report::Value;

struct Options {
  bool request = false;
};

Value json(const Examination& examination, std::size_t missing) {
  const Place& place = examination.place;
  Array findings;
  for (const auto& finding : examination.findings)
    findings.emplace_back(Object{{"state", name_of(finding.state)},
                                 {"subject", finding.subject},
                                 {"what", finding.what},
                                 {"mend", finding.mend}});
  return Object{{"schema", "rubato.doctor/1"},
                {"place", Object{{"in_words", place.in_words()},
                                 {"right", name_of(place.right)},
                                 {"root", place.root},
                                 {"user_namespace", place.user_namespace},
                                 {"scheduler", place.scheduler},
                                 {"container", place.container}}},
                {"missing", missing},
                {"findings", std::move(findings)}};
}

void print_text(const Examination& examination, bool quiet) {
  for (const auto& finding : examination.findings) {
    if (quiet && finding.state == State::fine) continue;
    print_line(fmt::format("{:<7}  ", name_of(finding.state)), finding.what);
    // A command is to be copied, so it stays in one piece.
    if (!finding.mend.empty()) fmt::print("         -> {}\n", finding.mend);
  }
  if (quiet) return;
  constexpr int kWideInPipe = 110;
  fmt::print("\n{}", report::wrapped(
                         "What no version of rubato can put back: a setting whose rubato and guard were both "
                         "killed stays until the next rubato starts here; a clock lock that was in force "
                         "before (the driver cannot be asked for it) unless --found-sm-clock names it. A "
                         "reboot or a driver reload clears every setting by itself.",
                         "", ::isatty(STDOUT_FILENO) == 1 ? text_options(STDOUT_FILENO).width : kWideInPipe));
}

void doctor(Invocation& invocation, const Options& options) {
  const Examination examination = examine(invocation.gpu);
  if (options.request) {
    fmt::print("{}", request_text(examination.place, examination.facts));
    return;
  }
  const auto missing = static_cast<std::size_t>(
      std::count_if(examination.findings.begin(), examination.findings.end(),
                    [](const Finding& finding) { return finding.state == State::missing; }));
  if (invocation.json)
    fmt::print("{}", report::render_json(json(examination, missing)));
  else
    print_text(examination, invocation.quiet);
  invocation.status = missing == 0 ? 0 : 1;
  if (examination.driver_stuck) conduct::leave_now(invocation.status);
}

}  // namespace

void add_doctor(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("doctor", "what is missing on this machine, and what mends it");
  static Options options;
  add_common(*command, invocation);
  command->add_flag("--request", options.request,
                    "print a request to mail to whoever may give the right to set GPUs here");
  command->callback([&invocation] { doctor(invocation, options); });
}

}  // namespace rubato::cli
