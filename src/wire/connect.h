// The way to rubatod: its socket, and the first words.
#pragma once

#include <sys/un.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "wire/channel.h"
#include "wire/message.h"

namespace rubato::wire {

/// Of real GPUs. A daemon of simulated ones has its socket in the runtime folder of its user.
inline constexpr const char* kSystemSocket = "/run/rubato/rubatod.sock";
inline constexpr const char* kSocketName = "rubatod.sock";
inline constexpr std::string_view kObserve = "observe";

struct Greeted {
  std::unique_ptr<SocketChannel> channel;
  Welcome welcome;
  StatusReply status;
};

/// not_found: nothing listens there; no_permission: its listener is neither root's nor this user's, so it is
/// told nothing; timeout: it does not answer.
[[nodiscard]] Result<Greeted> greet_daemon(const std::filesystem::path& socket, const std::string& client);

/// Of the scheduler's prolog and epilog: waits until every GPU is clear. Errors: no_permission for others
/// than root; timeout where rubatod or a driver hangs.
[[nodiscard]] Result<Cleared> tell_of_job(Greeted& daemon, Body begin_or_end);

/// Where the time of these requests ("apply") goes. invalid_argument: none is kept of them.
[[nodiscard]] Result<Timed> times_of(Greeted& daemon, const std::string& request);

/// For bind() and connect(). invalid_argument where the path is too long.
[[nodiscard]] Result<sockaddr_un> socket_address(const std::filesystem::path& path);

}  // namespace rubato::wire
