#include "predict/trees/gpoeo.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "predict/trees/dataset.h"
#include "predict/trees/forest.h"

namespace rubato::predict::trees {
namespace {

using nlohmann::json;

// RTX 3080 Ti: bands up to 1019 and 1424 MHz, reference clock 1800 MHz.
constexpr std::array<double, 2> kBandEdges = {1020.0 / 1800.0, 1425.0 / 1800.0};
constexpr std::size_t kBands = kBandEdges.size() + 1;
constexpr float kMostPercent = 99.99F;
constexpr double kLeastRatio = 0.01;  // of what is predicted: a logarithm must exist
constexpr std::size_t kMostFolds = 4;
// XGBRegressor's defaults.
const Boosting kDefaults{.max_depth = 6, .eta = 0.3, .rounds = 100, .tree_method = "exact", .monotone = {}};

std::size_t band_of(double clock_over_reference) {
  return static_cast<std::size_t>(
      std::upper_bound(kBandEdges.begin(), kBandEdges.end(), clock_over_reference) - kBandEdges.begin());
}

/// A counter column: where it stands, and whether it is a share of the most possible.
struct Counter {
  std::size_t column = 0;
  bool share = false;
};

std::vector<Counter> counters_in(const Schema& schema) {
  std::vector<Counter> out;
  for (std::size_t i = 0; i < schema.names().size(); ++i) {
    const std::string& name = schema.names()[i];
    if (!name.starts_with("feature_")) continue;
    const auto ends = [&](std::string_view end) { return name.ends_with(end); };
    out.push_back({i, ends("_active") || ends("_occupancy") || ends("_fraction") || ends("_utilisation")});
  }
  return out;
}

/// Row by row: the clock over the reference, and the counters, shares as percent.
Features inputs(const Features& rows, std::size_t clock, const std::vector<Counter>& counters) {
  Features out{.columns = 1 + counters.size(), .values = {}};
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const float* row = rows.row(i);
    out.values.push_back(row[clock]);
    for (const auto& [column, share] : counters)
      out.values.push_back(share ? std::min(row[column] * 100, kMostPercent) : row[column]);
  }
  return out;
}

/// Energy and time of one band, or of the memory clock.
struct Pair {
  Forest time;
  Forest energy;
  json time_json;
  json energy_json;

  static Result<Pair> read(json time, json energy, std::size_t columns) {
    auto time_forest = Forest::read(time, columns);
    if (!time_forest) return fail(time_forest.error());
    auto energy_forest = Forest::read(energy, columns);
    if (!energy_forest) return fail(energy_forest.error());
    return Pair{std::move(*time_forest), std::move(*energy_forest), std::move(time), std::move(energy)};
  }
  static Result<Pair> train(const Features& features, const std::vector<float>& time,
                            const std::vector<float>& energy) {
    std::array<json, 2> saved;
    std::size_t next = 0;
    for (const auto* target : {&time, &energy}) {
      const auto booster = Booster::train(features, *target, {}, kDefaults);
      if (!booster) return fail(booster.error());
      auto words = booster->json();
      if (!words) return fail(words.error());
      saved[next++] = std::move(*words);
    }
    return read(std::move(saved[0]), std::move(saved[1]), features.columns);
  }
};

/// The models, without what is known of their errors.
class Arrangement {
 public:
  static Result<Arrangement> train(const Dataset& data, const Schema& schema,
                                   std::optional<std::size_t> but_fold);
  static Result<Arrangement> read(const json& state, const Schema& schema);
  [[nodiscard]] json state() const;

  /// ln of what is predicted; `rows` as Schema::rows() gives them.
  void predict(const Features& rows, Eigen::VectorXd& log_time, Eigen::VectorXd& log_energy) const {
    const Features sm = inputs(rows, sm_, counters_);
    const Features memory = memory_ ? inputs(rows, *memory_, counters_) : Features{};
    log_time = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(rows.rows()));
    log_energy = log_time;
    const auto log_of = [](const Forest& forest, const float* row) {
      return std::log(std::max(kLeastRatio, forest.predict(row)));
    };
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const Pair& band = pairs_[band_pair_[band_of(static_cast<double>(rows.row(i)[sm_]))]];
      const auto at = static_cast<Eigen::Index>(i);
      log_time[at] = log_of(band.time, sm.row(i));
      log_energy[at] = log_of(band.energy, sm.row(i));
      if (!memory_ || rows.row(i)[*memory_] == 1.0F) continue;
      log_time[at] += log_of(pairs_.back().time, memory.row(i));
      log_energy[at] += log_of(pairs_.back().energy, memory.row(i));
    }
  }

 private:
  explicit Arrangement(const Schema& schema) {
    const auto& knobs = schema.knobs();
    const auto place = [&](Knob knob) {
      return static_cast<std::size_t>(std::find(knobs.begin(), knobs.end(), knob) - knobs.begin());
    };
    sm_ = place(Knob::sm_clock);
    if (place(Knob::memory_clock) < knobs.size()) memory_ = place(Knob::memory_clock);
    counters_ = counters_in(schema);
  }

  std::size_t sm_ = 0;                 // columns of Schema::rows()
  std::optional<std::size_t> memory_;  // nothing: the model is of the SM clock alone
  std::vector<Counter> counters_;
  std::array<std::size_t, kBands> band_pair_{};  // a band without rows asks its neighbour
  std::vector<Pair> pairs_;                      // the bands', then the memory's
};

