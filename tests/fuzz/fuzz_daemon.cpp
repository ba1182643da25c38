#include <array>
#include <deque>
#include <utility>

#include "daemon/core.h"
#include "fuzz/target.h"

// Two users send rubatod whatever they like, in any order; each record is a byte that says what happens, and
// a datagram up to the next 0xff.
namespace {

using namespace rubato;
using namespace rubato::daemon;
using fuzz::require;

constexpr Watts kLowest{150};

/// Answers at once and keeps count: nothing is set outside a lease, nor outside the rules.
class Gpu final : public Owner {
 public:
  explicit Gpu(GpuId id) : id_(std::move(id)) {}
  void post(Ticket ticket, Task task) override { tasks_.emplace_back(ticket, std::move(task)); }
  [[nodiscard]] std::uint64_t calls() const override { return 0; }
  [[nodiscard]] bool held() const { return held_; }

  bool run_one(Core& core, TimePoint now) {
    if (tasks_.empty()) return false;
    auto [ticket, task] = std::move(tasks_.front());
    tasks_.pop_front();
    core.answered(ticket, answer(task), now);
    return true;
  }

 private:
  Outcome answer(const Task& task) {
    const PowerLimits limits{Watts(100), Watts(250), Watts(250), Watts(200), Watts(200)};
    if (std::holds_alternative<Prepare>(task)) return Prepared{limits, {}};
    if (const auto* take = std::get_if<Take>(&task)) {
      require(!held_ && take->caller.uid == 1);
      held_ = true;
      return wire::Found{id_, limits, {}};
    }
    if (const auto* set = std::get_if<Set>(&task)) {
      require(held_ && (!set->setting.power_limit || *set->setting.power_limit >= kLowest));
      return wire::Applied{id_, set->setting.power_limit, {}};
    }
    if (std::holds_alternative<Look>(task)) return Seen{limits, {}};
    if (std::holds_alternative<End>(task)) held_ = false;
    require(held_ || std::holds_alternative<End>(task));
    return RestorationReport{id_, Restoration::restored, {}};
  }

  GpuId id_;
  std::deque<std::pair<Ticket, Task>> tasks_;
  bool held_ = false;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Gpu first({"GPU-1"});
  Gpu second({"GPU-2"});
  TimePoint now{1'000'000'000};
  Rules rules;
  rules.mode = Mode::manage;
  rules.rules = {Rule{.name = "user 1", .users = {1}, .min_power_limit = kLowest}};
  Core core({.server = "rubatod",
             .pid = 1,
             .gpus = {{{.id = {"GPU-1"}, .name = "A"}, &first}, {{.id = {"GPU-2"}, .name = "A"}, &second}},
             .rules = rules,
             .audit = [](const AuditEntry& entry) { require(print_entry(entry, "now").ends_with('}')); }},
            now);
  const auto settle = [&] {
    while (first.run_one(core, now) || second.run_one(core, now)) {
    }
    for (const Outgoing& message : core.take_outgoing()) {
      require(message.datagram.size() <= wire::kLargestMessage);
      if (message.close) core.disconnected(message.to, now);
    }
  };
  for (const ConnectionId id : {1U, 2U})
    core.connected(id, Caller{.uid = static_cast<uid_t>(id), .began = 1}, now);
  settle();
  std::string_view rest = fuzz::text_of(data, size);
  while (!rest.empty()) {
    const auto what = static_cast<unsigned char>(rest.front());
    const std::size_t end = rest.find('\xff');
    const std::string_view datagram = rest.substr(1, end == std::string_view::npos ? end : end - 1);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const ConnectionId id = 1 + (what & 1U);
    core.received(id, datagram, now);
    if ((what & 2U) != 0) settle();
    if ((what & 4U) != 0) now = now + Seconds(2);
    if ((what & 8U) != 0) core.step({}, now);
    if ((what & 16U) != 0) {
      core.disconnected(id, now);
      core.connected(id, Caller{.uid = static_cast<uid_t>(id), .began = 1}, now);
    }
    if ((what & 32U) != 0) core.step({true, {}}, now);
  }
  for (const ConnectionId id : {1U, 2U}) core.disconnected(id, now);
  settle();
  require(core.idle() && !first.held() && !second.held());
  return 0;
}
