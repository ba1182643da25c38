#include <algorithm>

#include "base/text.h"
#include "cli/words/completion.h"
#include "cli/words/pages.h"
#include "cli/words/tree.h"

namespace rubato::cli {
namespace {

std::string function_of(const CommandWords& command) {
  std::string name = cat("_", command.name());
  std::ranges::replace(name, ' ', '_');
  return name;
}

// Inside single quotes; brackets and colons mean something to _arguments.
std::string shell_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '[' || c == ']' || c == ':')
      out += cat("\\", c);
    else
      out += c;
  }
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : " ", word);
  return out;
}

std::string action(const OptionWords& option, const KnownValues& known) {
  if (!option.choices.empty()) return cat("(", joined(option.choices), ")");
  if (option.value == "RUN") return "_rubato_runs";
  if (option.value == "WORKLOAD") return cat("(", joined(known.workloads), ")");
  if (option.value == "FILE") return "_files";
  if (option.value == "LIST") {
    std::string words = "0";
    for (const std::string& profile : known.profiles) words += cat(" sim\\:", profile);
    return cat("(", words, ")");
  }
  return " ";
}

std::string specification(const OptionWords& option, const KnownValues& known) {
  const std::string value =
      option.value.empty() ? "" : cat(":", shell_text(option.value), ":", action(option, known));
  std::vector<std::string> names = option.shorts;
  names.insert(names.end(), option.longs.begin(), option.longs.end());
  std::string out;
  for (const std::string& name : names) {
    const std::string exclusive = names.size() > 1 ? cat("(", joined(names), ")") : "";
    out += cat("    '", exclusive, name, "[", shell_text(option.description), "]", value, "' \\\n");
  }
  return out;
}

std::string function(const CLI::App& app, const KnownValues& known) {
  const CommandWords words = words_of(app);
  std::string options;
  for (const OptionWords& option : words.options) options += specification(option, known);
  if (words.commands.empty()) {
    for (const OptionWords& p : words.positionals)
      options += cat("    '", p.required ? ":" : "::", shell_text(p.value), ":", action(p, known), "' \\\n");
    const CommandPage* page = page_of(words.path);
    if (page != nullptr && page->after_options.find("--") != std::string_view::npos)
      options += "    '*::command:_normal' \\\n";
    return cat(function_of(words), "() {\n  _arguments -s \\\n", options, "    && return\n}\n\n");
  }
  std::string described;
  std::string below;
  for (const CLI::App* command : words.commands) {
    described += cat("        '", command->get_name(), ":", shell_text(command->get_description()), "'\n");
    below += cat("        ", command->get_name(), ") ", function_of(words_of(*command)), " ;;\n");
  }
  return cat(
      function_of(words), "() {\n  local context state line\n  typeset -A opt_args\n  _arguments -C \\\n",
      options,
      "    '1: :->command' '*:: :->rest' && return\n  case $state in\n    command)\n      local -a "
      "commands=(\n",
      described,
      "      )\n      _describe -t commands command commands\n      ;;\n    rest)\n      case $words[1] in\n",
      below, "      esac\n      ;;\n  esac\n}\n\n");
}

}  // namespace

std::string zsh_completion(const CLI::App& app, const KnownValues& known) {
  std::string out =
      "#compdef rubato\n# zsh completion of rubato, made by `rubato completion zsh`\n\n"
      "_rubato_runs() {\n  local -a runs=(last ${(f)\"$(rubato runs --ids 2>/dev/null)\"})\n  _describe run "
      "runs\n}\n\n";
  for (const CLI::App* command : all_commands(app)) out += function(*command, known);
  // Loaded from $fpath the file is the function; read by `source` it has to be announced.
  return out +
         "if [[ $funcstack[1] == _rubato ]]; then\n  _rubato \"$@\"\nelse\n  compdef _rubato rubato\nfi\n";
}

}  // namespace rubato::cli
