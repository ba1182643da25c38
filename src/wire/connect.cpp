#include "wire/connect.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "wire/lease_client.h"
#include "wire/peer.h"

namespace rubato::wire {
namespace {

/// The first number that a request behind hello and status may have.
constexpr std::uint64_t kAfterTheGreeting = 3;

/// The reply to one request; signs of life are passed over.
template <class Reply>
Result<Reply> ask(Channel& channel, std::uint64_t sequence, Body request) {
  if (const Status sent = channel.send(encode({sequence, std::move(request)})); !sent)
    return fail(sent.error());
  for (;;) {
    const auto datagram = channel.receive(kReplyPatience);
    if (!datagram && datagram.error().code == ErrorCode::timeout)
      return fail(ErrorCode::timeout, cat("rubatod has not answered for ", kReplyPatience),
                  "systemctl status rubatod; journalctl -u rubatod");
    if (!datagram) return fail(datagram.error());
    auto message = decode(*datagram);
    if (!message) return fail(message.error());
    if (std::holds_alternative<Heartbeat>(message->body)) continue;
    if (auto* refused = std::get_if<Refused>(&message->body)) return fail(std::move(refused->error));
    if (auto* reply = std::get_if<Reply>(&message->body)) return std::move(*reply);
    return fail(ErrorCode::corrupt, "rubatod answered something that was not asked");
  }
}

Result<ScopedFd> connect_to(const std::filesystem::path& path) {
  const auto address = socket_address(path);
  if (!address) return fail(address.error());
  ScopedFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return fail(from_errno(errno, "cannot make a socket"));
  // Where more wait to be let in than the listener's queue holds.
  const timeval patience{.tv_sec = 4, .tv_usec = 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) {
    // The system folder can be searched by everybody where a rubatod is meant for them.
    const bool hidden = errno == EACCES && path == kSystemSocket;
    if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR || hidden)
      return fail(ErrorCode::not_found, cat("no rubatod listens at ", path.string()));
    if (errno == EAGAIN)
      return fail(ErrorCode::timeout, cat("rubatod lets nobody in at ", path.string()),
                  "systemctl status rubatod; journalctl -u rubatod");
    return fail(from_errno(errno, cat("cannot connect to ", path.string())));
  }
  return socket;
}

}  // namespace

Result<sockaddr_un> socket_address(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof(address.sun_path))
    return fail(ErrorCode::invalid_argument,
                cat("the socket's path ", text, " has ", text.size(), " bytes; at most ",
                    sizeof(address.sun_path) - 1, " are possible"),
                "choose a shorter one");
  std::copy(text.begin(), text.end(), address.sun_path);
  return address;
}

Result<Greeted> greet_daemon(const std::filesystem::path& socket, const std::string& client) {
  auto connected = connect_to(socket);
  if (!connected) return fail(connected.error());
  const auto peer = peer_of(connected->get());
  if (!peer) return fail(peer.error());
  if (peer->uid != 0 && peer->uid != ::geteuid())
    return fail(ErrorCode::no_permission,
                cat("what listens at ", socket.string(), " belongs to user ", peer->uid,
                    ", neither root nor this user, and is told nothing"),
                "look at who put it there");
  Greeted greeted{std::make_unique<SocketChannel>(std::move(*connected)), {}, {}};
  auto welcome = ask<Welcome>(*greeted.channel, 1, Hello{client, {}});
  if (!welcome) return fail(welcome.error());
  greeted.welcome = std::move(*welcome);
  auto status = ask<StatusReply>(*greeted.channel, 2, StatusRequest{});
  if (!status) return fail(status.error());
  greeted.status = std::move(*status);
  return greeted;
}

Result<Timed> times_of(Greeted& daemon, const std::string& request) {
  return ask<Timed>(*daemon.channel, kAfterTheGreeting, TimesRequest{request});
}

Result<Cleared> tell_of_job(Greeted& daemon, Body begin_or_end) {
  return ask<Cleared>(*daemon.channel, kAfterTheGreeting, std::move(begin_or_end));
}

}  // namespace rubato::wire