Result<Arrangement> Arrangement::train(const Dataset& data, const Schema& schema,
                                       std::optional<std::size_t> but_fold) {
  Arrangement out(schema);
  const auto add = [&](std::size_t clock, const auto& wanted) -> Result<bool> {
    const Part part = part_of(data, [&](std::size_t row, std::size_t curve) {
      return (!but_fold || data.fold[curve] != *but_fold) && wanted(data.features.row(row));
    });
    if (part.rows.empty()) return false;
    std::vector<float> time;
    std::vector<float> energy;
    for (const std::size_t row : part.rows) {
      time.push_back(static_cast<float>(std::exp(data.time[static_cast<Eigen::Index>(row)])));
      energy.push_back(static_cast<float>(std::exp(data.energy[static_cast<Eigen::Index>(row)])));
    }
    auto pair = Pair::train(inputs(part.features, clock, out.counters_), time, energy);
    if (!pair) return fail(pair.error());
    out.pairs_.push_back(std::move(*pair));
    return true;
  };
  std::array<std::optional<std::size_t>, kBands> trained;
  for (std::size_t band = 0; band < kBands; ++band) {
    const auto added = add(out.sm_, [&](const float* row) {
      return band_of(static_cast<double>(row[out.sm_])) == band &&
             (!out.memory_ || row[*out.memory_] == 1.0F);
    });
    if (!added) return fail(added.error());
    if (*added) trained[band] = out.pairs_.size() - 1;
  }
  for (std::size_t band = 0; band < kBands; ++band) {
    std::optional<std::size_t> nearest;
    for (std::size_t other = 0; other < kBands; ++other) {
      const auto distance = [&](std::size_t b) { return b > band ? b - band : band - b; };
      if (trained[other] && (!nearest || distance(other) < distance(*nearest))) nearest = other;
    }
    if (!nearest)
      return fail(ErrorCode::invalid_argument,
                  "gpoeo: no row has the memory clock at its default, so its models of "
                  "the SM clock have nothing to learn from");
    out.band_pair_[band] = *trained[*nearest];
  }
  if (!out.memory_) return out;
  const auto added = add(*out.memory_, [&](const float* row) { return row[out.sm_] == 1.0F; });
  if (!added) return fail(added.error());
  if (!*added)
    return fail(ErrorCode::invalid_argument,
                "gpoeo: no row has the SM clock at its default, so its models of the "
                "memory clock have nothing to learn from");
  return out;
}

json Arrangement::state() const {
  json pairs = json::array();
  for (const Pair& pair : pairs_) pairs.push_back({{"time", pair.time_json}, {"energy", pair.energy_json}});
  return {{"bands", band_pair_}, {"models", pairs}};
}

Result<Arrangement> Arrangement::read(const json& state, const Schema& schema) {
  Arrangement out(schema);
  for (const json& pair : state.at("models")) {
    auto read = Pair::read(pair.at("time"), pair.at("energy"), 1 + out.counters_.size());
    if (!read) return fail(read.error());
    out.pairs_.push_back(std::move(*read));
  }
  out.band_pair_ = state.at("bands").get<std::array<std::size_t, kBands>>();
  const std::size_t of_bands = out.pairs_.size() - (out.memory_ && !out.pairs_.empty() ? 1 : 0);
  for (const std::size_t pair : out.band_pair_)
    if (pair >= of_bands) return fail(ErrorCode::corrupt, "gpoeo: a band of SM clocks has no model");
  return out;
}

class Gpoeo final : public Model {
 public:
  Gpoeo(Schema schema, Arrangement arrangement, ResidualModel residuals)
      : schema_(std::move(schema)), arrangement_(std::move(arrangement)), residuals_(std::move(residuals)) {}

