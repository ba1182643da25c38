#include "cli/words/explain.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "cli/words/nearest.h"
#include "cli/words/pages.h"
#include "cli/words/tree.h"
#include "cli/words/units.h"
#include "report/format.h"

namespace rubato::cli {
namespace {

using Words = std::vector<std::string>;

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':')) {
    const std::string file = cat(folder, "/", name);
    if (!folder.empty() && access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file))
      return true;
  }
  return false;
}

std::string joined(const Words& words, std::string_view last_word) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += cat(i == 0 ? "" : i + 1 == words.size() ? cat(" ", last_word, " ") : ", ", words[i]);
  return out;
}

std::string help_hint(const CommandWords& command) {
  return cat("`", command.name(), " --help` explains them");
}

// Every option in a line: what the command takes.
std::string takes(const CommandWords& command) {
  Words labels;
  for (const OptionWords& o : command.options)
    if (o.longs != Words{"--help"})
      labels.push_back(cat(o.longs.empty() ? o.label() : o.longs.front(),
                           o.value.empty() || o.longs.empty() ? "" : " " + o.value));
  return labels.empty() ? "it has no options"
                        : cat("it takes ", joined(labels, "and"), "; ", help_hint(command));
}

class Explainer {
 public:
  Explainer(const CLI::App& root, const Typed& typed)
      : root_(root), typed_(typed), at_(&root), words_(words_of(root)) {}

  std::optional<Error> explain() {
    for (next_ = 0; next_ < typed_.words.size(); ++next_) {
      const std::string& word = typed_.words[next_];
      std::optional<Error> wrong = word.size() > 1 && word[0] == '-' ? option(word) : plain(word);
      if (wrong) return wrong;
    }
    return missing();
  }

  [[nodiscard]] std::string help() const { return cat(words_.name(), " --help"); }

 private:
  static Error usage(std::string what, std::string hint) {
    return Error{ErrorCode::invalid_argument, std::move(what), std::move(hint)};
  }

  const OptionWords* find(std::string_view name) const {
    for (const OptionWords& o : words_.options)
      for (const auto* names : {&o.shorts, &o.longs})
        if (std::ranges::find(*names, name) != names->end()) return &o;
    return nullptr;
  }

  // "-qv" is two flags; "-ofile" an option and its value.
  std::optional<Error> option(const std::string& word) {
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string::npos;
    const std::string name = word.substr(0, equals);
    const OptionWords* known = find(name);
    if (known == nullptr && !word.starts_with("--")) {
      known = find(word.substr(0, 2));
      if (known != nullptr && (word.size() == 2 || known->value.empty() || !known->shorts.empty()))
        return std::nullopt;
    }
    if (known == nullptr) return unknown_option(name);
    if (known->value.empty())
      return equals == std::string::npos
                 ? std::nullopt
                 : std::optional(usage(cat(name, " takes no value, so ", word, " means nothing"), name));
    if (equals != std::string::npos) return value(*known, name, word.substr(equals + 1));
    const bool there = next_ + 1 < typed_.words.size();
    if (!there || typed_.words[next_ + 1].starts_with("--"))
      return usage(cat(name, " needs a value: ", known->description), example_of(*known, name));
    return value(*known, name, typed_.words[++next_]);
  }

  std::optional<Error> value(const OptionWords& option, const std::string& name,
                             const std::string& text) const {
    if (!option.choices.empty() && std::ranges::find(option.choices, text) == option.choices.end()) {
      const auto meant = nearest(text, option.choices);
      return usage(cat(name, " ", text, " is none of ", joined(option.choices, "and")),
                   meant ? cat(name, " ", *meant) : help_hint(words_));
    }
    if (!is_number(option)) return std::nullopt;
    if (const auto given = parse_number(text)) {
      if (option.positive && *given <= 0)
        return usage(cat(name, " takes a number above 0, not ", text), example_of(option, name));
      if (option.not_negative && *given < 0)
        return usage(cat(name, " takes a number that is not below 0, not ", text), example_of(option, name));
      if (option.range && (*given < option.range->first || *given > option.range->second))
        return usage(cat(name, " takes a number from ", number(option.range->first, 2), " to ",
                         number(option.range->second, 2), ", not ", text),
                     help_hint(words_));
      if (option.whole && !parse_integer(text))
        return usage(cat(name, " takes a whole number, not ", text), example_of(option, name));
      return std::nullopt;
    }
    const auto plain = plain_number(option.value, text);
    const std::string_view unit = unit_words(option.value);
    const std::string_view what =
        option.value == "SHARE" ? "a share, from 0 to 1, as a plain number" : "a plain number";
    return usage(cat(name, " takes ", what, unit.empty() ? "" : " of ", unit, ", not ", text),
                 plain ? cat(name, " ", *plain) : example_of(option, name));
  }

  static std::string example_of(const OptionWords& option, const std::string& name) {
    if (!option.choices.empty()) return cat(name, " ", option.choices.front());
    const std::string example = option.value == "W"           ? "150"
                                : option.value == "MHZ"       ? "1005"
                                : option.value == "PERCENT"   ? "5%"
                                : option.value == "SHARE"     ? "0.5"
                                : option.value == "G_PER_KWH" ? "400"
                                : is_number(option)           ? "10"
                                                              : option.value;
    return cat(name, " ", example);
  }

