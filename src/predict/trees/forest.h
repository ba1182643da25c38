// Boosted trees as XGBoost saves them, evaluated here: a model predicts where no XGBoost is installed,
// without a lock and at the cost of the comparisons alone.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"

namespace rubato::predict::trees {

class Forest {
 public:
  /// corrupt: not what XGBoost 1.6 to 3 writes for one squared-error output over `columns` features.
  [[nodiscard]] static Result<Forest> read(const nlohmann::json& booster, std::size_t columns);

  /// `row`: one value per column; NaN: not known. In single precision, summed in the trees' order, as XGBoost
  /// does.
  [[nodiscard]] double predict(const float* row) const;
  [[nodiscard]] std::size_t trees() const { return roots_.size(); }

 private:
  struct Node {
    float value = 0;         // where to split, or the leaf's share
    std::int32_t left = -1;  // in nodes_; -1: this is a leaf
    std::int32_t right = -1;
    std::uint32_t column = 0;
    bool missing_left = false;
  };
  [[nodiscard]] Status add(const nlohmann::json& tree, std::size_t columns);

  float base_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::size_t> roots_;
};

}  // namespace rubato::predict::trees