  [[nodiscard]] Result<Prediction> predict(const Known& known, std::span<const KnobPoint> at) const override {
    const auto rows = schema_.rows(known, at);
    if (!rows) return fail(rows.error());
    Eigen::VectorXd time;
    Eigen::VectorXd energy;
    arrangement_.predict(*rows, time, energy);
    const auto knobs = static_cast<Eigen::Index>(schema_.knobs().size());
    const Residuals nothing{Eigen::MatrixXd(0, knobs), Eigen::VectorXd(0), Eigen::VectorXd(0)};
    Prediction out = residuals_.apply(places_of(known, schema_, at), time, energy, nothing);
    out.at.assign(at.begin(), at.end());
    return out;
  }
  [[nodiscard]] json state() const override {
    return {{"schema", schema_.state()},
            {"arrangement", arrangement_.state()},
            {"residuals", residuals_.state()}};
  }

 private:
  Schema schema_;
  Arrangement arrangement_;
  ResidualModel residuals_;
};

Status needs(const Schema& schema) {
  const auto has = [&](Knob knob) {
    return std::find(schema.knobs().begin(), schema.knobs().end(), knob) != schema.knobs().end();
  };
  if (!has(Knob::sm_clock) || has(Knob::power_limit))
    return fail(
        ErrorCode::invalid_argument,
        "gpoeo models SM and memory clocks and never the power limit: it needs a table whose rows vary the "
        "SM clock",
        "--knobs sm-clock, or sm-clock,memory-clock");
  if (!schema.names().back().starts_with("feature_"))
    return fail(ErrorCode::invalid_argument,
                "gpoeo predicts from counters at the default setting, and the table has no feature_ column",
                "take a table with counters, or another model");
  return {};
}

class GpoeoLearner final : public Learner {
 public:
  [[nodiscard]] std::string_view name() const override { return "gpoeo"; }

  [[nodiscard]] Result<std::unique_ptr<Model>> learn(std::span<const Curve> curves,
                                                     std::span<const Knob> knobs) const override {
    auto schema = Schema::of(curves, knobs);
    if (!schema) return fail(schema.error());
    if (const Status fine = needs(*schema); !fine) return fail(fine.error());
    const auto data = dataset_of(curves, *schema, kMostFolds);
    if (!data) return fail(data.error());
    Eigen::VectorXd time = Eigen::VectorXd::Zero(data->time.size());
    Eigen::VectorXd energy = time;
    for (std::size_t fold = 0; fold < data->folds; ++fold) {
      const auto without = Arrangement::train(*data, *schema, fold);
      if (!without) return fail(without.error());
      const Part unseen =
          part_of(*data, [&](std::size_t, std::size_t curve) { return data->fold[curve] == fold; });
      Eigen::VectorXd part_time;
      Eigen::VectorXd part_energy;
      without->predict(unseen.features, part_time, part_energy);
      for (std::size_t i = 0; i < unseen.rows.size(); ++i) {
        time[static_cast<Eigen::Index>(unseen.rows[i])] = part_time[static_cast<Eigen::Index>(i)];
        energy[static_cast<Eigen::Index>(unseen.rows[i])] = part_energy[static_cast<Eigen::Index>(i)];
      }
    }
    auto arrangement = Arrangement::train(*data, *schema, std::nullopt);
    if (!arrangement) return fail(arrangement.error());
    return std::make_unique<Gpoeo>(std::move(*schema), std::move(*arrangement),
                                   ResidualModel::learn(residuals_of(*data, time, energy), data->groups));
  }

  [[nodiscard]] Result<std::unique_ptr<Model>> read(const json& state) const override try {
    auto schema = Schema::read(state.at("schema"));
    if (!schema) return fail(schema.error());
    if (const Status fine = needs(*schema); !fine) return fail(fine.error());
    auto arrangement = Arrangement::read(state.at("arrangement"), *schema);
    if (!arrangement) return fail(arrangement.error());
    auto residuals = ResidualModel::read(state.at("residuals"));
    if (!residuals) return fail(residuals.error());
    if (residuals->knobs() != schema->knobs().size())
      return fail(ErrorCode::corrupt, "the model's inputs and its errors are over different knobs");
    return std::make_unique<Gpoeo>(std::move(*schema), std::move(*arrangement), std::move(*residuals));
  } catch (const json::exception&) {
    return fail(ErrorCode::corrupt, "the state of gpoeo's models lacks a part");
  }
};

}  // namespace

const Learner& gpoeo_learner() {
  static const GpoeoLearner learner;
  return learner;
}

}  // namespace rubato::predict::trees
