#include "base/text.h"
#include "cli/words/completion.h"
#include "cli/words/tree.h"

namespace rubato::cli {
namespace {

std::string shell_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' || c == '\\' ? cat("\\", c) : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view prefix = {}) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : " ", prefix, word);
  return out;
}

/// What -a gets; empty where nothing is known of the value.
std::string arguments(const OptionWords& option, const KnownValues& known) {
  if (!option.choices.empty()) return joined(option.choices);
  if (option.value == "RUN") return "last (rubato runs --ids 2>/dev/null)";
  if (option.value == "WORKLOAD") return joined(known.workloads);
  if (option.value == "LIST") return cat("0 ", joined(known.profiles, "sim:"));
  return {};
}

// True while the words so far are exactly this command's, and "--" has not come.
std::string condition(const CommandWords& words) {
  return cat("__rubato_at ", shell_text(words.path));
}

std::string option_line(const CommandWords& words, const OptionWords& option, const KnownValues& known) {
  std::string out = cat("complete -c rubato -n ", shell_text(condition(words)));
  for (const std::string& name : option.shorts) out += cat(" -s ", std::string_view(name).substr(1));
  for (const std::string& name : option.longs) out += cat(" -l ", std::string_view(name).substr(2));
  if (option.value == "FILE")
    out += " -r -F";
  else if (!option.value.empty())
    out += " -x";
  if (const std::string a = arguments(option, known); !option.value.empty() && !a.empty())
    out += cat(" -a ", shell_text(a));
  return cat(out, " -d ", shell_text(option.description), "\n");
}

}  // namespace

std::string fish_completion(const CLI::App& app, const KnownValues& known) {
  std::string paths;
  std::string lines;
  for (const CLI::App* command : all_commands(app)) {
    const CommandWords words = words_of(*command);
    for (const CLI::App* below : words.commands) {
      const std::string path = words_of(*below).path;
      paths += cat("            case ", shell_text(cat(words.path, "|", below->get_name())),
                   "\n                set path ", shell_text(path), "\n");
      lines += cat("complete -c rubato -n ", shell_text(condition(words)), " -a ", below->get_name(), " -d ",
                   shell_text(below->get_description()), "\n");
    }
    for (const OptionWords& option : words.options) lines += option_line(words, option, known);
    for (const OptionWords& positional : words.positionals)
      if (const std::string a = arguments(positional, known); !a.empty())
        lines += cat("complete -c rubato -n ", shell_text(condition(words)), " -a ", shell_text(a), "\n");
  }
  return cat(
      "# fish completion of rubato, made by `rubato completion fish`\n"
      "function __rubato_at\n    set -l path ''\n    for word in (commandline -opc)[2..-1]\n"
      "        test \"$word\" = --; and return 1\n        switch \"$path|$word\"\n",
      paths,
      "        end\n    end\n    test \"$path\" = \"$argv[1]\"\nend\n\ncomplete -c rubato -f\n"
      "complete -c rubato -n 'contains -- -- (commandline -opc)' -F\n",
      lines);
}

}  // namespace rubato::cli
