#include "agent/leader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace rubato::agent {
namespace {

// Answers, receipts, and time for a cancel to arrive.
constexpr double kWaits = 1 + kReceiptDue + 0.5;
constexpr std::int64_t kSpareIterations = 2;
constexpr std::size_t kMostMembers = 8192;
constexpr unsigned kMostDoublings = 4;

}  // namespace

std::int64_t lead_iterations(Seconds iteration, const Timing& timing) {
  if (iteration <= Seconds(0)) return kSpareIterations;
  const double waits = kWaits * (std::max(iteration, timing.answer) / iteration);
  return kSpareIterations + static_cast<std::int64_t>(std::ceil(std::min(waits, 1e6)));
}

Leader::Leader(Join own, Timing timing, TimePoint now)
    : timing_(timing), tally_(kOwn), retry_(now), next_pulse_(now + timing.pulse), due_(next_pulse_) {
  covered_ = own.covers;
  seats_[kOwn].join = std::move(own);
  were_all_here_ = everybody_here();
  if (were_all_here_) tally_.expect(1);
}

std::string Leader::name_of_seat(const Seat& seat) const {
  return cat("rank ", seat.join.rank, " on ", seat.join.node.empty() ? "a node" : seat.join.node.c_str());
}

std::string Leader::objection(const Join& join) const {
  const Join& own = seats_.at(kOwn).join;
  if (seats_.size() > kMostMembers) return cat("this job has ", seats_.size(), " agents already");
  if (join.world != own.world)
    return cat("it is of a job of ", join.world, " ranks, and this one has ", own.world);
  if (join.space != own.space)
    return cat("what may be set there (", join.space, ") is not what may be set at rank 0 (", own.space, ")");
  if (join.covers < 1 || join.covers > join.world || join.rank >= join.world)
    return cat("rank ", join.rank, " of ", join.world, " covering ", join.covers, " makes no sense");
  for (const auto& [peer, seat] : seats_) {
    if (seat.join.rank == join.rank) return cat("rank ", join.rank, " is here already, on ", seat.join.node);
    for (const GpuId& gpu : join.gpus)
      if (std::find(seat.join.gpus.begin(), seat.join.gpus.end(), gpu) != seat.join.gpus.end())
        return cat(gpu.uuid, " is counted by ", name_of_seat(seat), " already");
  }
  if (covered_ + join.covers > own.world)
    return cat("with it ", covered_ + join.covers, " ranks would be here of ", own.world);
  return {};
}

// A connection can end for the other side alone. A refusal is for good, so who comes again is taken in, and
// not held against itself.
void Leader::leave_earlier_seat(const Join& join, TimePoint now) {
  const auto own = std::find_if(seats_.begin(), seats_.end(), [&join](const auto& entry) {
    return entry.first != kOwn && entry.second.join.rank == join.rank && entry.second.join.run == join.run;
  });
  if (own == seats_.end()) return;
  const Peer earlier = own->first;
  drop(earlier);
  lost(earlier, now);
}

void Leader::join(Peer from, const Join& join, TimePoint now) {
  if (seats_.contains(from)) return drop(from);
  leave_earlier_seat(join, now);
  if (std::string why = objection(join); !why.empty()) {
    if (refused_.insert(join.rank).second)
      notes_.push_back(cat("rank ", join.rank, " on ", join.node, " does not take part: ", why));
    send(from, Refuse{std::move(why)});
    dropped_.push_back(from);
    return;
  }
  halt(cat("rank ", join.rank, " on ", join.node, " has joined"), now);
  seats_[from].join = join;
  covered_ += join.covers;
  ranks_seen_.insert(join.rank);
  send(from, Welcome{seats_.at(kOwn).join.run});
  if (stage_) send(from, *stage_);
  if (!everybody_here()) return;
  were_all_here_ = true;
  notes_.push_back(cat("all ", join.world, " ranks are here, with ", seats_.size(), " agents"));
  tally_.expect(seats_.size());
}

void Leader::hear(Peer from, const Message& message, TimePoint now) {
  heard_[from] = now;
  if (const auto* asks = std::get_if<Join>(&message)) return join(from, *asks, now);
  const auto seat = seats_.find(from);
  if (seat == seats_.end()) return drop(from);
  if (const auto* stands = std::get_if<Report>(&message)) return report(from, seat->second, *stands);
  if (const auto* answer = std::get_if<Ack>(&message)) return ack(from, *answer, now);
  if (const auto* received = std::get_if<Received>(&message)) {
    if (phase_ == Phase::committed && received->epoch == switch_.epoch) switch_.answered.insert(from);
    return;
  }
  if (const auto* late = std::get_if<Late>(&message)) {
    const std::string why = cat(name_of_seat(seat->second), " was told too late: ", late->why);
    if (phase_ == Phase::committed && late->epoch == switch_.epoch) return cancel(why, now);
    if (late->epoch == agreed_epoch_) halt(why, now);
    return;
  }
  if (const auto* bye = std::get_if<Bye>(&message)) {
    Totals totals = bye->totals;
    totals.rank = seat->second.join.rank;
    totals_[totals.rank] = std::move(totals);
    left_.insert(from);
    halt(cat("the run of ", name_of_seat(seat->second), " has ended"), now);
    return;
  }
  drop(from);  // what only a leader says
}

