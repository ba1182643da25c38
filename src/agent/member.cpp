#include "agent/member.h"

#include <utility>

#include "base/text.h"

namespace rubato::agent {

void Member::connected(TimePoint now) {
  if (state_ == State::refused) return;
  state_ = State::asking;
  heard_ = now;
  told_.reset();
  out_.emplace_back(join_);
}

void Member::lost(const std::string& why) {
  out_.clear();
  if (state_ == State::joined) notes_.push_back(why);
  if (state_ != State::refused) {
    to_found(why);
    state_ = State::looking;
  }
}

bool Member::leader_silent(TimePoint now) const {
  return (state_ == State::joined || state_ == State::asking) && now - heard_ >= timing_.silence;
}

void Member::hear(const Message& message, TimePoint now) {
  heard_ = now;
  if (const auto* welcome = std::get_if<Welcome>(&message)) {
    state_ = State::joined;
    leader_run_ = welcome->run;
    why_.clear();
    notes_.push_back(cat("in agreement with rank 0 (run ", leader_run_, ")"));
  } else if (const auto* refuse = std::get_if<Refuse>(&message)) {
    to_found(cat("rank 0 refuses: ", refuse->why));
    state_ = State::refused;
    notes_.push_back(why_);
  } else if (const auto* proposal = std::get_if<Propose>(&message)) {
    propose(*proposal, now);
  } else if (const auto* final_word = std::get_if<Commit>(&message)) {
    commit(*final_word, now);
  } else if (const auto* off = std::get_if<Cancel>(&message)) {
    cancel(*off);
  } else if (const auto* stop = std::get_if<Halt>(&message)) {
    to_found(stop->why);
  } else if (const auto* stage = std::get_if<Stage>(&message)) {
    stage_ = *stage;
  }
}

void Member::to_found(const std::string& why) {
  pending_.reset();
  agreed_ = {};
  before_ = {};
  why_ = why;
}

// Where the program itself does not count, "so many iterations from now" is all that two agents can agree on.
void Member::propose(const Propose& message, TimePoint now) {
  if (!own_ || !own_->may_set) {
    const std::string why = own_ && !own_->why_not.empty() ? own_->why_not : "nothing may be set here";
    out_.emplace_back(Ack{message.epoch, false, why});
    return;
  }
  Pending next{.epoch = message.epoch,
               .at = message.at,
               .setting = message.setting,
               .good_until = now + message.answer * kCommitGood,
               .committed = false};
  if (!own_->by_marks) next.at = own_->iterations + (message.at - message.now);
  if (own_->iterations + 1 >= next.at) {
    out_.emplace_back(
        Ack{message.epoch, false,
            cat("it is at iteration ", own_->iterations, " already, and the switch was for ", next.at)});
    return;
  }
  pending_ = next;
  out_.emplace_back(Ack{message.epoch, true, {}});
}

void Member::late(std::uint64_t epoch, std::string why) {
  pending_.reset();
  out_.emplace_back(Late{epoch, std::move(why)});
}

void Member::commit(const Commit& message, TimePoint now) {
  if (message.epoch == agreed_.epoch) return;
  if (!pending_ || pending_->epoch != message.epoch)
    return late(message.epoch, "the iteration agreed on was over");
  if (own_->iterations >= pending_->at)
    return late(message.epoch,
                cat("it was at iteration ", own_->iterations, ", and the switch was for ", pending_->at));
  // The leader may have called it off by now, and its word be as late as this one was.
  if (now > pending_->good_until) return late(message.epoch, "the leader's word took too long");
  pending_->committed = true;
  out_.emplace_back(Received{message.epoch});
}

void Member::cancel(const Cancel& message) {
  if (pending_ && pending_->epoch == message.epoch) pending_.reset();
  // Everybody else holds what was in force before.
  if (agreed_.epoch == message.epoch && message.epoch != 0) agreed_ = before_;
}

void Member::see(Report own, const Setting& in_force, TimePoint now) {
  if (pending_ && own.iterations >= pending_->at) {
    if (pending_->committed) {
      before_ = agreed_;
      agreed_ = {pending_->epoch, pending_->setting};
    }
    pending_.reset();
  }
  // Of a switch that is not in force yet the one before is told: at worst it is taken for missing.
  own.epoch = in_force == agreed_.setting ? agreed_.epoch : before_.epoch;
  own_ = own;
  if (state_ != State::joined) return;
  const bool news = !told_ || told_->may_set != own.may_set || told_->under_load != own.under_load ||
                    told_->tuning != own.tuning || told_->epoch != own.epoch || !own.shift.empty();
  if (!news && now - told_at_ < timing_.report) return;
  told_ = own;
  told_at_ = now;
  out_.emplace_back(std::move(own));
}

void Member::leave(Totals totals) {
  if (state_ == State::joined) out_.emplace_back(Bye{std::move(totals)});
}

std::optional<std::int64_t> Member::switches_at() const {
  if (!pending_) return std::nullopt;
  return pending_->at;
}

std::vector<Message> Member::take() {
  return std::exchange(out_, {});
}
std::vector<std::string> Member::take_notes() {
  return std::exchange(notes_, {});
}

}  // namespace rubato::agent
