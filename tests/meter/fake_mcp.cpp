#include "meter/fake_mcp.h"

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <numeric>

namespace rubato::meter::testing {
namespace {

std::uint8_t sum_of(const std::vector<std::uint8_t>& bytes) {
  return static_cast<std::uint8_t>(std::accumulate(bytes.begin(), bytes.end(), 0U) % 256U);
}

}  // namespace

FakeMcp::FakeMcp() {
  master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (::grantpt(master_.get()) != 0 || ::unlockpt(master_.get()) != 0) std::abort();
  std::array<char, 128> name{};
  if (::ptsname_r(master_.get(), name.data(), name.size()) != 0) std::abort();
  device_ = name.data();
  slave_.reset(::open(device_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios raw{};
  ::tcgetattr(slave_.get(), &raw);
  ::cfmakeraw(&raw);
  ::tcsetattr(slave_.get(), TCSANOW, &raw);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  stop_read_.reset(ends[0]);
  stop_write_.reset(ends[1]);
  thread_ = std::thread([this] { serve(); });
}

FakeMcp::~FakeMcp() {
  stop_write_.reset();
  thread_.join();
}

void FakeMcp::set(std::uint16_t address, std::uint64_t value, std::size_t bytes) {
  const std::lock_guard lock(guard_);
  for (std::size_t i = 0; i < bytes; ++i)
    registers_[static_cast<std::uint16_t>(address + i)] = static_cast<std::uint8_t>(value >> (8 * i));
}

void FakeMcp::serve() {
  std::vector<std::uint8_t> pending;
  for (;;) {
    std::array<pollfd, 2> wait{pollfd{master_.get(), POLLIN, 0}, pollfd{stop_read_.get(), POLLIN, 0}};
    if (::poll(wait.data(), wait.size(), -1) < 0) continue;
    if (wait[1].revents != 0) return;
    std::array<std::uint8_t, 64> buffer{};
    const ssize_t got = ::read(master_.get(), buffer.data(), buffer.size());
    if (got <= 0) return;
    pending.insert(pending.end(), buffer.begin(), buffer.begin() + got);
    while (pending.size() >= 2 && pending.size() >= pending[1]) {
      const std::vector<std::uint8_t> request(pending.begin(), pending.begin() + pending[1]);
      pending.erase(pending.begin(), pending.begin() + pending[1]);
      reply_to(request);
    }
  }
}

void FakeMcp::reply_to(const std::vector<std::uint8_t>& request) {
  ++requests_;
  const std::vector<std::uint8_t> body(request.begin(), request.end() - 1);
  const bool damaged = request[0] != 0xa5 || sum_of(body) != request.back();
  if (damaged || request.size() != 8 || request[2] != 0x41 || request[5] != 0x4e) {
    ++refused_;
    return send({static_cast<std::uint8_t>(damaged ? 0x51 : 0x15)});
  }
  const auto address = static_cast<std::uint16_t>(request[3] << 8 | request[4]);
  std::vector<std::uint8_t> reply{0x06, static_cast<std::uint8_t>(request[6] + 3)};
  {
    const std::lock_guard lock(guard_);
    for (std::uint16_t i = 0; i < request[6]; ++i)
      reply.push_back(registers_[static_cast<std::uint16_t>(address + i)]);
  }
  reply.push_back(sum_of(reply));
  Answering how = how_;
  if (how == Answering::wrong_checksum_once) {
    how_ = Answering::well;
    how = Answering::wrong_checksum;
  }
  if (how == Answering::silently) return;
  if (how == Answering::refusing) return send({0x15});
  if (how == Answering::garbage) return send(std::vector<std::uint8_t>(19, 0xfe));
  if (how == Answering::half) reply.resize(reply.size() / 2);
  if (how == Answering::wrong_checksum) reply.back() = static_cast<std::uint8_t>(reply.back() + 1);
  if (how == Answering::after_garbage) {
    const std::vector<std::uint8_t> noise{0x00, 0x06, 0xff, 0x15, 0x06};
    reply.insert(reply.begin(), noise.begin(), noise.end());
  }
  if (how != Answering::slowly) return send(reply);
  for (const std::uint8_t byte : reply) {
    send({byte});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void FakeMcp::send(const std::vector<std::uint8_t>& bytes) {
  [[maybe_unused]] const ssize_t sent = ::write(master_.get(), bytes.data(), bytes.size());
}

}  // namespace rubato::meter::testing
