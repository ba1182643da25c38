#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_figures.h"
#include "base/text.h"
#include "predict/layers/network.h"

namespace rubato::predict {
namespace {

using Json = nlohmann::json;

constexpr const char* kHint = "docs/formats.md#rubatonetwork1 lists the fields";

// Of kernels, strides and the like; products of two sizes fit 64 bits.
constexpr std::uint32_t kMostSize = 1U << 20U;

// Thrown and caught inside this file only.
struct Bad {
  std::string what;
};

std::string shown(const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

/// One JSON object: asked for its fields by name; what nobody asked for is an error at the end.
class Fields {
 public:
  Fields(const Json& object, std::string who) : object_(object), who_(std::move(who)) {
    if (!object.is_object()) throw Bad{cat(who_, ": ", shown(object), " where an object is needed")};
  }
  [[nodiscard]] const std::string& who() const { return who_; }
  [[noreturn]] void wrong(std::string_view key, const Json& value, std::string_view needed) const {
    throw Bad{cat(who_, ": \"", key, "\" is ", shown(value), " where ", needed, " is needed")};
  }

  const Json* find(const char* key) {
    used_.insert(key);
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  const Json& need(const char* key) {
    const Json* found = find(key);
    if (found == nullptr) throw Bad{cat(who_, " has no \"", key, "\"")};
    return *found;
  }
  std::string text(const char* key) {
    const Json& value = need(key);
    if (!value.is_string() || value.get_ref<const std::string&>().empty()) wrong(key, value, "a text");
    return value.get<std::string>();
  }
  std::optional<std::uint32_t> whole(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    return whole_in(key, *value);
  }
  bool flag(const char* key, bool otherwise) {
    const Json* value = find(key);
    if (value == nullptr) return otherwise;
    if (!value->is_boolean()) wrong(key, *value, "true or false");
    return value->get<bool>();
  }
  std::optional<double> count(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_number() || !(value->get<double>() >= 0) || value->get<double>() > 1e18)
      wrong(key, *value, "a number from 0 to 1e18");
    return value->get<double>();
  }
  /// A number or a list of one to three.
  std::vector<std::uint32_t> sizes(const char* key, std::uint32_t least) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    const Json list = value->is_array() ? *value : Json::array({*value});
    if (list.empty() || list.size() > 3) wrong(key, *value, "a number or a list of one to three");
    std::vector<std::uint32_t> out;
    for (const Json& one : list) {
      out.push_back(whole_in(key, one, least));
      if (out.back() > kMostSize) wrong(key, one, cat("a number up to ", kMostSize));
    }
    return out;
  }
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
        out.emplace_back(whole_in(key, one));
    }
    return out;
  }
  void close() const {
    for (const auto& [key, value] : object_.items())
      if (!used_.contains(key)) throw Bad{cat(who_, " does not take \"", key, "\"")};
  }

 private:
  std::uint32_t whole_in(const char* key, const Json& value, std::uint32_t least = 1) const {
    try {
      const auto whole = whole_of<std::uint32_t>(value);
      if (whole >= least) return whole;
    } catch (const Json::exception&) {
    }
    wrong(key, value, least == 0 ? "a whole number" : "a whole number above 0");
  }

  const Json& object_;
  std::string who_;
  std::set<std::string, std::less<>> used_;
};

template <class T>
T named(Fields& from, const char* key, Result<T> (*parse)(std::string_view)) {
  const auto found = parse(from.text(key));
  if (!found) throw Bad{cat(from.who(), ": ", found.error().what)};
  return *found;
}

bool takes(const LayerKind& kind, std::string_view field) {
  return std::find(kind.fields.begin(), kind.fields.end(), field) != kind.fields.end();
}

LayerFields fields_of(Fields& from, const LayerKind& kind) {
  LayerFields out;
  const auto takes_one = [&](std::string_view field) { return takes(kind, field); };
  if (takes_one("channels")) out.channels = (from.need("channels"), from.whole("channels"));
  if (takes_one("features")) out.features = (from.need("features"), from.whole("features"));
  if (takes_one("rows")) out.rows = (from.need("rows"), from.whole("rows"));
  if (takes_one("kernel")) out.kernel = (from.need("kernel"), from.sizes("kernel", 1));
  if (takes_one("size")) out.size = (from.need("size"), from.sizes("size", 1));
  if (takes_one("stride")) out.stride = from.sizes("stride", 1);
  if (takes_one("dilation")) out.dilation = from.sizes("dilation", 1);
  if (takes_one("output_padding")) out.output_padding = from.sizes("output_padding", 0);
  if (takes_one("groups")) out.groups = from.whole("groups").value_or(1);
  if (takes_one("padding")) {
    const Json* padding = from.find("padding");
    out.same = padding != nullptr && *padding == "same" && kind.family != LayerFamily::convtranspose;
    if (!out.same) out.padding = from.sizes("padding", 0);
  }
  if (takes_one("bias")) out.bias = from.flag("bias", true);
  if (takes_one("affine")) out.affine = from.flag("affine", true);
  if (takes_one("ceil")) out.ceil = from.flag("ceil", false);
  if (takes_one("shape")) {
    for (const auto& dimension : from.shape("shape", from.need("shape"))) {
      if (!dimension) from.wrong("shape", from.need("shape"), "a list of whole numbers");
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
  layer.trainable = from.flag("trainable", true);
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
  if (const LayerKind* kind = find_layer_kind(layer.kind_name)) {
    layer.kind = *kind;
    layer.fields = fields_of(from, *kind);
  } else if (layer.input_shapes && layer.output_shape) {
    layer.kind = {.name = "unknown", .forward = 1, .backward = 1};
  } else if (layer.dynamic.empty()) {
    throw Bad{cat(from.who(), ": the kind \"", layer.kind_name,
                  "\" is not known, and it has no input_shapes and output_shape to go by")};
  }
  from.close();
  return layer;
}

std::optional<PublishedFigure> published(Fields& from, const char* key) {
  const Json* json = from.find(key);
  if (json == nullptr) return {};
  Fields figure(*json, cat("published.", key));
  figure.need("value");
  PublishedFigure out{figure.count("value").value_or(0), figure.text("source")};
  figure.close();
  return out;
}

Network network_of(const Json& json) {
  Fields from(json, "the document");
  const std::string schema = from.text("schema");
  if (schema != "rubato.network/1") from.wrong("schema", from.need("schema"), "\"rubato.network/1\"");
  Network out;
  out.name = from.text("name");
  out.source = from.text("source");
  out.input = from.shape("input", from.need("input"));
  out.batch = from.whole("batch");
  if (from.find("precision") != nullptr) out.precision = named(from, "precision", &parse_precision);
  if (from.find("optimizer") != nullptr) out.optimizer = named(from, "optimizer", &parse_optimizer);
  out.notes = from.texts("notes");
  if (const Json* figures = from.find("published")) {
    Fields in(*figures, "published");
    out.published_macs = published(in, "macs");
    out.published_parameters = published(in, "parameters");
    in.find("note");
    in.close();
  }
  const Json& layers = from.need("layers");
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

Result<Network> parse_network(std::string_view json) {
  try {
    return network_of(Json::parse(json));
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("network description: ", bad.what), kHint);
  } catch (const Json::parse_error& bad) {  // its words repeat bytes of the file
    return fail(ErrorCode::invalid_argument, cat("network description: no JSON, from byte ", bad.byte),
                kHint);
  } catch (const std::exception& bad) {
    return fail(ErrorCode::invalid_argument, cat("network description: ", bad.what()), kHint);
  }
}

}  // namespace rubato::predict