void Leader::report(Peer from, Seat& seat, const Report& report) {
  if (!report.shift.empty() && shift_.empty()) shift_ = report.shift;
  const auto& own = seats_.at(kOwn).report;
  const bool counted_alike = from == kOwn || (report.by_marks && own && own->by_marks);
  if (counted_alike) {
    seat.shift = 0;
  } else if (!seat.shift && report.tally && own && own->tally) {
    seat.shift = own->tally->work - report.tally->work;
  }
  seat.report = report;
  if (report.tally && seat.shift && everybody_here()) tally_.tell(from, *report.tally, *seat.shift);
}

void Leader::see(const Report& own, Seconds iteration, TimePoint now) {
  if (iteration > Seconds(0)) iteration_ = iteration;
  report(kOwn, seats_.at(kOwn), own);
  if (phase_ == Phase::committed) {
    const bool confirmed = switch_.answered.size() == members();
    if (!confirmed && own.iterations + 1 >= switch_.at) {
      cancel("not everybody has confirmed it before its iteration", now);
    } else if (confirmed && own.iterations >= switch_.at) {
      agreed_ = switch_.setting;
      agreed_epoch_ = switch_.epoch;
      agreed_since_ = now;
      phase_ = Phase::idle;
      failed_in_row_ = 0;
      ++counts_.switches;
    }
  }
  if (const std::string why = why_not(); !why.empty()) return halt(why, now);
  pursue(now);
}

void Leader::want(const JobSetting& setting, TimePoint now) {
  wanted_ = setting;
  pursue(now);
}

void Leader::pursue(TimePoint now) {
  if (phase_ != Phase::idle || wanted_ == agreed_ || now < retry_ || !why_not().empty()) return;
  // Whoever has not yet come to the iteration of the switch before must not be asked about another one.
  if (settled()) propose(now);
}

bool Leader::settled() const {
  return phase_ == Phase::idle && std::all_of(seats_.begin(), seats_.end(), [this](const auto& entry) {
           return entry.second.report && entry.second.report->epoch == agreed_epoch_;
         });
}

void Leader::propose(TimePoint now) {
  const std::int64_t own = seats_.at(kOwn).report->iterations;
  std::int64_t furthest = own;
  for (const auto& [peer, seat] : seats_)
    if (seat.report && seat.report->by_marks) furthest = std::max(furthest, seat.report->iterations);
  switch_ = {.epoch = ++epochs_,
             .at = furthest + lead_iterations(iteration_, timing_),
             .setting = wanted_,
             .deadline = now + patience(),
             .answered = {}};
  phase_ = Phase::proposed;
  const auto proposal = [&](Peer peer) {
    return Propose{switch_.epoch, switch_.at, own, patience(), switch_.setting.of(peer)};
  };
  if (switch_.setting.lower.empty())
    send(std::nullopt, proposal(kOwn));
  else
    for (const auto& [peer, seat] : seats_)
      if (peer != kOwn) send(peer, proposal(peer));
  if (members() == 0) commit(now);
  rest(now);
}

void Leader::ack(Peer from, const Ack& ack, TimePoint now) {
  if (phase_ != Phase::proposed || ack.epoch != switch_.epoch) return;
  if (!ack.yes) return cancel(cat(name_of_seat(seats_.at(from)), " cannot: ", ack.why_not), now);
  switch_.answered.insert(from);
  if (switch_.answered.size() == members()) commit(now);
}

void Leader::commit(TimePoint now) {
  phase_ = Phase::committed;
  switch_.answered.clear();
  switch_.deadline = now + patience() * kReceiptDue;
  send(std::nullopt, Commit{switch_.epoch});
  rest(now);
}

std::string Leader::missing() const {
  std::string first;
  std::size_t others = 0;
  for (const auto& [peer, seat] : seats_) {
    if (peer == kOwn || switch_.answered.contains(peer)) continue;
    if (first.empty())
      first = name_of_seat(seat);
    else
      ++others;
  }
  return others == 0 ? first : cat(first, " and ", others, " more");
}

void Leader::cancel(const std::string& why, TimePoint now) {
  send(std::nullopt, Cancel{switch_.epoch, why});
  notes_.push_back(cat("no switch: ", why));
  phase_ = Phase::idle;
  retry_ = now + timing_.retry * static_cast<double>(1U << std::min(failed_in_row_, kMostDoublings));
  ++counts_.cancelled;
  ++failed_in_row_;
  // What is held meanwhile is what was to be left, perhaps for being too slow. The found setting needs
  // nobody's consent.
  if (switch_.setting.base.empty())
    halt("going there at one iteration was not agreed on", now);
  else if (failed_in_row_ >= kMostCancelled)
    halt(cat("nothing was agreed on ", kMostCancelled, " times"), now);
}

