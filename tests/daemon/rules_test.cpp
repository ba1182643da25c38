// What an administrator writes, who is meant by it, and what is written down.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "daemon/audit.h"
#include "daemon/config.h"
#include "daemon/surroundings.h"

namespace rubato::daemon {
namespace {

using ::testing::HasSubstr;

const Names kNames{
    [](const std::string& name) { return name == "alice" ? std::optional<uid_t>(1001) : std::nullopt; },
    [](const std::string& name) { return name == "ml" ? std::optional<gid_t>(2000) : std::nullopt; }};

Result<Config> parse(std::string_view text) {
  return parse_config(text, "rubatod.toml", kNames);
}

TEST(Config, AnEmptyFileObservesAndIsForEverybody) {
  const Config config = parse("").value();
  EXPECT_EQ(config.rules.mode, Mode::observe);
  EXPECT_EQ(config.disable_file, "/etc/rubato/disable");
  EXPECT_NE(rule_for(config.rules, Caller{.uid = 4711}, {"GPU-a"}), nullptr);
}

TEST(Config, EveryKeyIsRead) {
  const Config config = parse(R"(
mode = "manage"
gpus = [0, "GPU-b"]
socket = "/run/x.sock"
audit_log = "/var/log/rubato/audit.jsonl"
disable_file = "/etc/off"
node_power_budget_w = 2400
[rates]
messages_per_s = 50
user_messages_per_s = 60
settings_per_s = 2.5
leases_per_s = 1
connections = 10
connections_per_user = 3
[[rule]]
name = "ml"
users = ["alice", 1002]
groups = "ml"
slurm_jobs = [12, 13]
slurm = true
cgroups = ["/system.slice/jobs"]
gpus = ["GPU-a"]
knobs = ["power-limit"]
min_power_limit_w = 150
max_power_limit_w = 300.5
min_sm_clock_mhz = 900
min_memory_clock_mhz = 5000
max_slowdown = "5%"
shared = true
user_namespaces = true
[[rule]]
allow = false
max_slowdown = 0.1
[[never_during]]
name = "health check"
process = "dcgmi"
[[never_during]]
file = "/run/check"
)")
                            .value();
  EXPECT_EQ(config.rules.mode, Mode::manage);
  EXPECT_EQ(config.gpus, "0,GPU-b");
  EXPECT_EQ(config.socket, "/run/x.sock");
  EXPECT_EQ(config.audit_log, "/var/log/rubato/audit.jsonl");
  EXPECT_EQ(config.disable_file, "/etc/off");
  EXPECT_EQ(config.rules.node_power_budget, 2400_W);
  EXPECT_EQ(config.rules.rates.settings_per_s, 2.5);
  EXPECT_EQ(config.rules.rates.connections_per_user, 3U);
  EXPECT_EQ(config.rules.rates.user_messages_per_s, 60);
  ASSERT_EQ(config.rules.rules.size(), 2U);
  const Rule& rule = config.rules.rules[0];
  EXPECT_EQ(rule.users, (std::vector<uid_t>{1001, 1002}));
  EXPECT_EQ(rule.groups, std::vector<gid_t>{2000});
  EXPECT_EQ(rule.slurm_jobs, (std::vector<std::int64_t>{12, 13}));
  EXPECT_TRUE(rule.any_slurm_job);
  EXPECT_EQ(rule.knobs, std::vector<Knob>{Knob::power_limit});
  EXPECT_EQ(rule.max_power_limit, Watts(300.5));
  EXPECT_EQ(rule.min_memory_clock, 5000_MHz);
  EXPECT_EQ(rule.max_slowdown, 0.05);
  EXPECT_TRUE(rule.shared);
  EXPECT_TRUE(rule.user_namespaces);
  EXPECT_FALSE(config.rules.rules[1].allow);
  EXPECT_EQ(config.rules.rules[1].name, "2");
  EXPECT_EQ(config.rules.never.at(1).file, "/run/check");
}

TEST(Config, WhatIsWrongIsNamedWithItsLine) {
  const std::pair<std::string, std::string> wrong[] = {
      {"mode = \"manages\"", "rubatod.toml:1"},
      {"\nmod = \"manage\"", "rubatod.toml:2: mod: there is no such key"},
      {"[[rule]]\nusers = [\"bob\"]", "there is no user 'bob' here"},
      {"[[rule]]\nusers = []", "not empty"},
      {"[[rule]]\nusers = [-1]", "there is no user '-1' here"},
      {"[[rule]]\nuser = [1]", "user: there is no such key"},
      {"[[rule]]\nmax_slowdown = 5", "max_slowdown"},
      {"[[rule]]\nmax_slowdown = 1", "1 % or 100 %"},
      {"[[rule]]\nmax_slowdown = \"5\"", "max_slowdown"},
      {"[[rule]]\nknobs = [\"voltage\"]", "knobs"},
      {"[[rule]]\nmin_power_limit_w = -1", "above zero"},
      {"[[rule]]\nmin_power_limit_w = nan", "above zero"},
      {"[[rule]]\nmin_power_limit_w = 200\nmax_power_limit_w = 100", "above max_power_limit_w"},
      {"[[rule]]\ncgroups = [\"jobs\"]", "begins with '/'"},
      {"[[rule]]\ngpus = [0]", "whole UUID"},
      {"[[rule]]\nshared = 1", "true or false"},
      {"[rule]\nname = \"a\"", "[[rule]]"},
      {"[[never_during]]\nname = \"a\"", "either process or file"},
      {"[rates]\nconnections = 0", "above zero"},
      {"audit_log = \"log\"", "begins with '/'"},
      {"a = ", "rubatod.toml:1"},
      {"ä = 1", "rubatod.toml:1"}};
  for (const auto& [text, words] : wrong) {
    const auto config = parse(text);
    ASSERT_FALSE(config.has_value()) << text;
    EXPECT_THAT(config.error().what, HasSubstr(words)) << text;
    EXPECT_FALSE(config.error().hint.empty()) << text;
  }
}

TEST(Config, AFileThatOthersMayWriteIsNotBelieved) {
  const auto file = std::filesystem::path(::testing::TempDir()) / cat("rubatod-", ::getpid(), ".toml");
  std::ofstream(file) << "mode = \"manage\"\n";
  std::filesystem::permissions(file, std::filesystem::perms(0644));
  EXPECT_TRUE(read_config(file, kNames).has_value());
  std::filesystem::permissions(file, std::filesystem::perms(0664));
  EXPECT_EQ(read_config(file, kNames).error().code, ErrorCode::no_permission);
  std::filesystem::remove(file);
  const auto missing = read_config(file, kNames);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_THAT(missing.error().what, HasSubstr(file.string()));
  EXPECT_THAT(missing.error().hint, HasSubstr("only observes"));
}

TEST(Rules, TheFirstRuleThatIsForTheCallerCounts) {
  const Caller alice{
      .uid = 1001, .gid = 100, .groups = {2000}, .pid = 1, .cgroup = "/user.slice/a", .slurm_job = 12};
  const auto first = [&alice](Rule rule) {
    rule.name = "it";
    Rules rules;
    rules.rules = {std::move(rule), Rule{.name = "all"}};
    return rule_for(rules, alice, {"GPU-a"})->name == "it";
  };
  EXPECT_TRUE(first({}));
  EXPECT_TRUE(first({.users = {5, 1001}}));
  EXPECT_FALSE(first({.users = {5}}));
  EXPECT_TRUE(first({.groups = {100}}));
  EXPECT_TRUE(first({.groups = {2000}}));
  EXPECT_FALSE(first({.groups = {2001}}));
  EXPECT_FALSE(first({.users = {1001}, .groups = {2001}})) << "every list must hold";
  EXPECT_TRUE(first({.slurm_jobs = {12}}));
  EXPECT_FALSE(first({.slurm_jobs = {13}}));
  EXPECT_TRUE(first({.any_slurm_job = true}));
  EXPECT_TRUE(first({.cgroups = {"/user.slice"}}));
  EXPECT_TRUE(first({.cgroups = {"/user.slice/"}}));
  EXPECT_FALSE(first({.cgroups = {"/user.sli"}})) << "a path, not a beginning of one";
  EXPECT_TRUE(first({.gpus = {{"GPU-a"}}}));
  EXPECT_FALSE(first({.gpus = {{"GPU-b"}}}));
}

TEST(Rules, InAUserNamespaceOnlyRulesThatSaySoAllowAndEveryRuleForbids) {
  const Caller inside{.uid = 100'007, .pid = 7, .began = 1, .in_user_namespace = true};
  const wire::Acquire wanted{{{"GPU-a"}}, {Knob::power_limit}, {}};
  Rules rules;
  const Status refused = may_lease(rules, inside, wanted);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().what, HasSubstr("user 100007 (process 7, in a user namespace)"));
  EXPECT_THAT(refused.error().hint, HasSubstr("user_namespaces = true"));
  rules.rules = {Rule{.name = "all"}, Rule{.name = "containers", .user_namespaces = true}};
  EXPECT_EQ(rule_for(rules, inside, {"GPU-a"})->name, "containers");
  rules.rules.insert(rules.rules.begin(), Rule{.name = "not they", .users = {100'007}, .allow = false});
  EXPECT_EQ(rule_for(rules, inside, {"GPU-a"})->name, "not they");
}

TEST(Caller, OnlySlurmsOwnCgroupsMakeASlurmJob) {
  EXPECT_EQ(slurm_job_of("12:memory:/slurm/uid_1001/job_42/step_0/task_0\n"), 42);
  EXPECT_EQ(slurm_job_of("4:cpuset:/slurm_n1/uid_1001/job_43/step_batch\n"), 43);
  EXPECT_EQ(slurm_job_of("0::/system.slice/slurmstepd.scope/job_44/step_0/user/task_0\n"), 44);
  EXPECT_EQ(slurm_job_of("0::/system.slice/n1_slurmstepd.scope/job_45/step_0\n"), 45);
  for (const char* forged :
       {"", "0::/\n", "0::/user.slice/user-1001.slice/user@1001.service/slurm/uid_1001/job_42/step_0\n",
        "0::/user.slice/slurmstepd.scope/job_42/step_0\n", "0::/system.slice/my-slurmstepd.scope/job_42\n",
        "0::/slurm/job_42/x\n", "0::/slurm/uid_1/job_x/y\n", "0::/slurm/uid_1/job_-4/y\n",
        "0::/slurmy/uid_1/job_4/y\n", "nonsense"})
    EXPECT_FALSE(slurm_job_of(forged)) << forged;
}

struct FakeProc {
  FakeProc() { std::filesystem::create_directories(root / "proc"); }
  ~FakeProc() { std::filesystem::remove_all(root); }
  void process(int pid, uid_t uid, const std::string& cgroup, const std::string& name = "python3",
               int parent = 1, int began = 4711) const {
    const auto folder = root / "proc" / std::to_string(pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "status") << "Name:\tx\nUid:\t" << uid << "\t" << uid << "\t0\t0\n";
    std::ofstream(folder / "cgroup") << cgroup;
    std::ofstream(folder / "comm") << name << "\n";
    std::ofstream(folder / "stat") << pid << " (a (b) c) S " << parent;
    std::ofstream stat(folder / "stat", std::ios::app);
    for (int field = 5; field < 22; ++field) stat << " 0";
    stat << " " << began << " 0\n";
  }
  std::filesystem::path root = std::filesystem::path(::testing::TempDir()) / cat("rubato-proc-", ::getpid());
};

TEST(Caller, AProcessIsForeignByUserByJobOrWhereItCannotBeSeen) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  const std::string job = "1:memory:/slurm/uid_1001/job_42/step_0\n";
  proc.process(10, 1001, job);
  const Caller caller = caller_of({.uid = 1001, .gid = 1, .groups = {}, .pid = 10}, root);
  EXPECT_EQ(caller.slurm_job, 42);
  EXPECT_EQ(caller.cgroup, "/slurm/uid_1001/job_42/step_0");
  proc.process(11, 1001, job);
  proc.process(12, 1002, job);
  proc.process(13, 1001, "1:memory:/slurm/uid_1001/job_43/step_0\n");
  proc.process(14, 1001, "0::/user.slice\n");
  EXPECT_EQ(foreign_process(caller, {}, root), "");
  EXPECT_EQ(foreign_process(caller, {{.pid = 10}, {.pid = 11}}, root), "");
  EXPECT_THAT(foreign_process(caller, {{.pid = 11}, {.pid = 12}}, root), HasSubstr("of user 1002"));
  EXPECT_THAT(foreign_process(caller, {{.pid = 13}}, root), HasSubstr("Slurm job 43"));
  EXPECT_THAT(foreign_process(caller, {{.pid = 14}}, root), HasSubstr("no Slurm job"));
  EXPECT_THAT(foreign_process(caller, {{.pid = 99}}, root), HasSubstr("cannot be seen"));
}

TEST(Caller, WhatRunsBelowTheCallerIsTheirsWhoeverItRunsAs) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  proc.process(30, 0, "0::/\n");
  proc.process(31, 1001, "0::/\n", "sh", 30);
  proc.process(32, 1001, "0::/\n", "python3", 31);
  proc.process(33, 1001, "0::/\n", "python3", 1);
  const Caller root_user = caller_of({.uid = 0, .gid = 0, .groups = {}, .pid = 30}, root);
  EXPECT_EQ(foreign_process(root_user, {{.pid = 32}}, root), "");
  EXPECT_THAT(foreign_process(root_user, {{.pid = 33}}, root), HasSubstr("of user 1001"));
}

TEST(Caller, AProcessIdThatIsUsedAgainIsNotTheCallers) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  proc.process(30, 1001, "0::/\n", "sh", 1, 100);
  proc.process(31, 1002, "0::/\n", "python3", 30, 200);
  const Caller caller = caller_of({.uid = 1001, .gid = 1, .groups = {}, .pid = 30}, root);
  EXPECT_EQ(caller.began, 100);
  EXPECT_EQ(foreign_process(caller, {{.pid = 31}}, root), "");
  proc.process(30, 1002, "0::/\n", "sh", 1, 300);
  EXPECT_THAT(foreign_process(caller, {{.pid = 30}}, root), HasSubstr("of user 1002"));
  EXPECT_THAT(foreign_process(caller, {{.pid = 31}}, root), HasSubstr("of user 1002"));
}

TEST(Caller, OfAnIdThatHasGoneToSomebodyElseBeforeItWasLookedAtNothingIsBelieved) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  proc.process(40, 1002, "1:memory:/slurm/uid_1002/job_42/step_0\n");
  for (const pid_t pid : {40, 41, 0}) {
    const Caller caller = caller_of({.uid = 1001, .gid = 1, .groups = {}, .pid = pid}, root);
    EXPECT_FALSE(caller.began) << pid;
    EXPECT_FALSE(caller.slurm_job) << pid;
    EXPECT_EQ(caller.cgroup, "") << pid;
    EXPECT_NE(foreign_process(caller, {{.pid = 40}}, root), "") << pid;
  }
}

TEST(Caller, WhoseIdsAreMappedOtherwiseThanRubatodsIsInAUserNamespace) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  const auto inside = [&](const char* map) {
    proc.process(50, 100'007, "0::/\n");
    if (map != nullptr) std::ofstream(proc.root / "proc/50/uid_map") << map;
    return caller_of({.uid = 100'007, .gid = 1, .groups = {}, .pid = 50}, root).in_user_namespace;
  };
  EXPECT_FALSE(inside(nullptr)) << "a kernel without them";
  std::filesystem::create_directories(proc.root / "proc/self");
  std::ofstream(proc.root / "proc/self/uid_map") << "0 0 4294967295\n";
  EXPECT_FALSE(inside("0 0 4294967295\n"));
  EXPECT_TRUE(inside("0 1000 1\n1 100000 65536\n"));
  std::ofstream(proc.root / "proc/self/uid_map") << "0 100000 65536\n";  // in a container itself
  EXPECT_FALSE(inside("0 100000 65536\n"));
}

TEST(Surroundings, FilesAndProcessesForbid) {
  const FakeProc proc;
  const FsRoot root(proc.root);
  const std::vector<NeverDuring> never = {{"health check", "a-very-long-process-name", {}},
                                          {"window", {}, "/run/now"}};
  EXPECT_EQ(what_forbids(root, never, 77), "");
  EXPECT_FALSE(is_disabled(root, "/etc/rubato/disable"));
  std::filesystem::create_directories(proc.root / "run");
  std::ofstream(proc.root / "run/now") << "";
  EXPECT_THAT(what_forbids(root, never, 77), HasSubstr("'window'"));
  std::filesystem::remove(proc.root / "run/now");
  proc.process(19, 1001, "", "a-very-long-pro");
  EXPECT_EQ(what_forbids(root, never, 77), "") << "anybody can call a process so";
  proc.process(20, 0, "", "a-very-long-pro");  // as the kernel cuts it
  EXPECT_THAT(what_forbids(root, never, 77), HasSubstr("'health check'"));
  std::filesystem::remove_all(proc.root / "proc/20");
  EXPECT_THAT(what_forbids(root, never, 1001), HasSubstr("'health check'")) << "rubatod's own user";
}

TEST(Audit, ALineIsJsonWhateverAClientCallsItself) {
  const AuditEntry entry{.event = "set",
                         .decision = "refused",
                         .caller = Caller{.uid = 1001, .pid = 7, .cgroup = "/a", .slurm_job = 42},
                         .client = "a\"b\\c\n\x7f\xff",
                         .gpus = {{"GPU-a"}, {"GPU-b"}},
                         .knobs = {Knob::power_limit},
                         .found_sm_clock = ClockRange{135_MHz, 135_MHz},
                         .setting = {.power_limit = 150.5_W, .sm_clock = ClockRange{210_MHz, 1005_MHz}},
                         .rule = "ml",
                         .why = "no"};
  EXPECT_EQ(
      print_entry(entry, "2026-11-22T12:00:00.000Z"),
      R"({"at":"2026-11-22T12:00:00.000Z","event":"set","decision":"refused","uid":1001,"pid":7,"slurm_job":42,)"
      R"("cgroup":"/a","client":"a\"b\\c\u000a\u007f\u00ff","gpus":["GPU-a","GPU-b"],"knobs":["power-limit"],)"
      R"("found_sm_clock_mhz":[135,135],"power_limit_w":150.5,"sm_clock_mhz":[210,1005],"rule":"ml","why":"no"})");
}

TEST(Audit, TheFileIsAppendedToAndASymbolicLinkIsNotFollowed) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / cat("rubato-audit-", ::getpid());
  std::filesystem::create_directories(folder);
  for (int i = 0; i < 2; ++i) {
    auto log = AuditFile::open(folder / "log").value();
    log.write({.event = "start", .decision = "done"});
    EXPECT_EQ(log.lost(), 0U);
  }
  std::ifstream in(folder / "log");
  std::string line;
  int lines = 0;
  for (; std::getline(in, line); ++lines) EXPECT_THAT(line, HasSubstr("\"event\":\"start\""));
  EXPECT_EQ(lines, 2);
  std::filesystem::create_symlink(folder / "log", folder / "link");
  EXPECT_FALSE(AuditFile::open(folder / "link").has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rubato::daemon
