#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_fields.h"
#include "base/text.h"
#include "predict/layers/network.h"

namespace rubato::predict {
namespace {

using Json = nlohmann::json;

constexpr const char* kHint = "docs/formats.md#rubatonetwork1 lists the fields";

// Of kernels, strides and the like; products of two sizes fit 64 bits.
constexpr std::uint32_t kMostSize = 1U << 20U;

using Bad = BadFigure;

/// What networks have besides plain fields.
class Fields : public JsonFields {
 public:
  using JsonFields::JsonFields;

  std::optional<std::uint32_t> optional_whole(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    return whole_in<std::uint32_t>(key, *value, 1);
  }
  bool flag_or(const char* key, bool otherwise) { return find(key) == nullptr ? otherwise : flag(key); }
  std::optional<double> count(const char* key) {
    if (find(key) == nullptr) return {};
    return number(key, 0, 1e18);
  }
  /// A number or a list of one to three.
  std::vector<std::uint32_t> sizes(const char* key, std::uint32_t least) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    const Json list = value->is_array() ? *value : Json::array({*value});
    if (list.empty() || list.size() > 3) wrong(key, *value, kSizes);
    std::vector<std::uint32_t> out;
    for (const Json& one : list) {
      out.push_back(whole_in<std::uint32_t>(key, one, least));
      if (out.back() > kMostSize) wrong(key, one, cat("a number up to ", kMostSize));
    }
    return out;
  }
  std::vector<std::uint32_t> needed_sizes(const char* key) { return need(key, kSizes), sizes(key, 1); }
  std::vector<std::string> texts(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_array()) wrong(key, *value, "a list of texts");
    std::vector<std::string> out;
    for (const Json& one : *value) {
      if (!one.is_string()) wrong(key, one, "a text");
      out.push_back(one.get<std::string>());
    }
    return out;
  }
  DeclaredShape shape(const char* key, const Json& value) const {
    if (!value.is_array() || value.empty() || value.size() > 8) wrong(key, value, "a list of sizes");
    DeclaredShape out;
    for (const Json& one : value) {
      if (one.is_null() || one == -1 || one == "dynamic")
        out.emplace_back();
      else
        out.emplace_back(whole_in<std::uint32_t>(key, one, 1));
    }
    return out;
  }

 private:
  static constexpr const char* kSizes = "a number or a list of one to three";
};

