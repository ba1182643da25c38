#include "predict/combined/combined.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "predict/combined/families.h"
#include "predict/combined/likeness.h"
#include "predict/combined/stack.h"
#include "predict/remembered.h"

namespace rubato::predict {
namespace combined {
namespace {

using nlohmann::json;

struct Listed {
  std::string_view name;
  double share;            // of the weight, before anything is known of this table
  double share_unchecked;  // where one group is all there is, and nothing can be left out to check any
};
// The two that draw whole curves from the default; the others have to earn theirs. Unchecked, the curve that
// leans on nothing but the mean counts as much as either.
constexpr std::array kMembers = {Listed{"physical", 1, 1}, Listed{"shared-curve", 1, 1},
                                 Listed{"trees", 0, 0}, Listed{"mean-curve", 0, 1}};

class Combined final : public Model {
 public:
  Combined(std::vector<Member> members, Trusts trusts, Likeness likeness)
      : members_(std::move(members)), trusts_(std::move(trusts)), likeness_(std::move(likeness)) {}

  Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const std::size_t probes = known.probes.size();
    const Trust trust = for_unlike(trusts_[std::min(probes, kLevels - 1)], likeness_.unlike(known), probes);
    std::vector<std::optional<Prediction>> answers;
    std::optional<Error> refused;
    bool any = false;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      constexpr double kNegligible = 0.01;
      answers.emplace_back();
      const auto i = static_cast<Eigen::Index>(m);
      if (trust.time[i] < kNegligible && trust.energy[i] < kNegligible) continue;
      if (auto answer = members_[m].model->predict(known, at)) {
        answers.back() = std::move(*answer);
        any = true;
      } else if (!refused) {
        refused = answer.error();
      }
    }
    if (!any && refused) return fail(*refused);
    return mix(answers, trust, known);
  }

  json state() const override {
    json members = json::array();
    for (const Member& m : members_) members.push_back({{"name", m.name}, {"state", m.model->state()}});
    return {{"members", std::move(members)}, {"trust", state_of(trusts_)}, {"likeness", likeness_.state()}};
  }

 private:
  std::vector<Member> members_;
  Trusts trusts_;
  Likeness likeness_;
};

/// Members by name, each of which learns from the same curves once. With few groups the parts of one part are
/// those of another: without a and b, without b and a.
class Memory {
 public:
  [[nodiscard]] const Learner& of(const Learner& learner) {
    const std::lock_guard lock(mutex_);
    return learners_.try_emplace(std::string(learner.name()), learner).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Remembered> learners_;
};

std::size_t groups_of(std::span<const Curve> curves) {
  std::set<std::string_view> groups;
  for (const Curve& curve : curves) groups.insert(curve.group);
  return groups.size();
}

class CombinedLearner final : public Learner {
 public:
  explicit CombinedLearner(std::unique_ptr<Memory> memory = nullptr) : memory_(std::move(memory)) {}

  std::string_view name() const override { return "rubato"; }

  std::unique_ptr<Learner> remembering() const override {
    return std::make_unique<CombinedLearner>(std::make_unique<Memory>());
  }

  Result<std::unique_ptr<Model>> learn(std::span<const Curve> given,
                                       std::span<const Knob> knobs) const override {
    const std::vector<Curve> curves = by_family(given);
    const std::size_t groups = groups_of(curves);
    const bool remember = memory_ && groups <= kMostFolds;
    std::vector<Member> members;
    std::vector<const Learner*> learners;
    std::vector<double> shares;
    std::optional<Error> refused;
    for (const auto& [name, share, share_unchecked] : kMembers) {
      const auto found = find_learner(name);
      if (!found) continue;
      const Learner& learner = remember ? memory_->of(**found) : **found;
      auto model = learner.learn(curves, knobs);
      if (!model) {
        if (!refused) refused = model.error();
        continue;
      }
      members.push_back({std::string(name), std::move(*model)});
      learners.push_back(&learner);
      shares.push_back(groups < 2 ? share_unchecked : share);
    }
    if (members.empty())
      return fail(
          refused.value_or(Error{ErrorCode::not_found, "no member of the combined model is built in"}));
    Eigen::VectorXd before = Eigen::Map<const Eigen::VectorXd>(shares.data(), std::ssize(shares));
    if (before.sum() <= 0) before.setOnes();
    auto trusts = weigh(curves, knobs, learners, before);
    if (!trusts) return fail(trusts.error());
    return std::make_unique<Combined>(std::move(members), std::move(*trusts), Likeness(curves));
  }

  Result<std::unique_ptr<Model>> read(const json& state) const override {
    const auto corrupt = [](std::string_view why) {
      return fail(ErrorCode::corrupt, cat("the state of a combined model cannot be read: ", why));
    };
    try {
      std::vector<Member> members;
      for (const json& one : state.at("members")) {
        const auto name = one.at("name").get<std::string>();
        const auto learner = find_learner(name);
        if (!learner) return corrupt(learner.error().what);
        auto model = (*learner)->read(one.at("state"));
        if (!model) return fail(model.error());
        members.push_back({name, std::move(*model)});
      }
      if (members.empty()) return corrupt("it has no members");
      auto trusts = read_trusts(state.at("trust"), members.size());
      if (!trusts) return fail(trusts.error());
      auto likeness = Likeness::read(state.at("likeness"));
      if (!likeness) return fail(likeness.error());
      return std::make_unique<Combined>(std::move(members), std::move(*trusts), std::move(*likeness));
    } catch (const json::exception& error) {
      return corrupt(error.what());
    }
  }

 private:
  std::unique_ptr<Memory> memory_;  // nothing: every model is learnt anew
};

}  // namespace
}  // namespace combined

const Learner& combined_learner() {
  static const combined::CombinedLearner learner;
  return learner;
}

}  // namespace rubato::predict