  Error unknown_option(const std::string& name) const {
    Words known;
    for (const OptionWords& o : words_.options) known.insert(known.end(), o.longs.begin(), o.longs.end());
    if (const auto meant = nearest(name, known))
      return usage(cat("`", words_.name(), "` has no option ", name, "; the nearest is ", *meant),
                   takes(words_));
    Words elsewhere;
    for (const CLI::App* command : all_commands(root_)) {
      const CommandWords other = words_of(*command);
      for (const OptionWords& o : other.options)
        if (std::ranges::find(o.longs, name) != o.longs.end())
          elsewhere.push_back(cat("`", other.name(), "`"));
    }
    return usage(cat("`", words_.name(), "` has no option ", name,
                     elsewhere.empty() ? ""
                                       : cat("; ", joined(elsewhere, "and"),
                                             elsewhere.size() == 1 ? " has it" : " have it")),
                 takes(words_));
  }

  std::optional<Error> plain(const std::string& word) {
    for (const CLI::App* command : words_.commands)
      if (command->get_name() == word) {
        at_ = command;
        words_ = words_of(*at_);
        given_ = 0;
        return std::nullopt;
      }
    if (given_ < words_.positionals.size()) {
      const OptionWords& positional = words_.positionals[given_++];
      return value(positional, positional.value, word);
    }
    if (!words_.commands.empty()) return unknown_command(word);
    const CommandPage* page = page_of(words_.path);
    if (page != nullptr && page->after_options.find("--") != std::string_view::npos && !typed_.separated)
      return missing_separator(word);
    return usage(cat("`", words_.name(), "` takes ", words_.positionals.empty() ? "no" : "no further",
                     " argument, and there is ", word),
                 cat("usage: ", words_.synopsis()));
  }

  Error missing_separator(const std::string& word) const {
    Words fixed = {"rubato"};
    const auto here = typed_.words.begin() + static_cast<std::ptrdiff_t>(next_);
    fixed.insert(fixed.end(), typed_.words.begin(), here);
    fixed.emplace_back("--");
    fixed.insert(fixed.end(), here, typed_.words.end());
    return usage(cat("the command has to stand behind --, so that its options are not taken for rubato's: ",
                     word, " does not"),
                 report::command_line(fixed));
  }

  Error unknown_command(const std::string& word) const {
    Words known;
    for (const CLI::App* command : words_.commands) known.push_back(command->get_name());
    if (const auto meant = nearest(word, known))
      return usage(cat("`", words_.name(), "` has no command ", word, "; the nearest is ", *meant),
                   cat(words_.name(), " ", *meant));
    if (words_.path.empty() && is_program(word)) {
      Words fixed = {"rubato", "measure", "--"};
      const auto here = typed_.words.begin() + static_cast<std::ptrdiff_t>(next_);
      fixed.insert(fixed.end(), here, typed_.words.end());
      return usage(cat(word, " is a program, not a command of rubato"), report::command_line(fixed));
    }
    return usage(cat("`", words_.name(), "` has no command ", word, "; there ",
                     known.size() == 1 ? "is " : "are ", joined(known, "and")),
                 cat(words_.name(), " --help"));
  }

  // Nothing that was typed is wrong, so something was not typed.
  std::optional<Error> missing() const {
    if (!words_.commands.empty()) {
      Words known;
      for (const CLI::App* command : words_.commands) known.push_back(command->get_name());
      return usage(cat("`", words_.name(), "` needs a command: ", joined(known, "or")),
                   words_.path.empty()
                       ? "`rubato --help` explains them, `rubato doctor` looks at this machine"
                       : help_hint(words_));
    }
    std::string lacking;
    for (std::size_t i = given_; i < words_.positionals.size(); ++i)
      if (words_.positionals[i].required && lacking.empty())
        lacking = cat(words_.positionals[i].value, ", ", words_.positionals[i].description);
    for (const OptionWords& o : words_.options) {
      const bool given = std::ranges::any_of(typed_.words, [&](const std::string& word) {
        return std::ranges::any_of(o.longs, [&](const std::string& l) { return word.starts_with(l); });
      });
      if (o.required && !given && lacking.empty()) lacking = cat(o.label(), ", ", o.description);
    }
    if (lacking.empty()) return std::nullopt;
    const CommandPage* page = page_of(words_.path);
    return usage(cat("`", words_.name(), "` needs ", lacking),
                 page != nullptr && !page->examples.empty() ? std::string(page->examples.front().command)
                                                            : cat("usage: ", words_.synopsis()));
  }

  const CLI::App& root_;
  const Typed& typed_;
  const CLI::App* at_;
  CommandWords words_;
  std::size_t next_ = 0;
  std::size_t given_ = 0;  // positionals of the present command
};

}  // namespace

Error explain(const CLI::App& app, const Typed& typed, const std::string& library_words) {
  Explainer explainer(app, typed);
  if (auto error = explainer.explain()) return std::move(*error);
  return Error{ErrorCode::invalid_argument, library_words, explainer.help()};
}

}  // namespace rubato::cli
