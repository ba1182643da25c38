#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"
#include "report/format.h"
#include "report/layout.h"
#include "report/render.h"

namespace rubato::report {
namespace {

std::string words(std::string_view key) {
  std::string out(key);
  std::ranges::replace(out, '_', ' ');
  return out;
}

std::string scalar(const Value& value) {
  if (const auto* missing = value.as<Missing>())
    return missing->why.empty() ? "-" : cat("- (", missing->why, ")");
  if (const auto* truth = value.as<bool>()) return *truth ? "yes" : "no";
  if (const auto* integer = value.as<std::int64_t>()) return cat(*integer);
  if (const auto* amount = value.as<Amount>())
    return cat(fixed(amount->number, amount->digits), amount->unit.empty() ? "" : " ", amount->unit);
  if (const auto* text = value.as<std::string>()) return cut(*text, text->size());
  return {};
}

bool is_scalar(const Value& value) {
  return value.as<Array>() == nullptr && value.as<Object>() == nullptr;
}

bool is_table(const Array& items) {
  if (items.size() < 2) return false;
  const auto* first = items.front().as<Object>();
  return first != nullptr && std::ranges::all_of(items, [first](const Value& item) {
           const auto* row = item.as<Object>();
           if (row == nullptr || row->members().size() != first->members().size()) return false;
           return std::ranges::equal(row->members(), first->members(), [](const Member& a, const Member& b) {
             return a.key == b.key && is_scalar(a.value);
           });
         });
}

class Renderer {
 public:
  explicit Renderer(const TextOptions& options) : options_(options) {}

  void object(const Object& object, std::size_t indent) {
    std::size_t widest = 0;
    for (const Member& m : object.members())
      if (is_scalar(m.value)) widest = std::max(widest, width_of(m.key));
    for (const Member& m : object.members()) {
      const std::string key = cat(std::string(indent, ' '), words(m.key));
      if (is_scalar(m.value)) {
        out_ += wrapped(scalar(m.value), padded(key, indent + widest + 2), options_.width);
        continue;
      }
      out_ += ink(key, Ink::bold, options_) + "\n";
      any(m.value, indent + 2);
    }
  }

  void any(const Value& value, std::size_t indent) {
    if (const auto* members = value.as<Object>())
      object(*members, indent);
    else if (const auto* items = value.as<Array>())
      array(*items, indent);
    else
      out_ += wrapped(scalar(value), std::string(indent, ' '), options_.width);
  }

  std::string take() { return std::move(out_); }

 private:
  void array(const Array& items, std::size_t indent) {
    if (items.empty()) out_ += cat(std::string(indent, ' '), "none\n");
    if (is_table(items)) return table(items, indent);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0 && !is_scalar(items[i])) out_ += "\n";
      any(items[i], indent);
    }
  }

  void table(const Array& items, std::size_t indent) {
    std::vector<Table::Column> columns;
    for (const Member& m : items.front().as<Object>()->members())
      columns.push_back(
          {words(m.key), m.value.as<Amount>() != nullptr || m.value.as<std::int64_t>() != nullptr});
    Table table(std::move(columns));
    for (const Value& item : items) {
      std::vector<std::string> row;
      for (const Member& m : item.as<Object>()->members()) row.push_back(scalar(m.value));
      table.add(std::move(row));
    }
    out_ += table.text(indent, options_);
  }

  TextOptions options_;
  std::string out_;
};

}  // namespace

std::string render_text(const Value& value, const TextOptions& options) {
  Renderer renderer(options);
  renderer.any(value, 0);
  return renderer.take();
}

}  // namespace rubato::report
