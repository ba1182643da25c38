// Training of boosted regression trees, in XGBoost; what was trained is evaluated by forest.h without it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "predict/trees/xgboost_library.h"

namespace rubato::predict::trees {

/// Row by row. A quiet NaN stands for what is not known: XGBoost's own way to say so, kept inside this
/// folder.
struct Features {
  std::size_t columns = 0;
  std::vector<float> values;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] const float* row(std::size_t i) const { return values.data() + i * columns; }
};

/// XGBoost's parameters, under its own names; tree_method: exact or hist.
struct Boosting {
  unsigned max_depth = 3;
  double eta = 0.1;
  unsigned rounds = 100;
  std::string tree_method = "hist";
  std::vector<int> monotone;  // by column: -1, 0, 1; empty: no constraint
};

/// Squared error, one thread, no subsampling: the same rows give the same trees.
class Booster {
 public:
  /// `weights` empty: all alike. unavailable: no XGBoost here; internal: in its own words.
  [[nodiscard]] static Result<Booster> train(const Features& features, std::span<const float> targets,
                                             std::span<const float> weights, const Boosting& boosting);
  Booster(Booster&& other) noexcept;
  Booster& operator=(Booster&&) = delete;
  ~Booster();

  /// By the first `rounds` rounds alone, for each of `rounds`: one pass of training tells them all.
  [[nodiscard]] Result<std::vector<std::vector<double>>> predict(const Features& features,
                                                                 std::span<const unsigned> rounds) const;
  /// XGBoost's own JSON, which its other languages read too.
  [[nodiscard]] Result<nlohmann::json> json() const;

 private:
  Booster(const XgboostLibrary* library, void* handle) : library_(library), handle_(handle) {}

  const XgboostLibrary* library_;
  void* handle_;
};

}  // namespace rubato::predict::trees
