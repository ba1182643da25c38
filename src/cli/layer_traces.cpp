#include "cli/layer_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "predict/layers/network.h"

namespace rubato::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::uintmax_t kLargest = 256U << 20U;  // bytes
constexpr const char* kByHand = "describe the network by hand: docs/formats.md#rubatonetwork1";

struct Document {
  Json json;
  long rank = -1;

  [[nodiscard]] bool has_network() const { return json.contains("network"); }
  [[nodiscard]] std::string text(const char* key) const {
    const auto at = json.find(key);
    return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
  }
  [[nodiscard]] long whole(const char* key) const {
    const auto at = json.find(key);
    return at != json.end() && at->is_number_integer() ? at->get<long>() : -1;
  }
};

bool is_trace(const fs::path& path) {
  return path.filename().string().starts_with("layers-") && path.extension() == ".json";
}

std::vector<Document> documents_in(const fs::path& folder) {
  std::vector<Document> out;
  std::error_code stop;
  for (fs::directory_iterator at(folder, stop), end; !stop && at != end; at.increment(stop)) {
    std::error_code ignored;
    if (!is_trace(at->path()) || fs::file_size(at->path(), ignored) > kLargest) continue;
    std::ifstream file(at->path(), std::ios::binary);
    Document one{Json::parse(file, nullptr, false)};
    if (!one.json.is_object()) continue;
    one.rank = one.whole("rank");
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const Document& a, const Document& b) {
    return std::pair(a.rank, a.whole("pid")) < std::pair(b.rank, b.whole("pid"));
  });
  return out;
}

Error why_none(const std::vector<Document>& documents) {
  if (documents.empty())
    return {ErrorCode::not_found,
            "no process of the job imported PyTorch, Keras or JAX with rubato's hooks in place, or all were "
            "killed before they wrote what they saw",
            cat("docs/hooks.md says when hooks cannot be active; or ", kByHand)};
  // A launcher imports a framework, too, and has nothing to say; a process that stepped an optimizer has.
  const auto most = std::max_element(
      documents.begin(), documents.end(),
      [](const Document& a, const Document& b) { return a.whole("iterations") < b.whole("iterations"); });
  const std::string why = most->text("why");
  const std::string hint = most->text("hint");
  return {ErrorCode::not_found, cat("no layer was traced: ", why.empty() ? "the hook wrote no reason" : why),
          hint.empty() ? std::string(kByHand) : hint};
}

std::string rendered(const Json& network) {
  std::string out = "{\n";
  for (const auto& [key, value] : network.items()) {
    if (key == "layers") continue;
    out += cat("  \"", key, "\": ", value.dump(), ",\n");
  }
  out += "  \"layers\": [";
  std::string before = "\n    ";
  for (const Json& layer : network.at("layers")) {
    out += cat(before, layer.dump());
    before = ",\n    ";
  }
  return out + "\n  ]\n}\n";
}

std::string summary_of(const predict::Network& network) {
  double parameters = 0;
  for (const auto& layer : network.layers)
    if (!layer.shares) parameters += layer.parameters.value_or(0);
  std::string input;
  for (const auto& size : network.input)
    input += cat(input.empty() ? "" : "x", size ? std::to_string(*size) : "?");
  const std::string batch = network.batch ? cat("batch ", *network.batch) : std::string("batch not known");
  const bool millions = parameters >= 1e6;
  return fmt::format("{}, {}, {}: {} layers, {:.1f} {} parameters", network.name, batch, input,
                     network.layers.size(), parameters / (millions ? 1e6 : 1e3),
                     millions ? "million" : "thousand");
}

}  // namespace

bool enough_came(const fs::path& folder) {
  std::error_code stop;
  for (fs::directory_iterator at(folder, stop), end; !stop && at != end; at.increment(stop)) {
    if (!is_trace(at->path())) continue;
    std::ifstream file(at->path(), std::ios::binary);
    const Json json = Json::parse(file, nullptr, false);
    if (json.is_object() && json.value("enough", false)) return true;
  }
  return false;
}

Result<TracedNetwork> traced_network(const fs::path& folder) {
  const auto documents = documents_in(folder);
  const auto chosen =
      std::find_if(documents.begin(), documents.end(), [](const Document& one) { return one.has_network(); });
  if (chosen == documents.end()) return tl::unexpected(why_none(documents));
  const Json& json = chosen->json.at("network");
  const auto network = predict::parse_network(json.dump());
  if (!network) return fail(network.error());

  TracedNetwork out;
  out.file = rendered(json);
  out.summary = summary_of(*network);
  const long iterations = chosen->whole("iterations");
  out.source = cat(network->source, ", ", iterations, iterations == 1 ? " iteration" : " iterations");
  out.notes = network->notes;
  std::set<std::string> others;
  for (const Document& one : documents)
    if (one.has_network() && one.json["network"].value("name", "") != network->name)
      others.insert(one.json["network"].value("name", ""));
  for (const std::string& other : others)
    out.notes.push_back(
        cat("another process of the job trains another network, ", other, ": not in this file"));
  for (const auto& layer : network->layers)
    if (!layer.dynamic.empty()) out.dynamic.push_back(layer.name);
  return out;
}

}  // namespace rubato::cli
