#include "guard/launch.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "guard/launch_sudo.h"
#include "guard/spawn.h"
#include "wire/lease_client.h"

namespace rubato::guard {
namespace {

enum class Task { serve, restore };

struct Greeted {
  std::unique_ptr<wire::SocketChannel> channel;
  wire::Body answer;  // Welcome, or what the task returns, or the guard's own refusal
  bool own_scope = false;
};

Result<std::vector<std::string>> command_of(const LaunchOptions& options, Task task) {
  std::string program = options.program;
  if (program.empty()) {
    // Resolved here: /proc/self would be systemd-run or sudo in theirs.
    std::error_code error;
    program = std::filesystem::read_symlink("/proc/self/exe", error).string();
    if (error) return fail(ErrorCode::io, "cannot find this program's own file: " + error.message());
  }
  std::vector<std::string> command = {program, "guard", "--backend", options.backend_spec};
  if (task == Task::restore) command.emplace_back("--restore");
  if (task == Task::serve && options.successor) command.emplace_back("--successor");
  return command;
}

/// The first word that is not a sign of life.
Result<wire::Message> first_answer(wire::SocketChannel& channel) {
  for (;;) {
    const auto datagram = channel.receive(wire::kReplyPatience);
    if (!datagram && datagram.error().code == ErrorCode::timeout)
      return fail(ErrorCode::timeout, cat("the driver has not answered the guard for ", wire::kReplyPatience),
                  "look at dmesg and nvidia-smi; persistence mode shortens the driver's start");
    if (!datagram) return fail(datagram.error());
    auto message = wire::decode(*datagram);
    if (!message || !std::holds_alternative<wire::Heartbeat>(message->body)) return message;
  }
}

Result<Greeted> greet(ScopedFd socket, std::string token) {
  auto channel = std::make_unique<wire::SocketChannel>(std::move(socket));
  const Status sent = channel->send(wire::encode({0, wire::Hello{"rubato", std::move(token)}}));
  if (!sent) return fail(sent.error());
  auto message = first_answer(*channel);
  if (!message) return fail(message.error());
  return Greeted{std::move(channel), std::move(message->body)};
}

Result<Greeted> start_child(std::vector<std::string> command) {
  auto ends = wire::socket_pair();
  if (!ends) return fail(ends.error());
  const int inherited = ends->second.get();
  command.insert(command.end(), {"--socket-fd", std::to_string(inherited)});
  const auto child = spawn({.command = std::move(command), .keep_fd = inherited});
  if (!child) return fail(child.error());
  // Only the guard holds its end now, so its death is heard here.
  ends->second.reset();
  auto greeted = greet(std::move(ends->first), {});
  if (!greeted && greeted.error().code == ErrorCode::unavailable) {
    return fail(ErrorCode::unavailable, cat("the guard ended before it answered: ", wait_in_words(*child)));
  }
  return greeted;
}

Result<Greeted> start_in_scope(const std::vector<std::string>& command) {
  std::vector<std::string> scoped = {"systemd-run", "--scope", "--collect", "--quiet"};
  if (::geteuid() != 0) scoped.emplace_back("--user");
  scoped.emplace_back("--");
  scoped.insert(scoped.end(), command.begin(), command.end());
  auto greeted = start_child(std::move(scoped));
  if (greeted) greeted->own_scope = true;
  return greeted;
}

Result<Greeted> start(const LaunchOptions& options, Task task) {
  const auto command = command_of(options, task);
  if (!command) return fail(command.error());
  if (options.sudo_folder) {
    auto link = start_through_sudo(options.sudo, *command, *options.sudo_folder);
    if (!link) return fail(link.error());
    return greet(std::move(link->socket), std::move(link->token));
  }
  if (options.own_scope && options.root.exists("/run/systemd/system")) {
    auto scoped = start_in_scope(*command);
    // Anything else comes from a guard that runs, so the scope itself works.
    if (scoped || scoped.error().code != ErrorCode::unavailable) return scoped;
  }
  return start_child(*command);
}

template <class Answer>
Result<Answer> expect(wire::Body answer) {
  if (auto* wanted = std::get_if<Answer>(&answer)) return std::move(*wanted);
  if (auto* refused = std::get_if<wire::Refused>(&answer)) return fail(std::move(refused->error));
  return fail(ErrorCode::corrupt, "the guard answered its greeting with something else");
}

}  // namespace

Result<LaunchedGuard> launch_guard(const LaunchOptions& options) {
  auto greeted = start(options, Task::serve);
  if (!greeted) return fail(greeted.error());
  const auto welcome = expect<wire::Welcome>(std::move(greeted->answer));
  if (!welcome) return fail(welcome.error());
  return LaunchedGuard{std::move(greeted->channel), welcome->guard_pid, greeted->own_scope};
}

Result<std::vector<RestorationReport>> launch_restore(const LaunchOptions& options) {
  auto greeted = start(options, Task::restore);
  if (!greeted) return fail(greeted.error());
  auto restored = expect<wire::Restored>(std::move(greeted->answer));
  if (!restored) return fail(restored.error());
  return std::move(restored->reports);
}

}  // namespace rubato::guard
