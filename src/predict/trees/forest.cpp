#include "predict/trees/forest.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/json_figures.h"
#include "base/text.h"

namespace rubato::predict::trees {
namespace {

using nlohmann::json;

tl::unexpected<Error> wrong(std::string_view what) {
  return fail(ErrorCode::corrupt, cat("boosted trees are not as XGBoost saves them: ", what));
}

/// The member behind a path, null where there is none.
const json& at(const json& from, std::initializer_list<const char*> path) {
  static const json kNothing;
  const json* here = &from;
  for (const char* name : path) {
    if (!here->is_object()) return kNothing;
    const auto found = here->find(name);
    if (found == here->end()) return kNothing;
    here = &*found;
  }
  return *here;
}

/// "5E-1", and from 3.0 on "[5E-1]".
std::optional<double> base_score(const json& value) {
  if (!value.is_string()) return std::nullopt;
  std::string text = value.get<std::string>();
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  return parse_number(text);
}

bool all_numbers(const json& values, std::size_t count) {
  if (!values.is_array() || values.size() != count) return false;
  for (const json& value : values)
    if (!value.is_number() && !value.is_boolean()) return false;
  return true;
}

}  // namespace

Result<Forest> Forest::read(const json& booster, std::size_t columns) {
  const json& trees = at(booster, {"learner", "gradient_booster", "model", "trees"});
  const auto base = base_score(at(booster, {"learner", "learner_model_param", "base_score"}));
  if (!trees.is_array()) return wrong("no trees");
  if (!base || !std::isfinite(*base)) return wrong("no base score");
  Forest forest;
  forest.base_ = static_cast<float>(*base);
  for (const json& tree : trees)
    if (const Status added = forest.add(tree, columns); !added) return fail(added.error());
  return forest;
}

Status Forest::add(const json& tree, std::size_t columns) {
  const json& left = at(tree, {"left_children"});
  const std::size_t count = left.is_array() ? left.size() : 0;
  const json& right = at(tree, {"right_children"});
  const json& column = at(tree, {"split_indices"});
  const json& value = at(tree, {"split_conditions"});
  const json& missing_left = at(tree, {"default_left"});
  const std::string name = cat("tree ", roots_.size());
  if (count == 0) return wrong(name + " is empty");
  for (const json* part : {&left, &right, &column, &value, &missing_left})
    if (!all_numbers(*part, count))
      return wrong(name + " has lists of different lengths, or no numbers in them");
  const auto first = static_cast<std::int32_t>(nodes_.size());
  roots_.push_back(nodes_.size());
  for (std::size_t i = 0; i < count; ++i) {
    Node node{.value = value[i].get<float>()};
    const auto to_left = whole_of<std::int64_t>(left[i]);
    const auto to_right = whole_of<std::int64_t>(right[i]);
    if (!std::isfinite(node.value)) return wrong(name + " splits or ends at no number");
    if (to_left != -1) {
      // Children behind their parent: no walk can go in a circle.
      const auto behind = [&](std::int64_t child) {
        return child > static_cast<std::int64_t>(i) && child < static_cast<std::int64_t>(count);
      };
      const auto split = whole_of<std::int64_t>(column[i]);
      if (!behind(to_left) || !behind(to_right))
        return wrong(name + " has a node whose child is not behind it");
      if (split < 0 || split >= static_cast<std::int64_t>(columns))
        return wrong(cat(name, " asks for feature ", split, " of ", columns));
      node.left = first + static_cast<std::int32_t>(to_left);
      node.right = first + static_cast<std::int32_t>(to_right);
      node.column = static_cast<std::uint32_t>(split);
      node.missing_left =
          missing_left[i].is_boolean() ? missing_left[i].get<bool>() : whole_of<int>(missing_left[i]) != 0;
    }
    nodes_.push_back(node);
  }
  return {};
}

double Forest::predict(const float* row) const {
  float sum = base_;
  for (const std::size_t root : roots_) {
    const Node* node = &nodes_[root];
    while (node->left >= 0) {
      const float x = row[node->column];
      const bool to_left = std::isnan(x) ? node->missing_left : x < node->value;
      node = &nodes_[static_cast<std::size_t>(to_left ? node->left : node->right)];
    }
    sum += node->value;
  }
  return sum;
}

}  // namespace rubato::predict::trees
