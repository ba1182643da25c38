#include "cli/words/tree.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "cli/words/pages.h"

namespace rubato::cli {
namespace {

/// "1 - 1000", as CLI11 writes it.
std::optional<std::pair<double, double>> read_range(std::string_view text) {
  const auto between = text.find(" - ");
  if (between == std::string_view::npos) return std::nullopt;
  const auto from = parse_number(text.substr(0, between));
  const auto to = parse_number(text.substr(between + 3));
  if (!from || !to) return std::nullopt;
  return std::pair(*from, *to);
}

// CLI11 joins the name of a value and what its checks say: "FORMAT:{csv,json}", "FLOAT:POSITIVE",
// "UINT:INT in [1 - 1000]".
void read_type(const CLI::Option& option, OptionWords& out) {
  if (option.get_items_expected_max() == 0) return;
  std::string type = option.get_type_name();
  if (const auto open = type.find(":{"); open != std::string::npos && type.ends_with("}")) {
    out.choices = split(std::string_view(type).substr(open + 2, type.size() - open - 3), ',');
    type.resize(open);
  }
  const auto from = type.find(" in [");
  if (const auto check = type.rfind(':', from);
      from != std::string::npos && check != std::string::npos && type.ends_with("]")) {
    out.range = read_range(std::string_view(type).substr(from + 5, type.size() - from - 6));
    type.resize(check);
  }
  if (const auto check = type.find(":POSITIVE"); check != std::string::npos) {
    type.resize(check);
    out.positive = true;
  }
  if (const auto check = type.find(":NONNEGATIVE"); check != std::string::npos) {
    type.resize(check);
    out.not_negative = true;
  }
  out.whole = type == "INT" || type == "UINT";
  if (type == "FLOAT" || out.whole) type = "N";
  const bool unnamed = type.empty() || type == "TEXT";
  if (unnamed && option.get_positional()) {
    type = option.get_name();
    std::ranges::transform(type, type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  out.value = unnamed && !option.get_positional() ? "TEXT" : type;
}

OptionWords words_of_option(const CLI::Option& option) {
  OptionWords out;
  for (const std::string& name : option.get_snames()) out.shorts.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.longs.push_back("--" + name);
  read_type(option, out);
  out.description = option.get_description();
  if (out.range)
    out.description += cat(" (", number(out.range->first, 2), " to ", number(out.range->second, 2), ")");
  out.by_default = option.get_default_str();
  out.required = option.get_required();
  return out;
}

}  // namespace

std::string OptionWords::label() const {
  std::string out;
  for (const auto* names : {&shorts, &longs})
    for (const std::string& name : *names) out += cat(out.empty() ? "" : ", ", name);
  return value.empty() ? out : cat(out, out.empty() ? "" : " ", value);
}

std::string CommandWords::name() const {
  return path.empty() ? "rubato" : cat("rubato ", path);
}

std::string CommandWords::synopsis() const {
  std::string out = name();
  if (!options.empty()) out += " [OPTIONS]";
  for (const OptionWords& p : positionals) out += p.required ? cat(" ", p.value) : cat(" [", p.value, "]");
  if (!commands.empty()) out += " COMMAND";
  if (const CommandPage* page = page_of(path); page != nullptr && !page->after_options.empty())
    out += cat(" ", page->after_options);
  return out;
}

CommandWords words_of(const CLI::App& app) {
  CommandWords out;
  for (const CLI::App* at = &app; at->get_parent() != nullptr; at = at->get_parent())
    out.path = cat(at->get_name(), out.path.empty() ? "" : " ", out.path);
  out.description = app.get_description();
  for (const CLI::Option* option : app.get_options()) {
    auto& list = option->get_positional() ? out.positionals : out.options;
    list.push_back(words_of_option(*option));
  }
  out.commands = app.get_subcommands([](const CLI::App*) { return true; });
  return out;
}

std::vector<const CLI::App*> all_commands(const CLI::App& app) {
  std::vector<const CLI::App*> out = {&app};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const CLI::App* each : all_commands(*command)) out.push_back(each);
  return out;
}

bool is_number(const OptionWords& option) {
  constexpr std::array<std::string_view, 8> kNumbers = {"N",       "W",   "MHZ",   "S",
                                                        "SECONDS", "PID", "SHARE", "G_PER_KWH"};
  return std::ranges::find(kNumbers, option.value) != kNumbers.end();
}

}  // namespace rubato::cli
