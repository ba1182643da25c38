#include "exporter/daemon_watch.h"

#include <array>
#include <chrono>
#include <csignal>

#include "wire/connect.h"

namespace rubato::exporter {
namespace {

constexpr std::chrono::seconds kPeriod{10};
/// Those by which GPUs are set and put back.
constexpr std::array kRequests = {"acquire", "apply", "restore", "release"};

std::vector<wire::Timed> ask_all(const std::filesystem::path& socket) {
  auto greeted = wire::greet_daemon(socket, "rubato-exporter");
  if (!greeted) return {};
  std::vector<wire::Timed> all;
  for (const char* request : kRequests) {
    auto timed = wire::times_of(*greeted, request);
    if (!timed) return {};  // one of before there were times
    if (!timed->parts.empty()) all.push_back(std::move(*timed));
  }
  return all;
}

}  // namespace

DaemonWatch::~DaemonWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void DaemonWatch::ask() {
  auto all = ask_all(socket_);
  const std::lock_guard lock(mutex_);
  times_ = std::move(all);
}

void DaemonWatch::start() {
  // Signals are for the thread that steps.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_ = std::thread([this] { loop(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::vector<wire::Timed> DaemonWatch::times() {
  const std::lock_guard lock(mutex_);
  return times_;
}

void DaemonWatch::loop() {
  for (;;) {
    ask();
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, kPeriod, [this] { return over_; })) return;
  }
}

}  // namespace rubato::exporter