bool takes(const LayerKind& kind, std::string_view field) {
  return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

LayerFields fields_of(Fields& from, const LayerKind& kind) {
  LayerFields out;
  const auto takes_one = [&](std::string_view field) { return takes(kind, field); };
  if (takes_one("channels")) out.channels = from.whole<std::uint32_t>("channels", 1);
  if (takes_one("features")) out.features = from.whole<std::uint32_t>("features", 1);
  if (takes_one("rows")) out.rows = from.whole<std::uint32_t>("rows", 1);
  if (takes_one("kernel")) out.kernel = from.needed_sizes("kernel");
  if (takes_one("size")) out.size = from.needed_sizes("size");
  if (takes_one("stride")) out.stride = from.sizes("stride", 1);
  if (takes_one("dilation")) out.dilation = from.sizes("dilation", 1);
  if (takes_one("output_padding")) out.output_padding = from.sizes("output_padding", 0);
  if (takes_one("groups")) out.groups = from.optional_whole("groups").value_or(1);
  if (takes_one("padding")) {
    const Json* padding = from.find("padding");
    out.same = padding != nullptr && *padding == "same" && kind.family != LayerFamily::convtranspose;
    if (!out.same) out.padding = from.sizes("padding", 0);
  }
  if (takes_one("bias")) out.bias = from.flag_or("bias", true);
  if (takes_one("affine")) out.affine = from.flag_or("affine", true);
  if (takes_one("ceil")) out.ceil = from.flag_or("ceil", false);
  if (takes_one("shape")) {
    const Json& shape = from.need("shape", "a list of sizes");
    for (const auto& dimension : from.shape("shape", shape)) {
      if (!dimension) from.wrong("shape", shape, "a list of whole numbers");
      out.shape.push_back(*dimension);
    }
  }
  return out;
}

std::string text_of_seen(const Json& shape) {
  std::string out;
  if (!shape.is_array()) return shown(shape);
  for (const Json& dimension : shape) out += cat(out.empty() ? "" : "x", shown(dimension));
  return out;
}

using Known = std::map<std::string, std::size_t, std::less<>>;

std::size_t index_of(const Fields& from, const Known& known, const std::string& name) {
  const auto at = known.find(name);
  if (at == known.end()) throw Bad{cat(from.who(), ": there is no layer \"", name, "\" before it")};
  return at->second;
}

void read_wiring(Fields& from, const Known& known, std::size_t here, NetworkLayer& layer) {
  layer.inputs_told = from.find("inputs") != nullptr;
  for (const std::string& name : from.texts("inputs"))
    layer.inputs.push_back(name == "input" ? kNetworkInput : index_of(from, known, name));
  if (layer.inputs_told && layer.inputs.empty()) throw Bad{cat(from.who(), ": \"inputs\" names no layer")};
  if (!layer.inputs_told) layer.inputs.push_back(here == 0 ? kNetworkInput : here - 1);
  if (from.find("shares") != nullptr) layer.shares = index_of(from, known, from.text("shares"));
}

void read_outright(Fields& from, NetworkLayer& layer) {
  if (const Json* shapes = from.find("input_shapes")) {
    if (!shapes->is_array() || shapes->empty()) from.wrong("input_shapes", *shapes, "a list of shapes");
    layer.input_shapes.emplace();
    for (const Json& shape : *shapes) layer.input_shapes->push_back(from.shape("input_shapes", shape));
  }
  if (const Json* shape = from.find("output_shape")) layer.output_shape = from.shape("output_shape", *shape);
  layer.parameters = from.count("parameters");
  layer.operations = from.count("operations");
  layer.trainable = from.flag_or("trainable", true);
  if (const Json* seen = from.find("dynamic")) {
    if (!seen->is_array() || seen->empty()) from.wrong("dynamic", *seen, "the shapes that were seen");
    for (const Json& shape : *seen) layer.dynamic.push_back(text_of_seen(shape));
  }
}

NetworkLayer layer_of(const Json& json, const Known& known, std::size_t here) {
  const std::string place = cat("layer ", here + 1);
  const std::string name = Fields(json, place).text("name");
  if (name == "input" || known.contains(name)) throw Bad{cat(place, ": the name \"", name, "\" is taken")};
  Fields from(json, cat("layer \"", name, "\""));
  NetworkLayer layer;
  layer.name = from.text("name");
  layer.kind_name = from.text("kind");
  read_wiring(from, known, here, layer);
  read_outright(from, layer);
  const LayerKind* kind = find_layer_kind(layer.kind_name);
  const bool product = kind != nullptr && kind->family == LayerFamily::product;
  const bool outright = layer.input_shapes && layer.output_shape;
  if (kind != nullptr && (!product || (outright && layer.operations))) {
    layer.kind = *kind;
    layer.fields = fields_of(from, *kind);
  } else if (outright) {
    layer.kind = {.name = "unknown", .forward = 1, .backward = 1};
  } else if (layer.dynamic.empty()) {
    throw Bad{cat(from.who(), ": the kind \"", layer.kind_name, "\" is ",
                  product ? "given outright" : "not known",
                  ", and it has no input_shapes and output_shape to go by")};
  }
  from.close();
  return layer;
}

std::optional<PublishedFigure> published(Fields& from, const char* key) {
  const Json* json = from.find(key);
  if (json == nullptr) return {};
  Fields figure(*json, cat("published.", key));
  PublishedFigure out{figure.number("value", 0, 1e18), figure.text("source")};
  figure.close();
  return out;
}

Network network_of(const Json& json) {
  Fields from(json, "the document");
  const std::string schema = from.text("schema");
  if (schema != "rubato.network/1") from.wrong("schema", json["schema"], "\"rubato.network/1\"");
  Network out;
  out.name = from.text("name");
  out.source = from.text("source");
  out.input = from.shape("input", from.need("input", "a list of sizes"));
  out.batch = from.optional_whole("batch");
  if (from.find("precision") != nullptr) out.precision = from.named("precision", &parse_precision);
  if (from.find("optimizer") != nullptr) out.optimizer = from.named("optimizer", &parse_optimizer);
  out.notes = from.texts("notes");
  if (const Json* figures = from.find("published")) {
    Fields in(*figures, "published");
    out.published_macs = published(in, "macs");
    out.published_parameters = published(in, "parameters");
    in.find("note");
    in.close();
  }
  const Json& layers = from.need("layers", "a list of layers");
  if (!layers.is_array() || layers.empty()) from.wrong("layers", layers, "a list of layers");
  from.close();
  Known known;
  for (const Json& layer : layers) {
    out.layers.push_back(layer_of(layer, known, out.layers.size()));
    known.emplace(out.layers.back().name, out.layers.size() - 1);
  }
  return out;
}

}  // namespace

Result<Network> parse_network(std::string_view text) {
  const auto json = parse_json(text);
  if (!json) return fail(json.error().code, cat("network description: ", json.error().what), kHint);
  try {
    return network_of(*json);
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("network description: ", bad.what), kHint);
  }
}

}  // namespace rubato::predict
