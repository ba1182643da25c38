// rubatod under load: a thousand clients of whom eight hold the eight GPUs and set them, and the others send
// their heartbeats and ask for GPUs that are taken. What a set takes of rubatod's own, beside the driver and
// the journal, as rubatod counts it, against the 5 ms that it may take; what it takes from the client's side;
// and whether memory stays as it is.
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "guard/spawn.h"
#include "wire/connect.h"

namespace {

using namespace rubato;

constexpr std::size_t kGpus = 8;
constexpr Seconds kHeartbeat{1.0};

struct Options {
  std::size_t clients = 1000;
  std::size_t sets = 20'000;
  double rate = 50;  // sets a second of each GPU; 0: the next at once
  std::filesystem::path folder = std::filesystem::temp_directory_path();
};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "rubato-daemon-load: %s\n", why.c_str());
  std::exit(1);
}

struct Client {
  std::unique_ptr<wire::SocketChannel> channel;
  bool holds = false;
  GpuId gpu{};
  TimePoint next_set{};
  TimePoint asked{};
  bool waits = false;
  TimePoint next_beat{};
};

struct Load {
  std::vector<Client> clients;
  std::vector<double> took_ms;
  std::size_t refused = 0;
};

void send(Client& client, const wire::Body& body, std::uint64_t sequence) {
  if (const auto sent = client.channel->send(wire::encode({sequence, body})); !sent)
    give_up(sent.error().what);
}

wire::Body ask(Client& client, const wire::Body& body) {
  send(client, body, 1);
  for (;;) {
    const auto datagram = client.channel->receive(Seconds(30));
    if (!datagram) give_up(datagram.error().what);
    auto message = wire::decode(*datagram);
    if (!message) give_up(message.error().what);
    if (!std::holds_alternative<wire::Heartbeat>(message->body)) return std::move(message->body);
  }
}

long memory_kb(pid_t pid) {
  std::ifstream status(cat("/proc/", pid, "/status"));
  std::string word;
  while (status >> word)
    if (word == "VmRSS:") {
      long kb = 0;
      status >> kb;
      return kb;
    }
  return 0;
}

