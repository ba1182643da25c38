#include "cli/words/help.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "cli/invocation.h"
#include "cli/print_run.h"
#include "cli/version.h"
#include "cli/words/explain.h"
#include "cli/words/man.h"
#include "cli/words/tree.h"
#include "report/render.h"

namespace rubato::cli {
namespace {

struct Options {
  std::vector<std::string> path;
  bool man = false;
  bool json = false;
  std::string folder;
};

int write_pages(const CLI::App& app, Invocation& invocation, const std::string& folder) {
  for (const CLI::App* command : all_commands(app)) {
    const std::string file = cat(folder, "/", man_name(*command), ".1");
    if (const Status written = write_report(man_page(*command, kVersion), file, STDOUT_FILENO); !written)
      return refuse(invocation, written.error(), 1);
  }
  return 0;
}

report::Value strings(const std::vector<std::string>& all) {
  report::Array out;
  for (const std::string& one : all) out.emplace_back(one);
  return out;
}

report::Value option_json(const OptionWords& option) {
  std::vector<std::string> names = option.longs;
  names.insert(names.end(), option.shorts.begin(), option.shorts.end());
  const auto or_missing = [](const std::string& text, const char* why) {
    return text.empty() ? report::Value(report::Missing{why}) : report::Value(text);
  };
  return report::Object{{"names", strings(names)},
                        {"value", or_missing(option.value, "a flag")},
                        {"choices", strings(option.choices)},
                        {"default", or_missing(option.by_default, "none is stated")},
                        {"required", option.required},
                        {"description", option.description}};
}

/// `at` and everything below it.
report::Value help_json(const CLI::App& at) {
  report::Array commands;
  for (const CLI::App* each : all_commands(at)) {
    const CommandWords words = words_of(*each);
    const auto all = [](const std::vector<OptionWords>& list) {
      report::Array out;
      for (const OptionWords& option : list) out.push_back(option_json(option));
      return out;
    };
    commands.emplace_back(report::Object{{"command", words.name()},
                                         {"synopsis", words.synopsis()},
                                         {"description", words.description},
                                         {"group", !words.commands.empty()},
                                         {"arguments", all(words.positionals)},
                                         {"options", all(words.options)}});
  }
  return report::Object{
      {"schema", "rubato.help/1"}, {"version", kVersion}, {"commands", std::move(commands)}};
}

int help(const CLI::App& app, Invocation& invocation, const Options& options) {
  if (!options.folder.empty()) return write_pages(app, invocation, options.folder);
  const CLI::App* at = &app;
  for (const std::string& name : options.path) {
    const auto below =
        at->get_subcommands([&name](const CLI::App* command) { return command->get_name() == name; });
    if (below.empty()) return refuse(invocation, explain(app, {options.path, {}, false}, ""));
    at = below.front();
  }
  if (options.json)
    fmt::print("{}", report::render_json(help_json(*at)));
  else if (options.man)
    fmt::print("{}", man_page(*at, kVersion));
  else
    fmt::print("{}", help_text(*at, text_options(STDOUT_FILENO).width));
  return 0;
}

}  // namespace

void add_help(CLI::App& app, Invocation& invocation) {
  auto* command = app.add_subcommand("help", "what a command does and takes");
  static Options options;
  command->add_option("command", options.path, "the command; without it all of them")->type_name("COMMAND");
  command->add_flag("--man", options.man, "as a manual page, for man -l -");
  command->add_flag("--json", options.json, "every command and option, for a program (rubato.help/1)");
  command->add_option("--man-pages", options.folder, "write the manual pages of every command to FOLDER")
      ->type_name("FOLDER");
  command->callback([&app, &invocation] { help(app, invocation, options); });
}

}  // namespace rubato::cli
