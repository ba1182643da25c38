#include "daemon/config.h"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <set>

#include "base/fs_root.h"
#include "base/percent.h"
#include "base/text.h"
#include "base/toml_guard.h"
#include "base/toml_parser.h"

namespace rubato::daemon {
namespace {

constexpr std::string_view kFormat = "docs/daemon.md shows the format";

/// One table of the file: each key is read once, and what nobody read is a mistake.
class Table {
 public:
  Table(const toml::table& table, std::string file, std::string name)
      : table_(table), file_(std::move(file)), name_(std::move(name)) {}

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view key, std::string_view needed) const {
    const toml::node* node = table_.get(key);
    return fail(ErrorCode::invalid_argument,
                cat(file_, ":", node == nullptr ? table_.source().begin.line : node->source().begin.line,
                    ": ", name_, name_.empty() ? "" : ", ", key, ": ", needed),
                std::string(kFormat));
  }

  template <class T>
  Status read(std::string_view key, T& to, std::string_view needed) {
    read_.emplace(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<T>();
    if (!value) return wrong(key, cat("needed ", needed));
    to = *value;
    return {};
  }
  Status positive(std::string_view key, double& to) {
    const toml::node* node = table_.get(key);
    read_.emplace(key);
    if (node == nullptr) return {};
    const auto value = node->is_number() ? node->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value <= 0 || *value > 1e9)
      return wrong(key, "needed a number above zero");
    to = *value;
    return {};
  }
  template <class Quantity>
  Status quantity(std::string_view key, std::optional<Quantity>& to) {
    double value = 0;
    if (Status fine = positive(key, value); !fine) return fine;
    if (value > 0) to = Quantity(value);
    return {};
  }
  /// Texts and whole numbers, as texts; one alone counts as a list of one.
  Result<std::vector<std::string>> list(std::string_view key) {
    read_.emplace(key);
    std::vector<std::string> texts;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return texts;
    const auto add = [&texts](const toml::node& one) {
      if (const auto* text = one.as_string()) texts.push_back(text->get());
      if (const auto* whole = one.as_integer()) texts.push_back(std::to_string(whole->get()));
      return one.is_string() || one.is_integer();
    };
    const toml::array* array = node->as_array();
    bool fine = array != nullptr ? !array->empty() : add(*node);
    // An empty list would mean everybody: surely not what was meant.
    if (array != nullptr)
      for (const toml::node& one : *array) fine = add(one) && fine;
    if (!fine) return wrong(key, "needed a list of names or numbers that is not empty");
    return texts;
  }
  [[nodiscard]] const toml::node* node(std::string_view key) {
    read_.emplace(key);
    return table_.get(key);
  }

  /// After everything was read.
  [[nodiscard]] Status all_known() const {
    for (const auto& [key, value] : table_)
      if (!read_.contains(std::string(key.str()))) return wrong(key.str(), "there is no such key");
    return {};
  }

 private:
  const toml::table& table_;
  std::string file_;
  std::string name_;
  std::set<std::string> read_;
};

template <class Id>
Status read_ids(Table& table, std::string_view key, std::string_view kind,
                const std::function<std::optional<Id>(const std::string&)>& find, std::vector<Id>& to) {
  const auto names = table.list(key);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const auto whole = parse_integer(name);
    const auto id = whole && *whole >= 0 && *whole < (std::int64_t{1} << 32)
                        ? std::optional<Id>(static_cast<Id>(*whole))
                        : find(name);
    if (!id) return table.wrong(key, cat("there is no ", kind, " '", name, "' here"));
    to.push_back(*id);
  }
  return {};
}

Status read_jobs(Table& table, Rule& rule) {
  const auto jobs = table.list("slurm_jobs");
  if (!jobs) return fail(jobs.error());
  for (const std::string& text : *jobs) {
    const auto job = parse_integer(text);
    if (!job || *job <= 0) return table.wrong("slurm_jobs", "needed numbers of jobs");
    rule.slurm_jobs.push_back(*job);
  }
  return {};
}

Status read_knobs(Table& table, Rule& rule) {
  const auto knobs = table.list("knobs");
  if (!knobs) return fail(knobs.error());
  for (const std::string& name : *knobs) {
    const auto knob = parse_knob(name);
    if (!knob) return table.wrong("knobs", knob.error().what);
    rule.knobs.push_back(*knob);
  }
  return {};
}

