#include "guard/guard.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "wire/lease_client.h"

namespace rubato::guard {

Status check_request(const wire::Acquire& request) {
  if (request.gpus.empty()) return fail(ErrorCode::invalid_argument, "a lease needs at least one GPU");
  std::vector<GpuId> sorted = request.gpus;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    return fail(ErrorCode::invalid_argument, twice->uuid + " is asked for twice");
  }
  for (const GpuId& gpu : sorted) {
    if (Status name = check_file_name(gpu.uuid); !name) return name;
  }
  std::vector<Knob> knobs = request.knobs;
  std::sort(knobs.begin(), knobs.end());
  if (std::adjacent_find(knobs.begin(), knobs.end()) != knobs.end()) {
    return fail(ErrorCode::invalid_argument, "a knob is asked for twice");
  }
  if (const auto& range = request.found_sm_clock;
      range && !(range->min.value() > 0 && range->min <= range->max)) {
    return fail(ErrorCode::invalid_argument,
                cat("the found SM clock lock ", range->min, " to ", range->max, " is no range"),
                "write --found-sm-clock MIN:MAX in MHz");
  }
  return {};
}

std::string Guard::handle(std::string_view datagram, TimePoint now) {
  last_heard_ = std::max(last_heard_, now);
  const auto message = wire::decode(datagram);
  if (!message) return wire::encode({0, wire::Refused{message.error()}});
  if (std::holds_alternative<wire::Heartbeat>(message->body)) return {};
  auto reply = answer(message->body);
  // A slow driver call is not the client's silence.
  last_heard_ = std::max(last_heard_, options_.clock->now());
  if (!reply) return wire::encode({message->sequence, wire::Refused{std::move(reply.error())}});
  return wire::encode({message->sequence, std::move(*reply)});
}

Result<wire::Body> Guard::answer(const wire::Body& request) {
  if (const auto* hello = std::get_if<wire::Hello>(&request)) return greet(*hello);
  if (!options_.token.empty() && !greeted_) {
    return fail(ErrorCode::no_permission, "this guard needs a Hello with its token first");
  }
  if (const auto* r = std::get_if<wire::Acquire>(&request)) return acquire(*r);
  if (const auto* r = std::get_if<wire::Apply>(&request)) return apply(*r);
  if (const auto* r = std::get_if<wire::Restore>(&request)) return restore_one(*r);
  if (std::holds_alternative<wire::Release>(request)) return release();
  if (std::holds_alternative<wire::StatusRequest>(request))
    return fail(ErrorCode::not_supported, "the guard of one run manages nothing", "ask rubatod");
  return fail(ErrorCode::invalid_argument, "a guard was sent a reply instead of a request");
}

Result<wire::Body> Guard::greet(const wire::Hello& hello) {
  if (!greeted_ && hello.token != options_.token) {
    return fail(ErrorCode::no_permission, "the token is not the one this guard was started with");
  }
  greeted_ = true;
  return wire::Welcome{::getpid()};
}

Result<wire::Body> Guard::acquire(const wire::Acquire& request) {
  if (holds_lease()) return fail(ErrorCode::busy, "this guard holds a lease already", "release it first");
  if (const Status fine = check_request(request); !fine) return fail(fine.error());
  const auto era = present_era(options_.root, options_.driver_version);
  if (!era) return fail(era.error());
  const auto folder = Folder::make(options_.folder, options_.folder_mode, options_.files);
  if (!folder) return fail(folder.error());

  // One order everywhere, so that two guards never hold half of each other's GPUs.
  std::vector<GpuId> gpus = request.gpus;
  std::sort(gpus.begin(), gpus.end());
  std::vector<Ownership> owned;
  for (const GpuId& gpu : gpus) {
    auto ownership = Ownership::take(*folder, gpu);
    if (!ownership) return fail(ownership.error());
    owned.push_back(std::move(*ownership));
  }
  std::vector<HeldGpu> taken;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    auto opened = options_.open(gpus[i]);
    auto gpu = !opened ? Result<HeldGpu>(fail(opened.error()))
                       : HeldGpu::take(*folder, gpus[i], std::make_shared<Ownership>(std::move(owned[i])),
                                       std::make_shared<OpenedGpu>(std::move(*opened)),
                                       Terms{request.knobs, request.found_sm_clock}, *era);
    if (!gpu) {
      for (HeldGpu& other : taken) (void)other.end();
      return fail(gpu.error());
    }
    taken.push_back(std::move(*gpu));
  }
  held_ = std::move(taken);
  ended_.reset();
  ended_with_.clear();
  wire::Granted granted;
  for (const GpuId& gpu : request.gpus) granted.found.push_back((*held(gpu))->found());
  return granted;
}

