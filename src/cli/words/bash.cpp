#include "base/text.h"
#include "cli/words/completion.h"
#include "cli/words/tree.h"

namespace rubato::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += cat(out.empty() ? "" : " ", word);
  return out;
}

// The shell code that offers values; empty where nothing is known of them.
std::string offer(const OptionWords& option, const KnownValues& known) {
  const auto of = [](const std::string& words) { return cat("_rubato_offer \"", words, "\""); };
  if (!option.choices.empty()) return of(joined(option.choices));
  if (option.value == "RUN") return of("last $(rubato runs --ids 2>/dev/null)");
  if (option.value == "WORKLOAD") return of(joined(known.workloads));
  if (option.value == "FILE") return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  if (option.value == "LIST") return of("0 sim:");
  return {};
}

}  // namespace

std::string bash_completion(const CLI::App& app, const KnownValues& known) {
  std::string descend;
  std::string values;
  std::string words;
  for (const CLI::App* command : all_commands(app)) {
    const CommandWords all = words_of(*command);
    std::vector<std::string> plain;
    for (const CLI::App* below : all.commands) {
      plain.push_back(below->get_name());
      descend +=
          cat("      \"", all.path, "|", below->get_name(), "\") path=\"", words_of(*below).path, "\" ;;\n");
    }
    for (const OptionWords& option : all.options) {
      for (const auto* names : {&option.shorts, &option.longs})
        for (const std::string& name : *names) {
          plain.push_back(name);
          if (option.value.empty()) continue;
          const std::string code = offer(option, known);
          values += cat("    \"", all.path, "|", name, "\") ", code.empty() ? ":" : code, "; return ;;\n");
        }
    }
    std::string also;
    for (const OptionWords& positional : all.positionals) {
      const std::string code = offer(positional, known);
      if (!code.empty() && also.empty()) also = cat("[[ $cur != -* ]] && { ", code, "; return; }; ");
    }
    words += cat("    \"", all.path, "\") ", also, "_rubato_offer \"", joined(plain), "\" ;;\n");
  }
  return cat(R"(# bash completion of rubato, made by `rubato completion bash`
_rubato_offer() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_rubato() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      # The job's own completion, where the shell has that of other commands.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -c -f -- "$cur"))
      fi
      return
    fi
    case "$path|${COMP_WORDS[i]}" in
)",
             descend, R"(    esac
  done
  # Bash takes sim:v100 for three words.
  if [[ $cur == : && $prev == sim ]]; then
    cur=""; _rubato_offer ")",
             joined(known.profiles), R"("; return
  elif [[ $prev == : && ${COMP_WORDS[COMP_CWORD-2]} == sim ]]; then
    _rubato_offer ")",
             joined(known.profiles), R"("; return
  fi
  case "$path|$prev" in
)",
             values, R"(  esac
  case "$path" in
)",
             words, R"(  esac
}
complete -F _rubato rubato
)");
}

}  // namespace rubato::cli