void Leader::halt(const std::string& why, TimePoint now) {
  wanted_ = {};
  if (phase_ == Phase::idle && agreed_.base.empty()) return;
  retry_ = std::max(retry_, now + timing_.retry);
  send(std::nullopt, Halt{why});
  notes_.push_back(cat("everybody back to the found setting: ", why));
  phase_ = Phase::idle;
  agreed_ = {};
  agreed_epoch_ = 0;
  ++counts_.halts;
}

void Leader::end(TimePoint now) {
  ended_ = true;
  halt("the run of rank 0 has ended", now);
}

void Leader::drop(Peer peer) {
  if (peer != kOwn) dropped_.push_back(peer);
}

void Leader::lost(Peer peer, TimePoint now) {
  heard_.erase(peer);
  const auto seat = seats_.find(peer);
  if (peer == kOwn || seat == seats_.end()) return;
  const std::string who = name_of_seat(seat->second);
  covered_ -= seat->second.join.covers;
  seats_.erase(seat);
  switch_.answered.erase(peer);
  tally_.expect(0);
  if (left_.erase(peer) > 0) return halt(cat("the run of ", who, " has ended"), now);
  ++counts_.lost;
  notes_.push_back(cat(who, " is lost"));
  halt(cat(who, " is lost"), now);
}

void Leader::step(TimePoint now) {
  if (phase_ != Phase::idle && now >= switch_.deadline && switch_.answered.size() < members())
    cancel(cat(phase_ == Phase::proposed ? "no answer from " : "no receipt from ", missing(), " within ",
               patience() * (phase_ == Phase::proposed ? 1.0 : kReceiptDue)),
           now);
  std::vector<Peer> silent;
  for (const auto& [peer, at] : heard_)
    if (now - at >= timing_.silence) silent.push_back(peer);
  for (const Peer peer : silent) {
    drop(peer);
    lost(peer, now);
  }
  if (agreed_epoch_ != 0 && phase_ == Phase::idle && now - agreed_since_ >= timing_.silence) {
    for (const auto& [peer, seat] : seats_)
      if (seat.report && seat.report->epoch != agreed_epoch_) {
        halt(cat(name_of_seat(seat), " has not switched"), now);
        break;
      }
  }
  if (now >= next_pulse_) {
    next_pulse_ = now + timing_.pulse;
    const auto& own = seats_.at(kOwn).report;
    if (members() > 0) send(std::nullopt, Pulse{own ? own->iterations : 0});
  }
  rest(now);
}

void Leader::rest(TimePoint now) {
  due_ = next_pulse_;
  if (phase_ != Phase::idle && switch_.deadline > now) due_ = std::min(due_, switch_.deadline);
}

void Leader::stage(BlockRole role, const std::string& why) {
  if (stage_ && stage_->role == role) return;
  stage_ = Stage{role, why};
  send(std::nullopt, *stage_);
}

std::optional<std::int64_t> Leader::switches_at() const {
  if (phase_ == Phase::idle) return std::nullopt;
  return switch_.at;
}

std::string Leader::why_not() const {
  if (ended_) return "the run of rank 0 has ended";
  if (!everybody_here())
    return cat(covered_, " of ", seats_.at(kOwn).join.world, " ranks have told of themselves");
  for (const auto& [peer, seat] : seats_) {
    if (left_.contains(peer)) return cat("the run of ", name_of_seat(seat), " has ended");
    if (!seat.report) return cat(name_of_seat(seat), " has not told how it stands");
    if (!seat.report->may_set)
      return cat(name_of_seat(seat), ": ",
                 seat.report->why_not.empty() ? "nothing may be set there" : seat.report->why_not.c_str());
  }
  return {};
}

bool Leader::under_load() const {
  return std::all_of(seats_.begin(), seats_.end(), [](const auto& entry) {
    return entry.second.report && entry.second.report->under_load;
  });
}

bool Leader::tuning() const {
  return std::any_of(seats_.begin(), seats_.end(),
                     [](const auto& entry) { return entry.second.report && entry.second.report->tuning; });
}

std::optional<std::string> Leader::take_shift() {
  if (shift_.empty()) return std::nullopt;
  return std::exchange(shift_, {});
}

std::vector<Outgoing> Leader::take() {
  return std::exchange(out_, {});
}
std::vector<Peer> Leader::take_dropped() {
  return std::exchange(dropped_, {});
}
std::vector<std::string> Leader::take_notes() {
  return std::exchange(notes_, {});
}

std::vector<Totals> Leader::totals() const {
  std::vector<Totals> out;
  for (const auto& [rank, totals] : totals_) out.push_back(totals);
  return out;
}

}  // namespace rubato::agent