/// Of all its threads so far, in user and kernel: fields 14 and 15 of /proc/PID/stat (proc(5)).
double cpu_ms(pid_t pid) {
  std::ifstream stat(cat("/proc/", pid, "/stat"));
  std::string word;
  double ticks = 0;
  for (int field = 1; field <= 15 && stat >> word; ++field)
    if (field >= 14) ticks += parse_number(word).value_or(0);
  return ticks * 1e3 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double at_share(std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

constexpr double kShares[] = {0.5, 0.99, 0.999};

/// The end of the bin that holds this share: the true value is at most so long.
double at_share_ms(const wire::TimedPart& part, double share) {
  std::uint64_t all = 0;
  for (const wire::TimedBin& bin : part.bins) all += bin.count;
  const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(all));
  std::uint64_t seen = 0;
  for (const wire::TimedBin& bin : part.bins)
    if ((seen += bin.count) > wanted) return std::min(bin.up_to, part.longest).value() * 1e3;
  return part.longest.value() * 1e3;
}

void print_parts(const std::filesystem::path& socket) {
  auto greeted = wire::greet_daemon(socket, "rubato-daemon-load");
  if (!greeted) give_up(greeted.error().what);
  Client asking{.channel = std::move(greeted->channel)};
  const wire::Body answer = ask(asking, wire::TimesRequest{"apply"});
  const auto* timed = std::get_if<wire::Timed>(&answer);
  if (timed == nullptr) give_up("rubatod does not tell its times");
  std::printf("as rubatod counts it, ms (ends of bins: at most 28 %% too long):\n");
  std::printf("  %-10s %9s %9s %9s %9s %9s %9s\n", "part", "requests", "mean", "p50", "p99", "p999",
              "longest");
  for (const wire::TimedPart& part : timed->parts) {
    std::uint64_t count = 0;
    for (const wire::TimedBin& bin : part.bins) count += bin.count;
    std::printf("  %-10s %9llu %9.4f", part.name.c_str(), static_cast<unsigned long long>(count),
                part.sum.value() * 1e3 / static_cast<double>(count));
    for (const double share : kShares) std::printf(" %9.4f", at_share_ms(part, share));
    std::printf(" %9.4f\n", part.longest.value() * 1e3);
  }
}

void connect_all(Load& load, const Options& options, const std::filesystem::path& socket) {
  const wire::Acquire knobs{{}, {Knob::power_limit, Knob::sm_clock}, {}};
  for (std::size_t i = 0; i < options.clients; ++i) {
    auto greeted = wire::greet_daemon(socket, cat("client ", i));
    if (!greeted) give_up(greeted.error().what);
    Client client{.channel = std::move(greeted->channel)};
    wire::Acquire request = knobs;
    request.gpus = {greeted->status.gpus.at(i % kGpus).gpu};
    client.gpu = request.gpus.front();
    // Only the first eight find their GPU free.
    client.holds = std::holds_alternative<wire::Granted>(ask(client, request));
    load.refused += client.holds ? 0 : 1;
    load.clients.push_back(std::move(client));
    for (Client& holder : load.clients)
      if (i % 20 == 0 && holder.holds) send(holder, wire::Heartbeat{}, 0);
  }
}

/// Heartbeats and sets that are due; the moment at which something is due next.
TimePoint send_due(Load& load, const Options& options, TimePoint now, std::size_t& begun) {
  TimePoint next = now + Seconds(0.1);
  for (Client& client : load.clients) {
    if (client.next_beat <= now) {
      send(client, wire::Heartbeat{}, 0);
      client.next_beat = now + kHeartbeat;
    }
    next = std::min(next, client.next_beat);
    if (!client.holds || client.waits || begun >= options.sets) continue;
    if (client.next_set <= now) {
      client.asked = RealClock().now();
      client.waits = true;
      send(client, wire::Apply{client.gpu, {.power_limit = Watts(400 + static_cast<double>(begun % 200))}},
           2);
      ++begun;
      client.next_set = options.rate > 0 ? now + Seconds(1 / options.rate) : now;
    } else {
      next = std::min(next, client.next_set);
    }
  }
  return next;
}

void drive(Load& load, const Options& options, pid_t daemon) {
  const RealClock clock;
  const ScopedFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  for (std::size_t i = 0; i < load.clients.size(); ++i) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    (void)::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, load.clients[i].channel->fd(), &event);
    load.clients[i].next_beat =
        clock.now() + kHeartbeat * static_cast<double>(i) / static_cast<double>(load.clients.size());
  }
  std::size_t begun = 0;
  std::size_t told = 0;
  std::vector<epoll_event> events(64);
  while (load.took_ms.size() < options.sets) {
    const TimePoint next = send_due(load, options, clock.now(), begun);
    const auto patience = static_cast<int>(std::clamp((next - clock.now()).value() * 1e3, 0.0, 100.0));
    const int ready = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), patience);
    for (int i = 0; i < ready; ++i) {
      Client& client = load.clients[events[static_cast<std::size_t>(i)].data.u64];
      const auto datagram = client.channel->receive(Seconds(0));
      if (!datagram) give_up(datagram.error().what);
      const auto message = wire::decode(*datagram);
      if (!message) give_up(message.error().what);
      if (const auto* refused = std::get_if<wire::Refused>(&message->body)) give_up(refused->error.what);
      if (!std::holds_alternative<wire::Applied>(message->body)) continue;
      load.took_ms.push_back((clock.now() - client.asked).value() * 1e3);
      client.waits = false;
    }
    if (load.took_ms.size() >= told * options.sets / 10) {
      std::printf("  %8zu sets: rubatod has %ld kB\n", load.took_ms.size(), memory_kb(daemon));
      ++told;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("rubatod under load");
  app.add_option("--clients", options.clients);
  app.add_option("--sets", options.sets);
  app.add_option("--rate", options.rate, "sets a second of each GPU; 0: the next at once");
  app.add_option("--folder", options.folder, "where journals are made");
  CLI11_PARSE(app, argc, argv);

  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  std::string folder = (options.folder / "rubato-load-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) give_up("cannot make a folder in " + options.folder.string());
  ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  const std::filesystem::path config = folder + "/rubatod.toml";
  std::ofstream(config)
      << "mode = \"manage\"\naudit_log = \"" << folder << "/audit\"\ndisable_file = \"" << folder
      << "/off\"\n[rates]\nsettings_per_s = 1000000\nmessages_per_s = 1000000\n"
         "user_messages_per_s = 1000000\nleases_per_s = 1000000\nconnections_per_user = 100000\n";
  std::filesystem::permissions(config, std::filesystem::perms(0600));
  const auto program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "rubatod";
  std::string gpus = "sim:h100";
  for (std::size_t i = 1; i < kGpus; ++i) gpus += ",sim:h100";
  const auto daemon =
      guard::spawn({.command = {program.string(), "--config", config.string(), "--gpu", gpus}});
  if (!daemon) give_up(daemon.error().what);
  const std::filesystem::path socket = folder + "/rubato/rubatod.sock";
  // It listens before it has asked for every GPU: until it answers with all of them, ten seconds at most.
  for (int i = 0;; ++i) {
    const auto greeted = wire::greet_daemon(socket, "rubato-daemon-load");
    if (greeted && greeted->status.gpus.size() == kGpus &&
        std::all_of(greeted->status.gpus.begin(), greeted->status.gpus.end(),
                    [](const wire::ManagedGpu& gpu) { return gpu.state == "free"; }))
      break;
    if (i == 200) give_up("rubatod did not get ready within 10 s");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }

  Load load;
  connect_all(load, options, socket);
  std::printf("%zu clients, %zu of them refused because the GPU is taken\n", load.clients.size(),
              load.refused);
  const double before = cpu_ms(*daemon);
  drive(load, options, *daemon);
  std::printf("CPU of rubatod, driver, journal and all heartbeats included: %.3f ms a set\n",
              (cpu_ms(*daemon) - before) / static_cast<double>(load.took_ms.size()));
  print_parts(socket);
  std::sort(load.took_ms.begin(), load.took_ms.end());
  std::printf(
      "a set, all included, from the client's side, ms: p50 %.3f, p99 %.3f, p999 %.3f, longest %.3f\n",
      at_share(load.took_ms, 0.5), at_share(load.took_ms, 0.99), at_share(load.took_ms, 0.999),
      load.took_ms.back());
  load.clients.clear();
  ::kill(*daemon, SIGTERM);
  ::waitpid(*daemon, nullptr, 0);
  std::filesystem::remove_all(folder);
  return 0;
}