Status Guard::in_lease() const {
  if (holds_lease()) return {};
  if (ended_) return fail(*ended_);
  return fail(ErrorCode::invalid_argument, "there is no lease", "acquire GPUs first");
}

Result<HeldGpu*> Guard::held(const GpuId& gpu) {
  if (const Status lease = in_lease(); !lease) return fail(lease.error());
  for (HeldGpu& candidate : held_) {
    if (candidate.id() == gpu) return &candidate;
  }
  return fail(ErrorCode::invalid_argument, gpu.uuid + " is not part of this lease");
}

Result<wire::Body> Guard::apply(const wire::Apply& request) {
  const auto gpu = held(request.gpu);
  if (!gpu) return fail(gpu.error());
  auto applied = (*gpu)->apply(request.setting, *options_.clock);
  if (!applied) return fail(std::move(applied.error()));
  return std::move(*applied);
}

Result<wire::Body> Guard::restore_one(const wire::Restore& request) {
  const auto gpu = held(request.gpu);
  if (!gpu) return fail(gpu.error());
  return wire::Restored{{(*gpu)->back_to_found()}};
}

Result<wire::Body> Guard::release() {
  if (!holds_lease() && ended_) return wire::Restored{ended_with_};
  if (const Status lease = in_lease(); !lease) return fail(lease.error());
  return wire::Restored{end_lease()};
}

std::vector<RestorationReport> Guard::end_lease() noexcept {
  std::vector<RestorationReport> reports;
  for (HeldGpu& gpu : held_) reports.push_back(gpu.end());
  if (options_.pause) try_on(reports);
  held_.clear();
  return reports;
}

/// All of the lease have been tried before one is tried again, so that none waits for another's driver.
void Guard::try_on(std::vector<RestorationReport>& reports) {
  const TimePoint give_up = options_.clock->now() + kRetryPatience;
  const auto failed = [](const RestorationReport& report) { return report.outcome == Restoration::failed; };
  while (std::any_of(reports.begin(), reports.end(), failed) && options_.clock->now() < give_up) {
    options_.pause(kRetryPeriod);
    for (std::size_t i = 0; i < held_.size(); ++i)
      if (failed(reports[i])) reports[i] = held_[i].end();
  }
}

TimePoint Guard::next_due() const {
  if (!holds_lease()) return TimePoint{std::numeric_limits<std::int64_t>::max()};
  return last_heard_ + wire::kLeaseTimeout;
}

void Guard::step(TimePoint now) {
  if (!holds_lease() || now < next_due()) return;
  std::string what = cat("the lease ended after ", wire::kLeaseTimeout, " without a heartbeat");
  ended_with_ = end_lease();
  for (const RestorationReport& report : ended_with_) {
    what += cat("; ", report.gpu.uuid, " ", name_of(report.outcome), report.detail.empty() ? "" : ": ",
                report.detail);
  }
  ended_ = Error{ErrorCode::timeout, std::move(what), "acquire the GPUs again"};
}

std::vector<RestorationReport> Guard::client_gone(TimePoint) noexcept {
  return end_lease();
}

}  // namespace rubato::guard