/// "5%" or 0.05.
Status read_slowdown(Table& table, Rule& rule) {
  const toml::node* node = table.node("max_slowdown");
  if (node == nullptr) return {};
  const auto* text = node->as_string();
  const auto number_of = node->is_number() ? node->value<double>() : std::nullopt;
  if (number_of == 1.0)
    return table.wrong("max_slowdown", "may be 1 % or 100 %; write it as \"1%\" or \"100%\"");
  const auto value = text != nullptr && text->get().ends_with('%') ? parse_share(text->get()) : number_of;
  if (!value || !(*value >= 0 && *value <= 1))
    return table.wrong("max_slowdown", "needed a share between 0 and 100 %, as in \"5%\"");
  rule.max_slowdown = *value;
  return {};
}

Result<Rule> read_rule(Table table, std::size_t number, const Names& names) {
  Rule rule{.name = cat(number)};
  const std::array<Status, 13> steps = {table.read("name", rule.name, "a text"),
                                        read_ids<uid_t>(table, "users", "user", names.user, rule.users),
                                        read_ids<gid_t>(table, "groups", "group", names.group, rule.groups),
                                        read_jobs(table, rule),
                                        table.read("slurm", rule.any_slurm_job, "true or false"),
                                        table.read("allow", rule.allow, "true or false"),
                                        table.read("shared", rule.shared, "true or false"),
                                        table.read("user_namespaces", rule.user_namespaces, "true or false"),
                                        read_knobs(table, rule),
                                        read_slowdown(table, rule),
                                        table.quantity("min_power_limit_w", rule.min_power_limit),
                                        table.quantity("max_power_limit_w", rule.max_power_limit),
                                        table.quantity("min_sm_clock_mhz", rule.min_sm_clock)};
  for (const Status& step : steps)
    if (!step) return fail(step.error());
  if (Status fine = table.quantity("min_memory_clock_mhz", rule.min_memory_clock); !fine)
    return fail(fine.error());
  auto cgroups = table.list("cgroups");
  if (!cgroups) return fail(cgroups.error());
  for (const std::string& path : *cgroups)
    if (!path.starts_with('/')) return table.wrong("cgroups", "a path begins with '/'");
  rule.cgroups = std::move(*cgroups);
  const auto uuids = table.list("gpus");
  if (!uuids) return fail(uuids.error());
  for (const std::string& uuid : *uuids) {
    if (!uuid.starts_with("GPU-")) return table.wrong("gpus", "a rule names GPUs by their whole UUID");
    rule.gpus.push_back(GpuId{uuid});
  }
  if (rule.min_power_limit && rule.max_power_limit && *rule.min_power_limit > *rule.max_power_limit)
    return table.wrong("min_power_limit_w", "is above max_power_limit_w");
  if (Status known = table.all_known(); !known) return fail(known.error());
  return rule;
}

Result<NeverDuring> read_never(Table table, std::size_t number) {
  NeverDuring never{cat(number), {}, {}};
  for (const auto& [key, to] :
       {std::pair{"name", &never.name}, std::pair{"process", &never.process}, std::pair{"file", &never.file}})
    if (Status fine = table.read(key, *to, "a text"); !fine) return fail(fine.error());
  if (never.process.empty() == never.file.empty())
    return table.wrong("process", "needed either process or file");
  if (Status known = table.all_known(); !known) return fail(known.error());
  return never;
}

/// Calls `read` for every [[name]].
template <class Read>
Status each_table(Table& top, std::string_view key, const std::string& file, Read read) {
  const toml::node* node = top.node(key);
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) return top.wrong(key, cat("write it as [[", key, "]]"));
  std::size_t number = 0;
  for (const toml::node& one : *array) {
    const toml::table* table = one.as_table();
    if (table == nullptr) return top.wrong(key, cat("write it as [[", key, "]]"));
    ++number;
    if (Status fine = read(Table(*table, file, cat("[[", key, "]] ", number)), number); !fine) return fine;
  }
  return {};
}

Status read_rates(Table& top, const std::string& file, Rates& rates) {
  const toml::node* node = top.node("rates");
  if (node == nullptr) return {};
  if (!node->is_table()) return top.wrong("rates", "write it as [rates]");
  Table table(*node->as_table(), file, "[rates]");
  double connections = rates.connections;
  double per_user = rates.connections_per_user;
  for (const auto& [key, to] :
       {std::pair{"messages_per_s", &rates.messages_per_s},
        std::pair{"user_messages_per_s", &rates.user_messages_per_s},
        std::pair{"settings_per_s", &rates.settings_per_s}, std::pair{"leases_per_s", &rates.leases_per_s},
        std::pair{"connections", &connections}, std::pair{"connections_per_user", &per_user}})
    if (Status fine = table.positive(key, *to); !fine) return fine;
  constexpr double kMost = 1e6;
  if (connections < 1 || per_user < 1 || connections > kMost || per_user > kMost)
    return table.wrong("connections", "needed whole numbers from 1 to 1000000");
  rates.connections = static_cast<unsigned>(connections);
  rates.connections_per_user = static_cast<unsigned>(per_user);
  return table.all_known();
}

