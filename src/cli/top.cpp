#include "cli/top.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/text.h"
#include "cli/caller.h"
#include "cli/gpus.h"
#include "cli/managed.h"
#include "cli/no_nan.h"
#include "cli/print_run.h"
#include "cli/stale.h"
#include "cli/terminal_kind.h"
#include "cli/top/draw.h"
#include "cli/top/json.h"
#include "cli/top/live.h"
#include "conduct/patience.h"
#include "report/format.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

constexpr double kShortestInterval = 0.1;
constexpr double kLongestInterval = 3600;

struct Options {
  double interval = 1;
  bool once = false;
};

bool in_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string upper;
    for (const char c : std::string_view(value))
      upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return upper.find("UTF-8") != std::string::npos || upper.find("UTF8") != std::string::npos;
  }
  return false;
}

/// A run on GPUs that were not asked for: the list that shows them.
std::string list_of_a_run(const std::filesystem::path& runtime) {
  for (const auto& run : record::living_run_states(runtime))
    if (!run.gpu_list.empty()) return run.gpu_list;
  return {};
}

[[noreturn]] void die_of(int signal) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::signal(signal, SIG_DFL);
  raise(signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  _exit(128 + signal);
}

/// Straight to standard output: what was read is seen at once.
bool put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void once(const Invocation& invocation, top::Sources sources) {
  const top::State state = top::Gatherer(std::move(sources)).read(RealClock().now());
  const std::string text =
      invocation.json ? report::render_json(top::top_json(state))
                      : top::plain_text(state, static_cast<std::size_t>(text_options(STDOUT_FILENO).width));
  fmt::print("{}", text);
}

top::Ended watch(const Invocation& invocation, top::Reader& reader) {
  if (!invocation.json && obeys_sequences(STDOUT_FILENO)) {
    if (auto terminal = top::Terminal::open(STDOUT_FILENO))
      return top::watch_on_terminal(std::move(*terminal), reader,
                                    {.colour = text_options(STDOUT_FILENO).colour, .unicode = in_utf8()});
  }
  const auto width = static_cast<std::size_t>(text_options(STDOUT_FILENO).width);
  return top::watch_as_text(reader, [&invocation, width](const top::State& state) {
    return put(invocation.json ? report::render_json_line(top::top_json(state))
                               : top::plain_text(state, width) + "\n");
  });
}

int live(const Invocation& invocation, top::Sources sources) {
  const sigset_t signals = top::watched_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  top::Reader reader(std::move(sources));
  const top::Ended ended = watch(invocation, reader);
  const auto last = reader.take();
  const bool hangs = !reader.stop();
  if (last)
    log::debug(cat("rubato top took ", number(last->own.cpu.value(), 3), " s of CPU in ",
                   number(last->own.wall.value(), 1), " s, of it ",
                   number(last->own.driver.inside.value(), 3), " s inside the driver's library in ",
                   last->own.driver.calls, " calls"));
  if (ended.signal != 0) die_of(ended.signal);
  if (hangs) conduct::leave_now(0);
  return 0;
}

int show_top(Invocation& invocation, const Options& options) {
  if (invocation.separated)
    return refuse(invocation,
                  Error{ErrorCode::invalid_argument, "top watches what runs and starts no command",
                        "in another terminal: rubato run -- COMMAND"});
  put_back_stale(invocation.gpu);
  if (const auto dropped = drop_to_caller(); !dropped) return refuse(invocation, dropped.error());
  auto open = conduct::patiently<Result<OpenGpus>>([list = invocation.gpu] { return open_gpus(list); });
  if (!open) conduct::leave_now(refuse(invocation, conduct::stands_still(), 1));
  const auto runtime = runtime_folder();
  if (!*open) {
    Error error = open->error();
    if (const std::string list = runtime ? list_of_a_run(*runtime) : "";
        !list.empty() && list != invocation.gpu)
      error.hint = cat("a run of yours goes on there: rubato top --gpu ", list);
    return refuse(invocation, error);
  }
  OpenGpus& gpus = **open;
  for (const auto& error : gpus.lost) log::warning(error);
  if (!runtime) log::warning(runtime.error());
  top::Sources sources{.gpus = std::move(gpus.gpus),
                       .backend = std::string(gpus.selection.backend->name()),
                       .clock_rate = 1.0 / gpus.selection.backend->clock()->wall(Seconds(1)).value(),
                       .runtime_folder = runtime ? *runtime : std::filesystem::path(),
                       .interval = Seconds(options.interval),
                       .daemon = [list = invocation.gpu]() -> std::optional<wire::StatusReply> {
                         auto greeted = greet_manager(list);
                         if (!greeted || !*greeted) return std::nullopt;
                         return std::move((*greeted)->status);
                       }};
  if (!options.once) return live(invocation, std::move(sources));
  const bool answered =
      conduct::finishes([&invocation, shared = std::make_shared<top::Sources>(std::move(sources))] {
        once(invocation, std::move(*shared));
      });
  if (!answered) conduct::leave_now(refuse(invocation, conduct::stands_still(), 1));
  return 0;
}

}  // namespace

void add_top(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("top", "GPUs, runs and processes as they are now");
  static Options options;
  add_common(*command, invocation);
  command->add_option("--interval", options.interval, "seconds between two readings")
      ->type_name("S")
      ->check(CLI::Range(kShortestInterval, kLongestInterval))
      ->check(no_nan())
      ->capture_default_str();
  command->add_flag("--once", options.once, "one reading as text, or as JSON with --json");
  command->callback([&invocation] { show_top(invocation, options); });
}

}  // namespace rubato::cli
