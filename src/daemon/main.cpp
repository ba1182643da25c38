// rubatod: holds the right to set GPUs for everybody on this machine, within the rules of its administrator.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "base/log.h"
#include "base/runtime_folder.h"
#include "base/standard_streams.h"
#include "base/text.h"
#include "daemon/config.h"
#include "daemon/jobs.h"
#include "daemon/options.h"
#include "daemon/privileges.h"
#include "daemon/server.h"
#include "daemon/short_turns.h"
#include "device/registry.h"
#include "guard/detach.h"
#include "guard/recover.h"
#include "guard/stale.h"
#include "wire/connect.h"

namespace rubato::daemon {
namespace {

constexpr const char* kVersion = "rubatod " RUBATO_VERSION;

struct Machine {
  std::shared_ptr<device::Backend> backend;
  std::vector<GpuIdentity> gpus;
  std::filesystem::path folder;  // of journals
  mode_t folder_mode = guard::kUserFolderMode;
};

/// What stands once and for all at the start.
struct Service {
  Machine machine;
  AuditFile log;
  guard::Folder folder;
  Listener listener;
  guard::Era era;
};

int refuse(const Error& error) {
  log::error(error);
  return 1;
}

Result<Config> configuration(const Options& options) {
  Config config;
  if (!options.config.empty()) {
    auto read = read_config(options.config, names_of_this_machine());
    if (!read) return read;
    config = std::move(*read);
  }
  if (!options.gpus.empty()) config.gpus = options.gpus;
  if (!options.socket.empty()) config.socket = options.socket;
  if (options.observe) config.rules.mode = Mode::observe;
  return config;
}

Result<Machine> machine_of(device::Selection selection) {
  Machine machine{std::move(selection.backend), std::move(selection.chosen), guard::kSystemFolder,
                  guard::kSystemFolderMode};
  if (!machine.backend->simulated()) return machine;
  const auto folder = runtime_folder();
  if (!folder) return fail(folder.error());
  machine.folder = *folder;
  machine.folder_mode = guard::kUserFolderMode;
  return machine;
}

/// One GPU that fell off the bus keeps nobody from the others.
Result<Machine> machine_to_serve(const std::string& gpus) {
  auto selection = device::select_present_gpus(gpus);
  if (!selection) return fail(selection.error());
  if (selection->chosen.empty() && !selection->missing.empty()) return fail(selection->missing.front());
  for (const Error& missing : selection->missing)
    log::warning(Error{missing.code, missing.what, "once it is there: systemctl restart rubatod"});
  return machine_of(std::move(*selection));
}

/// Restoring wants the backend and its folder alone, so where what names the GPUs is wrong it is all of the
/// driver's.
Result<Machine> machine_to_restore(const std::string& gpus) {
  auto selection = device::select_present_gpus(gpus);
  if (!selection && !gpus.empty()) {
    log::warning(selection.error());
    selection = device::select_present_gpus({});
  }
  if (!selection) return fail(selection.error());
  return machine_of(std::move(*selection));
}

guard::GpuFactory factory(const std::shared_ptr<device::Backend>& backend) {
  // A backend's own tables are for one thread at a time; what it opens is not.
  const auto one_at_a_time = std::make_shared<std::mutex>();
  return [backend, one_at_a_time](const GpuId& id) -> Result<guard::OpenedGpu> {
    const std::lock_guard lock(*one_at_a_time);
    auto gpu = backend->open(id);
    if (!gpu) return fail(gpu.error());
    auto control = backend->open_control(id);
    if (!control) return fail(control.error());
    return guard::OpenedGpu{std::move(*gpu), std::move(*control)};
  };
}

int restore_left_behind(const std::string& gpus) {
  const auto opened = machine_to_restore(gpus);
  if (!opened) return refuse(opened.error());
  const Machine& machine = *opened;
  const guard::GpuFactory open = factory(machine.backend);
  const auto reports = guard::restore_stale(
      {.folder = machine.folder, .open = open, .driver_version = machine.backend->driver_version()});
  if (!reports) return refuse(reports.error());
  int status = 0;
  for (const RestorationReport& report : *reports) {
    const std::string words = cat(report.gpu.uuid, ": ", name_of(report.outcome), ": ", report.detail);
    if (report.outcome == Restoration::failed)
      status = refuse(Error{ErrorCode::conflict, words, "rubato restore"});
    else
      log::info(words);
  }
  return status;
}

/// Everything that can keep rubatod from serving.
Result<Service> prepare_service(const Config& config) {
  auto machine = machine_to_serve(config.gpus);
  if (!machine) return fail(machine.error());
  raise_file_limit();
  auto log_file = AuditFile::open(config.audit_log);
  if (!log_file) return fail(log_file.error());
  auto folder =
      guard::Folder::make(machine->folder, machine->folder_mode, std::make_shared<guard::FileOps>());
  if (!folder) return fail(folder.error());
  const auto socket = config.socket.empty() ? machine->folder / wire::kSocketName : config.socket;
  // Who may connect is everybody; who may do what is in the rules. What a user simulates is their own affair.
  const bool own = machine->backend->simulated() && config.socket.empty();
  auto listener = Listener::open(socket, own ? 0600 : 0666);
  if (!listener) return fail(listener.error());
  if (const Status dropped = drop_privileges(!machine->backend->simulated()); !dropped)
    return fail(dropped.error());
  auto era = guard::present_era({}, {});
  if (!era) return fail(era.error());
  return Service{std::move(*machine), std::move(*log_file), std::move(*folder), std::move(*listener),
                 std::move(*era)};
}

int serve(const Options& options, const Config& config, Service service) {
  auto signals = guard::ending_signals();
  if (!signals) return refuse(signals.error());
  ::signal(SIGPIPE, SIG_IGN);
  // A log that may not grow (ulimit -f) is a full disk, and no end of serving.
  ::signal(SIGXFSZ, SIG_IGN);
  const Machine& machine = service.machine;
  AuditFile& log_file = service.log;
  ask_for_short_turns();
  watch_driver_calls();
  const auto mailbox = std::make_shared<Mailbox>();
  std::vector<std::unique_ptr<OwnerThread>> owners;
  const JobsFile jobs(service.folder, service.era.boot_id);
  CoreOptions core_options{.server = kVersion,
                           .pid = ::getpid(),
                           .gpus = {},
                           .rules = config.rules,
                           .audit = [&log_file](const AuditEntry& entry) { log_file.write(entry); },
                           .uid = ::geteuid(),
                           .jobs = jobs.read(),
                           .keep_jobs =
                               [&jobs](const Jobs& known) {
                                 if (const Status kept = jobs.keep(known); !kept) log::warning(kept.error());
                               }};
  const guard::GpuFactory open = factory(machine.backend);
  for (const GpuIdentity& gpu : machine.gpus) {
    owners.push_back(std::make_unique<OwnerThread>(
        OwnerOptions{.gpu = gpu.id,
                     .open = open,
                     .folder = machine.folder,
                     .folder_mode = machine.folder_mode,
                     .driver_version = [backend = machine.backend] { return backend->driver_version(); },
                     .clock = machine.backend->clock()},
        mailbox));
    core_options.gpus.push_back({gpu, owners.back().get()});
  }
  log_file.write(
      {.event = "start",
       .decision = "done",
       .why = cat(kVersion, " in mode ", name_of(config.rules.mode), ", ", machine.gpus.size(), " GPUs")});
  log::info(cat(kVersion, " listens at ", service.listener.path().string(), " in mode ",
                name_of(config.rules.mode)));
  Core core(std::move(core_options), machine.backend->clock()->now());
  Server server({.disable_file = config.disable_file,
                 .clock = machine.backend->clock(),
                 .read_rules = [options]() -> Result<Rules> {
                   auto again = configuration(options);
                   if (!again) return fail(again.error());
                   return std::move(again->rules);
                 }},
                std::move(service.listener), std::move(*signals), mailbox);
  const Ended ended = server.run(core);
  log_file.write({.event = "stop", .decision = ended == Ended::clean ? "done" : "failed"});
  if (ended == Ended::clean) return 0;
  const bool stuck = ended == Ended::stuck;
  log::error(
      Error{stuck ? ErrorCode::timeout : ErrorCode::conflict,
            cat(stuck ? "a driver call has not come back" : "a driver refuses to put back what was found",
                "; the journal is kept"),
            "rubatod --restore-only puts back what is left, as does the next start"});
  if (!stuck) return 1;
  std::fflush(nullptr);
  ::_exit(1);  // not waiting for the thread that hangs
}

int run(const Options& options) {
  const auto config = configuration(options);
  if (options.check) {
    if (!config) return refuse(config.error());
    log::info(cat(options.config.string(), ": ", config->rules.rules.size(), " rules, mode ",
                  name_of(config->rules.mode)));
    return 0;
  }
  const std::string gpus = config ? config->gpus : options.gpus;
  if (options.restore_only) {
    // What a dead rubatod left waits for no administrator to mend the rules.
    if (!config) log::warning(config.error());
    return restore_left_behind(gpus);
  }
  auto service = config ? prepare_service(*config) : Result<Service>(fail(config.error()));
  if (service) return serve(options, *config, std::move(*service));
  (void)restore_left_behind(gpus);
  return refuse(service.error());
}

}  // namespace
}  // namespace rubato::daemon

int main(int argc, char** argv) {
  rubato::keep_standard_streams();
  rubato::log::drop_what_would_wait();
  rubato::daemon::Options options;
  CLI::App app("sets GPUs for the jobs of this machine, within the rules of its administrator", "rubatod");
  app.set_version_flag("--version", rubato::daemon::kVersion);
  app.add_option("--config", options.config, "the rules (docs/daemon.md); without them it only observes")
      ->type_name("FILE");
  app.add_option("--gpu", options.gpus, "which GPUs: 0,1 or UUIDs or sim:h100 (default: all)")
      ->type_name("LIST");
  app.add_option("--socket", options.socket, "where to listen")->type_name("PATH");
  app.add_flag("--observe", options.observe,
               "set nothing, whatever the rules say, and write down what would be set");
  app.add_flag("--restore-only", options.restore_only, "put back what a dead run left behind, and end");
  app.add_flag("--check", options.check, "say what is wrong with the configuration, and end");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return rubato::daemon::run(options);
}