Status read_top(Table& top, const std::string& file, const Names& names, Config& config) {
  std::string mode(name_of(config.rules.mode));
  std::string socket;
  std::string audit;
  std::string disable = config.disable_file.string();
  for (const auto& [key, to] : {std::pair{"mode", &mode}, std::pair{"socket", &socket},
                                std::pair{"audit_log", &audit}, std::pair{"disable_file", &disable}})
    if (Status fine = top.read(key, *to, "a text"); !fine) return fine;
  if (mode != "observe" && mode != "manage") return top.wrong("mode", "needed \"observe\" or \"manage\"");
  config.rules.mode = mode == "manage" ? Mode::manage : Mode::observe;
  for (const auto& [key, text] :
       {std::pair{"socket", &socket}, std::pair{"audit_log", &audit}, std::pair{"disable_file", &disable}})
    if (!text->empty() && !text->starts_with('/')) return top.wrong(key, "a path begins with '/'");
  config.socket = socket;
  config.audit_log = audit;
  config.disable_file = disable;
  const auto gpus = top.list("gpus");
  if (!gpus) return fail(gpus.error());
  for (const std::string& gpu : *gpus) config.gpus += cat(config.gpus.empty() ? "" : ",", gpu);
  if (Status fine = top.quantity("node_power_budget_w", config.rules.node_power_budget); !fine) return fine;
  if (Status fine = read_rates(top, file, config.rules.rates); !fine) return fine;
  std::vector<Rule> rules;
  Status fine = each_table(top, "rule", file, [&](Table table, std::size_t number) -> Status {
    auto rule = read_rule(std::move(table), number, names);
    if (!rule) return fail(rule.error());
    rules.push_back(std::move(*rule));
    return {};
  });
  if (!fine) return fine;
  if (!rules.empty()) config.rules.rules = std::move(rules);
  fine = each_table(top, "never_during", file, [&](Table table, std::size_t number) -> Status {
    auto never = read_never(std::move(table), number);
    if (!never) return fail(never.error());
    config.rules.never.push_back(std::move(*never));
    return {};
  });
  if (!fine) return fine;
  return top.all_known();
}

}  // namespace

Names names_of_this_machine() {
  return {[](const std::string& name) -> std::optional<uid_t> {
            const passwd* entry = ::getpwnam(name.c_str());
            return entry == nullptr ? std::nullopt : std::optional(entry->pw_uid);
          },
          [](const std::string& name) -> std::optional<gid_t> {
            const group* entry = ::getgrnam(name.c_str());
            return entry == nullptr ? std::nullopt : std::optional(entry->gr_gid);
          }};
}

Result<Config> parse_config(std::string_view text, const std::string& file, const Names& names) {
  if (const auto fault = find_toml_fault(text))
    return fail(ErrorCode::corrupt, cat(file, ":", fault->line, ": found ", fault->what),
                std::string(kFormat));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return fail(ErrorCode::corrupt,
                cat(file, ":", parsed.error().source().begin.line, ": ", parsed.error().description()),
                std::string(kFormat));
  Config config;
  Table top(parsed.table(), file, {});
  if (Status fine = read_top(top, file, names, config); !fine) return fail(fine.error());
  return config;
}

Result<Config> read_config(const std::filesystem::path& file, const Names& names) {
  struct stat state {};
  if (::stat(file.c_str(), &state) != 0)
    return fail(from_errno(errno, cat("cannot read the configuration ", file.string()),
                           "docs/daemon.md shows one to begin with; "
                           "without --config rubatod only observes"));
  const bool ours = state.st_uid == 0 || state.st_uid == ::geteuid();
  if (!ours || (state.st_mode & 022U) != 0)
    return fail(ErrorCode::no_permission,
                cat(file.string(), " says who may set GPUs, and user ", state.st_uid,
                    ours ? ", its group or anybody" : "", " may write it"),
                cat("chown root:root ", file.string(), "; chmod 644 ", file.string()));
  const auto text = read_small_file(file);
  if (!text) return fail(text.error());
  return parse_config(*text, file.string(), names);
}

}  // namespace rubato::daemon
