#include "daemon/request_times.h"

#include <algorithm>

#include "base/text.h"

namespace rubato::daemon {
namespace {

constexpr std::array<std::string_view, 7> kRequests = {"acquire",   "apply",   "restore", "release",
                                                       "job-begin", "job-end", "status"};
// In the order in which add() counts them.
// In the order of the enumeration below.
constexpr std::array<std::string_view, 8> kPartNames = {"total",  "own",    "work",    "hand-over",
                                                        "behind", "driver", "journal", "queue"};
enum Part : std::size_t { total, own, work, hand_over, behind, driver, journal, queue };

}  // namespace

void Served::add(const Spent& task, TimePoint now) {
  Spent whole = task;
  whole.hand_over += now - task.done;
  const auto waited = [](const Spent& one) { return one.driver + one.journal + one.behind; };
  if (spent.done == TimePoint{} || waited(whole) >= waited(spent)) spent = whole;
}

std::optional<std::size_t> timed_verb(const wire::Body& request) {
  const auto is = [&](std::string_view name) {
    return static_cast<std::size_t>(std::find(kRequests.begin(), kRequests.end(), name) - kRequests.begin());
  };
  if (std::holds_alternative<wire::Acquire>(request)) return is("acquire");
  if (std::holds_alternative<wire::Apply>(request)) return is("apply");
  if (std::holds_alternative<wire::Restore>(request)) return is("restore");
  if (std::holds_alternative<wire::Release>(request)) return is("release");
  if (std::holds_alternative<wire::JobBegin>(request)) return is("job-begin");
  if (std::holds_alternative<wire::JobEnd>(request)) return is("job-end");
  if (std::holds_alternative<wire::StatusRequest>(request)) return is("status");
  return std::nullopt;
}

void RequestTimes::add(const Served& request, TimePoint sent) {
  auto& parts = times_.at(request.verb);
  const Spent& spent = request.spent;
  const Seconds whole = sent - request.begun;
  const Seconds ours = whole - spent.driver - spent.journal - spent.behind;
  parts[Part::total].add(whole);
  parts[Part::own].add(ours);
  parts[Part::work].add(ours - spent.hand_over);
  parts[Part::hand_over].add(spent.hand_over);
  parts[Part::behind].add(spent.behind);
  parts[Part::driver].add(spent.driver);
  parts[Part::journal].add(spent.journal);
  if (request.queued) parts[Part::queue].add(*request.queued);
}

Result<wire::Timed> RequestTimes::of(std::string_view request) const {
  const auto known = std::find(kRequests.begin(), kRequests.end(), request);
  if (known == kRequests.end())
    return fail(ErrorCode::invalid_argument, cat("rubatod keeps no times of '", request, "'"),
                "ask for acquire, apply, restore, release, job-begin, job-end or status");
  wire::Timed answer{std::string(request), {}};
  const auto& parts = times_.at(static_cast<std::size_t>(known - kRequests.begin()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const DurationHistogram& times = parts[i];
    if (times.count() == 0) continue;
    wire::TimedPart part{std::string(kPartNames[i]), times.sum(), times.longest(), {}};
    for (std::size_t bin = 0; bin < DurationHistogram::kBins; ++bin)
      if (times.in(bin) > 0) part.bins.push_back({times.up_to(bin), times.in(bin)});
    answer.parts.push_back(std::move(part));
  }
  return answer;
}

}  // namespace rubato::daemon
