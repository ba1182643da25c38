#include "predict/trees/trees.h"

#include <nlohmann/json.hpp>

#include "predict/trees/forest.h"
#include "predict/trees/residuals.h"
#include "predict/trees/search.h"

namespace rubato::predict::trees {
namespace {

using nlohmann::json;

constexpr std::size_t kMostFolds = 4;

/// The trees of one quantity: XGBoost's own words, and the same for evaluation.
struct Grown {
  json booster;
  Forest forest;
  json chosen;  // for people: how they were grown

  static Result<Grown> read(const json& state, std::size_t columns) {
    auto forest = Forest::read(state.at("booster"), columns);
    if (!forest) return fail(forest.error());
    return Grown{state.at("booster"), std::move(*forest), state.at("chosen")};
  }
  [[nodiscard]] json state() const { return {{"booster", booster}, {"chosen", chosen}}; }
  [[nodiscard]] Eigen::VectorXd at(const Features& features) const {
    Eigen::VectorXd out(static_cast<Eigen::Index>(features.rows()));
    for (std::size_t i = 0; i < features.rows(); ++i)
      out[static_cast<Eigen::Index>(i)] = forest.predict(features.row(i));
    return out;
  }
};

class Trees final : public Model {
 public:
  Trees(Schema schema, Grown time, Grown power, ResidualModel residuals)
      : schema_(std::move(schema)),
        time_(std::move(time)),
        power_(std::move(power)),
        residuals_(std::move(residuals)) {}

  [[nodiscard]] Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const auto rows = schema_.rows(known, at);
    if (!rows) return fail(rows.error());
    const auto measured = schema_.rows(known, measured_points(known));
    if (!measured) return fail(measured.error());
    const Eigen::VectorXd time = time_.at(*rows);
    const Eigen::VectorXd time_there = time_.at(*measured);
    Prediction out =
        residuals_.apply(places_of(known, schema_, at), time, time + power_.at(*rows),
                         measured_residuals(known, schema_, time_there, time_there + power_.at(*measured)));
    out.at.assign(at.begin(), at.end());
    return out;
  }

  [[nodiscard]] json state() const override {
    return {{"schema", schema_.state()},
            {"time", time_.state()},
            {"power", power_.state()},
            {"residuals", residuals_.state()}};
  }

 private:
  Schema schema_;
  Grown time_;
  Grown power_;
  ResidualModel residuals_;
};

json words_of(const Searched& searched) {
  return {{"max_depth", searched.choice.max_depth},
          {"rounds", searched.choice.rounds},
          {"monotone", searched.choice.monotone},
          {"with_power", searched.choice.with_power},
          {"held_out_error", searched.error}};
}

class TreesLearner final : public Learner {
 public:
  [[nodiscard]] std::string_view name() const override { return "trees"; }

  [[nodiscard]] Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                                     std::span<const Knob> knobs) const override {
    auto schema = Schema::of(curves, knobs);
    if (!schema) return fail(schema.error());
    const auto data = dataset_of(curves, *schema, kMostFolds);
    if (!data) return fail(data.error());
    const auto time = search(*data, *schema, data->time, -1);
    if (!time) return fail(time.error());
    const Eigen::VectorXd log_power = data->energy - data->time;
    const auto power = search(*data, *schema, log_power, 1);
    if (!power) return fail(power.error());
    auto grown_time = grown(*data, *schema, data->time, *time);
    if (!grown_time) return fail(grown_time.error());
    auto grown_power = grown(*data, *schema, log_power, *power);
    if (!grown_power) return fail(grown_power.error());
    auto residuals = ResidualModel::learn(
        residuals_of(*data, time->held_out, time->held_out + power->held_out), data->groups);
    return std::make_unique<Trees>(std::move(*schema), std::move(*grown_time), std::move(*grown_power),
                                   std::move(residuals));
  }

  [[nodiscard]] Result<std::unique_ptr<Model>> read(const json& state) const override try {
    auto schema = Schema::read(state.at("schema"));
    if (!schema) return fail(schema.error());
    const std::size_t columns = schema->names().size();
    auto time = Grown::read(state.at("time"), columns);
    if (!time) return fail(time.error());
    auto power = Grown::read(state.at("power"), columns);
    if (!power) return fail(power.error());
    auto residuals = ResidualModel::read(state.at("residuals"));
    if (!residuals) return fail(residuals.error());
    if (residuals->knobs() != schema->knobs().size())
      return fail(ErrorCode::corrupt, "the model's inputs and its errors are over different knobs");
    return std::make_unique<Trees>(std::move(*schema), std::move(*time), std::move(*power),
                                   std::move(*residuals));
  } catch (const json::exception&) {
    return fail(ErrorCode::corrupt, "the state of the boosted trees lacks a part");
  }

 private:
  static Result<Grown> grown(const Dataset& data, const Schema& schema, const Eigen::VectorXd& target,
                             const Searched& searched) {
    const auto booster = grow(data, schema, target, searched.choice);
    if (!booster) return fail(booster.error());
    auto saved = booster->json();
    if (!saved) return fail(saved.error());
    auto forest = Forest::read(*saved, schema.names().size());
    if (!forest) return fail(forest.error());
    return Grown{std::move(*saved), std::move(*forest), words_of(searched)};
  }
};

}  // namespace

const Learner& trees_learner() {
  static const TreesLearner learner;
  return learner;
}

}  // namespace rubato::predict::trees
