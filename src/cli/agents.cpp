#include "cli/agents.h"

#include <sys/utsname.h>

#include <utility>

#include "agent/key_file.h"
#include "agent/meeting.h"
#include "base/log.h"
#include "base/text.h"
#include "conduct/clock_gate.h"
#include "conduct/patience.h"
#include "record/writer.h"

namespace rubato::cli {
namespace {

// Below the ports that the kernel gives to outgoing connections (ip_local_port_range begins at 32768).
constexpr std::uint16_t kFirstPort = 20'000;
constexpr std::uint16_t kPorts = 12'000;

Result<std::filesystem::path> state_folder() {
  auto runs = record::default_directory();
  if (!runs) return fail(runs.error());
  return runs->parent_path();
}

Result<agent::Secret> secret_of(const agent::JobPlace& place, const AgentsText& text) {
  if (!text.key_file.empty()) {
    const auto key = agent::read_key_file(text.key_file, false);
    if (!key) return fail(key.error());
    return agent::job_secret(*key, place.job);
  }
  const auto folder = state_folder();
  if (!folder) return fail(folder.error());
  const auto key = agent::read_key_file(*folder / "agents.key", true);
  if (!key) return fail(key.error());
  return agent::job_secret(*key, place.job);
}

/// The same for every rank, without a word between them.
std::uint16_t port_for(const agent::JobPlace& place, const std::string& name) {
  if (place.port) return *place.port;
  const auto number = parse_hex(std::string_view(name).substr(0, 8)).value_or(0);
  return static_cast<std::uint16_t>(kFirstPort + number % kPorts);
}

std::string node_name() {
  utsname name{};
  return uname(&name) == 0 ? std::string(static_cast<const char*>(name.nodename)) : std::string();
}

Status lead(conduct::JobAgentParts& parts, const agent::JobPlace& place, const agent::Secret& secret,
            const std::string& name) {
  agent::HubOptions options;
  options.port = port_for(place, name);
  options.any_port = !place.port;
  options.loopback = agent::is_loopback(place.host);
  auto hub = agent::Hub::listen(secret, options);
  if (!hub) return fail(hub.error());
  const auto folder = state_folder();
  auto told = folder ? agent::MeetingPoint::tell(
                           *folder / "agents", name, hub->port(),
                           options.loopback ? std::vector<std::string>{"127.0.0.1"} : agent::own_addresses())
                     : Result<agent::MeetingPoint>(fail(folder.error()));
  if (told)
    parts.meeting = std::move(*told);
  else if (place.host.empty() || hub->port() != options.port)
    return fail(told.error());
  log::debug(cat("agents: listening on port ", hub->port()));
  parts.hub = std::move(*hub);
  return {};
}

Status follow(conduct::JobAgentParts& parts, const agent::JobPlace& place, const agent::Secret& secret,
              const std::string& name) {
  std::vector<agent::Address> known;
  if (!place.host.empty()) {
    const auto answer = conduct::patiently<Result<std::vector<agent::Address>>>(
        [host = place.host, port = port_for(place, name)] { return agent::resolve(host, port); });
    if (answer && *answer) known = **answer;
    if (answer && !*answer) log::debug(answer->error().what);
  }
  const auto folder = state_folder();
  auto where = [known, folder = folder ? *folder / "agents" : std::filesystem::path(), name] {
    auto told = folder.empty() ? std::vector<agent::Address>() : agent::read_meeting_point(folder, name);
    told.insert(told.end(), known.begin(), known.end());
    return told;
  };
  auto dialer = agent::Dialer::create(secret, std::move(where), {}, parts.network->now());
  if (!dialer) return fail(dialer.error());
  parts.dialer = std::move(*dialer);
  return {};
}

}  // namespace

Result<std::optional<agent::JobPlace>> parse_agents(const AgentsText& text,
                                                    const std::map<std::string, std::string>& environment) {
  if (text.agents == "off") return std::nullopt;
  if (text.agents != "auto" && text.agents != "job") {
    auto place = agent::parse_job_place(text.agents);
    if (!place) return fail(place.error());
    return std::optional(std::move(*place));
  }
  auto place = agent::job_place(environment);
  const bool asked = text.agents == "job";
  if (place && (asked || place->nodes > 1)) return std::optional(std::move(*place));
  if (asked)
    return fail(ErrorCode::not_found, "--agents job: no launcher tells of a job of several ranks here",
                "srun, mpirun and torchrun do; by hand: --agents RANK/SIZE@HOST:PORT");
  return std::nullopt;
}

Result<std::shared_ptr<conduct::JobAgent>> make_job_agent(const agent::JobPlace& place,
                                                          const AgentsText& text, const AgentFacts& facts,
                                                          const Clock& clock) {
  if (const Status able = agent::can_seal(); !able) return fail(able.error());
  const auto secret = secret_of(place, text);
  if (!secret) return fail(secret.error());
  const std::string name = agent::public_name(*secret);
  conduct::JobAgentParts parts;
  parts.own.run = facts.run;
  parts.own.node = node_name();
  parts.own.rank = place.rank;
  parts.own.world = place.world;
  // A rank that sees as many GPUs as there are ranks on its node sees theirs as well.
  const auto gpus = static_cast<std::int64_t>(facts.gpus.size());
  parts.own.covers = gpus >= place.local_world ? place.local_world : 1;
  parts.own.space = facts.space;
  parts.own.gpus = facts.gpus;
  parts.timing = agent::Timing{}.at_rate(1.0 / clock.wall(Seconds(1.0)).value());
  parts.network = std::make_shared<RealClock>();
  parts.tell = [](const std::string& note) { log::info(cat("agents: ", note)); };
  parts.warn = [](const Error& error) { log::warning(error); };
  const Status ready =
      place.rank == 0 ? lead(parts, place, *secret, name) : follow(parts, place, *secret, name);
  if (!ready) return fail(ready.error());
  return std::make_shared<conduct::JobAgent>(std::move(parts), clock.now());
}

Result<bool> parse_rank_clocks(const std::string& text) {
  if (text == "same") return false;
  if (text == "own") return true;
  return fail(ErrorCode::invalid_argument, cat("--rank-clocks ", text, ": there are same and own"),
              "own gives ranks that wait for slower ones a lower SM clock");
}

std::unique_ptr<govern::Strategy> agreeing(std::shared_ptr<conduct::JobAgent> agent,
                                           std::unique_ptr<govern::Strategy> own, Agreeing how) {
  if (agent->leader() != nullptr) {
    std::optional<conduct::RankClocks> clocks;
    if (how.never.empty() && !how.rank_clocks.empty())
      clocks.emplace(govern::SlackTaker(std::move(how.rank_clocks)));
    return std::make_unique<conduct::LeadingStrategy>(std::move(agent), std::move(own), std::move(clocks));
  }
  if (!how.never.empty() || !how.clocks || how.stated)
    return std::make_unique<conduct::AgreedStrategy>(std::move(agent), std::move(how.never));
  return std::make_unique<conduct::ClockGate>(
      "agreed", [agent = std::move(agent)](bool free) -> Result<std::unique_ptr<govern::Strategy>> {
        return std::make_unique<conduct::AgreedStrategy>(
            agent, free ? std::string()
                        : "a clock of a GPU there may have been locked before, and could not be put back");
      });
}

}  // namespace rubato::cli
