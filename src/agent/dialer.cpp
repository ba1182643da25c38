#include "agent/dialer.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"

namespace rubato::agent {
namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 18U;
constexpr Seconds kWhileOpen{3600};

void watch(int epoll, int operation, int fd, bool writing) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (writing) event.events |= EPOLLOUT;
  epoll_ctl(epoll, operation, fd, &event);
}

}  // namespace

Result<Dialer> Dialer::create(const Secret& secret, Where where, const DialerOptions& options,
                              TimePoint now) {
  if (const Status able = can_seal(); !able) return fail(able.error());
  Dialer dialer(secret, std::move(where), options, now);
  dialer.epoll_ = ScopedFd(epoll_create1(EPOLL_CLOEXEC));
  if (!dialer.epoll_.is_open()) return fail(from_errno(errno, "cannot watch the connection to rank 0"));
  return dialer;
}

void Dialer::dial(TimePoint now) {
  if (round_.empty()) {
    round_ = where_();
    if (round_.empty()) {
      const Error unknown{ErrorCode::not_found, "it is not known yet where rank 0's agent listens",
                          "does rank 0 run under rubato too?"};
      return fail_with(trouble_.value_or(unknown), now);
    }
  }
  const Address address = round_.front();
  round_.erase(round_.begin());
  trying_ = address.text;
  auto socket = begin_connect(address);
  if (!socket) return fail_with(socket.error(), now);
  socket_ = std::move(*socket);
  stream_.emplace(SealedStream::Side::member, secret_, fresh_nonce());
  told_open_ = false;
  out_ = stream_->take_output();
  writing_ = true;
  watch(epoll_.get(), EPOLL_CTL_ADD, socket_.get(), true);
  due_ = now + options_.attempt;
}

void Dialer::fail_with(const Error& why, TimePoint now) {
  trouble_ = why;
  socket_.reset();
  stream_.reset();
  out_.clear();
  if (!round_.empty()) {
    due_ = now;
    return;
  }
  due_ = now + wait_;
  wait_ = std::min(wait_ * 2.0, options_.longest_wait);
}

void Dialer::flush() {
  out_ += stream_->take_output();
  // Where it fails, reading fails too, and says so.
  static_cast<void>(write_some(socket_.get(), out_));
  const bool writing = !out_.empty();
  if (writing != writing_) watch(epoll_.get(), EPOLL_CTL_MOD, socket_.get(), writing);
  writing_ = writing;
}

Dialer::News Dialer::poll(TimePoint now) {
  News news;
  if (given_up_) return news;
  if (!stream_) {
    if (now >= due_) dial(now);
    return news;
  }
  flush();
  std::string bytes;
  const bool alive = read_some(socket_.get(), bytes, kMostAtOnce);
  auto messages = stream_->receive(bytes);
  const bool was_open = told_open_;
  if (messages) {
    news.messages = std::move(*messages);
    if (stream_->open() && !told_open_) {
      news.opened = told_open_ = true;
      wait_ = options_.first_wait;
      round_.clear();
      due_ = now + kWhileOpen;
    }
    flush();
  }
  std::optional<Error> broken;
  if (!messages) {
    broken = messages.error();
  } else if (!alive) {
    broken = was_open || news.opened
                 ? Error{ErrorCode::unavailable, "the connection to rank 0's agent has ended", {}}
                 : Error{ErrorCode::unavailable, cat("rank 0's agent does not answer at ", trying_),
                         "does rank 0 run under rubato too, and with the same key?"};
  } else if (!told_open_ && now >= due_) {
    broken = Error{ErrorCode::timeout, cat("rank 0's agent does not answer at ", trying_),
                   "is there a firewall between the nodes?"};
  }
  if (broken) {
    const bool known = told_open_;
    fail_with(*broken, now);
    if (known) news.lost = broken;
  } else if (told_open_) {
    due_ = now + kWhileOpen;
  }
  return news;
}

void Dialer::send(std::string_view message) {
  if (!stream_) return;
  stream_->send(message);
  flush();
}

void Dialer::hang_up(TimePoint now) {
  fail_with({ErrorCode::timeout, "rank 0's agent was silent for too long", {}}, now);
}

void Dialer::give_up() {
  given_up_ = true;
  socket_.reset();
  stream_.reset();
  out_.clear();
}

}  // namespace rubato::agent
