#include "meter/mqtt/json_number.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace rubato::meter::mqtt {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} * 1024;
constexpr const char* kHint = "look at what the device sends: mosquitto_sub -h BROKER -v -t TOPIC";

const nlohmann::json* at(const nlohmann::json& root, std::string_view path) {
  const nlohmann::json* node = &root;
  if (path.empty()) return node;
  for (const std::string& step : split(path, '.')) {
    if (node->is_array()) {
      const auto position = parse_integer(step);
      if (!position || *position < 0 || static_cast<std::size_t>(*position) >= node->size()) return nullptr;
      node = &(*node)[static_cast<std::size_t>(*position)];
    } else {
      if (!node->is_object()) return nullptr;
      const auto found = node->find(step);
      if (found == node->end()) return nullptr;
      node = &*found;
    }
  }
  return node;
}

std::string in_words(std::string_view path) {
  return path.empty() ? "the message" : cat("'", path, "'");
}

}  // namespace

struct JsonMessage::Tree {
  nlohmann::json root;
};

JsonMessage::JsonMessage(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}
JsonMessage::~JsonMessage() = default;
JsonMessage::JsonMessage(JsonMessage&&) noexcept = default;
JsonMessage& JsonMessage::operator=(JsonMessage&&) noexcept = default;

Result<JsonMessage> JsonMessage::parse(std::string_view text) {
  if (text.size() > kMostBytes)
    return fail(ErrorCode::corrupt, cat("a message of ", text.size(), " bytes, needed at most ", kMostBytes),
                kHint);
  auto root = nlohmann::json::parse(text, nullptr, false);
  if (root.is_discarded())
    return fail(ErrorCode::corrupt, cat("the message is no JSON: '", text.substr(0, 40), "'"), kHint);
  return JsonMessage(std::make_unique<Tree>(Tree{std::move(root)}));
}

Result<double> JsonMessage::number(std::string_view path) const {
  const nlohmann::json* node = at(tree_->root, path);
  if (node == nullptr)
    return fail(ErrorCode::not_found, cat("there is no ", in_words(path), " in the message"), kHint);
  if (!node->is_number())
    return fail(ErrorCode::corrupt,
                cat(in_words(path), " is of type ", node->type_name(), ", needed a number"), kHint);
  return node->get<double>();
}

Result<std::string> JsonMessage::text(std::string_view path) const {
  const nlohmann::json* node = at(tree_->root, path);
  if (node == nullptr)
    return fail(ErrorCode::not_found, cat("there is no ", in_words(path), " in the message"), kHint);
  if (!node->is_string())
    return fail(ErrorCode::corrupt, cat(in_words(path), " is of type ", node->type_name(), ", needed a text"),
                kHint);
  return node->get<std::string>();
}

}  // namespace rubato::meter::mqtt
