#include "cli/words/help.h"

#include <algorithm>

#include "base/text.h"
#include "cli/words/pages.h"
#include "cli/words/tree.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

constexpr std::size_t kColumn = 28;
constexpr std::string_view kGap = "  ";

std::string entry(const std::string& label, const std::string& text, int width) {
  const std::string indented = cat(kGap, label);
  if (report::width_of(indented) + kGap.size() > kColumn)
    return cat(indented, "\n", report::wrapped(text, std::string(kColumn, ' '), width));
  return report::wrapped(text, report::padded(indented, kColumn), width);
}

std::string described(const OptionWords& option) {
  std::string out = option.description;
  std::string choices;
  for (const std::string& choice : option.choices) choices += cat(choices.empty() ? "" : ", ", choice);
  // Where the words say it all already, the list is not said again.
  if (!choices.empty() && option.description.find(option.choices.front()) == std::string::npos)
    out += cat(": ", choices);
  if (!option.by_default.empty()) out += cat(" (default: ", option.by_default, ")");
  return out;
}

class Formatter final : public CLI::FormatterBase {
 public:
  explicit Formatter(int width) : width_(width) {}
  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode /*mode*/) const override {
    return help_text(*app, width_);
  }

 private:
  int width_;
};

}  // namespace

std::string help_text(const CLI::App& app, int width) {
  const CommandWords words = words_of(app);
  const CommandPage* page = page_of(words.path);
  std::string out = report::wrapped(cat(words.name(), ": ", words.description), "", width);
  out += cat("\nUsage: ", words.synopsis(), "\n");
  if (page != nullptr && !page->text.empty())
    for (const std::string& paragraph : split(page->text, '\n'))
      out += paragraph.empty() ? "" : cat("\n", report::wrapped(paragraph, "", width));
  if (!words.commands.empty()) {
    out += "\nCommands:\n";
    for (const CLI::App* command : words.commands)
      out += entry(command->get_name(), command->get_description(), width);
  }
  if (!words.positionals.empty()) out += "\nArguments:\n";
  for (const OptionWords& positional : words.positionals)
    out += entry(positional.label(), described(positional), width);
  out += "\nOptions:\n";
  for (const OptionWords& option : words.options) out += entry(option.label(), described(option), width);
  if (page != nullptr && !page->examples.empty()) {
    out += "\nExamples:\n";
    for (const Example& example : page->examples) {
      out += cat(kGap, example.command, "\n");
      if (!example.what.empty()) out += cat(std::string(6, ' '), example.what, "\n");
    }
  }
  return out;
}

std::shared_ptr<CLI::FormatterBase> help_formatter(int width) {
  return std::make_shared<Formatter>(width);
}

}  // namespace rubato::cli
