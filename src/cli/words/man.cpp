#include "cli/words/man.h"

#include <algorithm>

#include "base/text.h"
#include "cli/words/pages.h"
#include "cli/words/tree.h"

namespace rubato::cli {
namespace {

// A hyphen that may be copied into a shell is a minus; a line may not begin with a control character.
std::string escaped(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Option names bold, what stands for a value in italics.
std::string label(const OptionWords& option) {
  std::string out;
  for (const auto* names : {&option.shorts, &option.longs})
    for (const std::string& name : *names) out += cat(out.empty() ? "" : ", ", "\\fB", escaped(name), "\\fR");
  if (!option.value.empty()) out += cat(out.empty() ? "" : " ", "\\fI", escaped(option.value), "\\fR");
  return out;
}

std::string entry(const std::string& term, const std::string& text) {
  return cat(".TP\n", term, "\n", text.empty() ? "" : cat(text, "\n"));
}

std::string entries(const std::vector<OptionWords>& options) {
  std::string out;
  for (const OptionWords& option : options) {
    std::string text = escaped(option.description);
    std::string choices;
    for (const std::string& choice : option.choices) choices += cat(choices.empty() ? "" : ", ", choice);
    if (!choices.empty()) text += cat("; one of ", escaped(choices));
    if (!option.by_default.empty()) text += cat(" (default: ", escaped(option.by_default), ")");
    out += entry(label(option), text);
  }
  return out;
}

std::string see_also(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* parent = app.get_parent(); parent != nullptr; parent = parent->get_parent())
    names.push_back(man_name(*parent));
  std::ranges::reverse(names);
  for (const CLI::App* command : words_of(app).commands) names.push_back(man_name(*command));
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += cat(i == 0 ? "" : "\n", ".BR ", escaped(names[i]), " (1)", i + 1 < names.size() ? "," : "");
  return out;
}

}  // namespace

std::string man_name(const CLI::App& app) {
  std::string name = words_of(app).name();
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CLI::App& app, std::string_view version) {
  const CommandWords words = words_of(app);
  const CommandPage* page = page_of(words.path);
  const std::string name = man_name(app);
  std::string out = cat(".TH ", upper(escaped(name)), " 1 \"\" \"rubato ", version, "\" \"rubato manual\"\n");
  out += cat(".SH NAME\n", escaped(name), " \\- ", escaped(words.description), "\n");
  out += cat(".SH SYNOPSIS\n.nf\n", escaped(words.synopsis()), "\n.fi\n");
  out += ".SH DESCRIPTION\n";
  const std::string_view text = page == nullptr || page->text.empty() ? words.description : page->text;
  std::string between;
  for (const std::string& paragraph : split(text, '\n')) {
    if (paragraph.empty()) continue;
    out += cat(between, escaped(paragraph), "\n");
    between = ".PP\n";
  }
  if (!words.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const CLI::App* command : words.commands)
      out += entry(cat("\\fB", escaped(command->get_name()), "\\fR"), escaped(command->get_description()));
  }
  if (!words.positionals.empty()) out += cat(".SH ARGUMENTS\n", entries(words.positionals));
  out += cat(".SH OPTIONS\n", entries(words.options));
  if (page != nullptr && !page->examples.empty()) {
    out += ".SH EXAMPLES\n";
    for (const Example& example : page->examples)
      out += entry(cat("\\fB", escaped(example.command), "\\fR"), escaped(example.what));
  }
  if (words.path.empty())
    for (const Section& section : manual_sections()) {
      out += cat(".SH ", section.title, "\n");
      for (const auto& [term, meaning] : section.entries) out += entry(escaped(term), escaped(meaning));
    }
  if (const std::string others = see_also(app); !others.empty()) out += cat(".SH SEE ALSO\n", others, "\n");
  return out;
}

}  // namespace rubato::cli
