#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "report/render.h"

namespace rubato::report {
namespace {

using Json = nlohmann::ordered_json;

// The last digits of a computed double are noise, and differ from machine to machine.
double ten_digits(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.10g", value);
  return std::strtod(text.data(), nullptr);
}

struct ToJson {
  Json operator()(const Missing&) const { return nullptr; }
  Json operator()(bool truth) const { return truth; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(const Amount& amount) const { return ten_digits(amount.number); }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const Array& items) const {
    Json out = Json::array();
    for (const Value& item : items) out.push_back(std::visit(*this, item.content()));
    return out;
  }
  Json operator()(const Object& object) const {
    Json out = Json::object();
    for (const Member& member : object.members()) out[member.key] = std::visit(*this, member.value.content());
    return out;
  }
};

std::string dump(const Value& value, int indent) {
  return std::visit(ToJson{}, value.content()).dump(indent, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace

std::string render_json(const Value& value) {
  return dump(value, 2);
}

std::string render_json_line(const Value& value) {
  return dump(value, -1);
}

}  // namespace rubato::report
