// Suites whose jobs change while they run.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/random.h"
#include "base/text.h"
#include "lab/suites/board_job.h"
#include "lab/suites/network.h"
#include "lab/suites/server_training.h"
#include "lab/suites/suite_table.h"

namespace rubato::lab {
namespace {

using device::sim::Profile;

constexpr std::int64_t kForGood = std::int64_t{1} << 40U;  // iterations: to the end of any run
constexpr std::array<std::string_view, 2> kBoards = {"v100", "a100"};

/// One thing a job does, and for how long.
struct Stretch {
  Derived work;
  std::optional<double> minutes;  // absent: to the end of any run
};

struct Change {
  std::string_view name;
  std::vector<Stretch> (*stretches)(const Profile& board);
};

/// Of those below: a name that the table lacks is a fault of the build, and the tests make every suite.
const Training& training_of(std::string_view network) {
  const std::vector<Training>& all = server_trainings();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Training& one) { return one.network->name == network; });
}

Derived trained(std::string_view network, const Profile& board, double loader = kServerLoader,
                Pass pass = Pass::training) {
  return derive(on_server(training_of(network), board), board, loader, pass);
}

/// BERT-base at another length: what grows with the tokens and what grows with their square follow from the
/// two lengths of the table.
Derived bert_of(double tokens, const Profile& board) {
  const Training& at_128 = training_of("bert-base-128");
  const Training& at_512 = training_of("bert-base-512");
  const auto grown = [&](double Network::*figure) {
    const double low = at_128.network->*figure / 128;
    const double high = at_512.network->*figure / 512;
    const double slope = (high - low) / (512 - 128);
    return tokens * (low + slope * (tokens - 128));
  };
  Network network = *at_512.network;
  network.multiply_adds = grown(&Network::multiply_adds);
  network.activations = grown(&Network::activations);
  return derive(on_server({&network, at_512.batch, at_512.precision}, board), board, kServerLoader);
}

constexpr std::array<Change, 6> kChanges = {
    {{"evaluation",
      [](const Profile& b) {
        return std::vector<Stretch>{{trained("resnet50", b), 3},
                                    {trained("resnet50", b, kServerLoader, Pass::evaluation), 1}};
      }},
     {"compute-and-memory-bound",
      [](const Profile& b) {
        return std::vector<Stretch>{{trained("gpt2-small", b), 3}, {trained("xception", b), 3}};
      }},
     {"growing-sequences",
      [](const Profile& b) {
        return std::vector<Stretch>{{bert_of(128, b), 4},
                                    {bert_of(256, b), 4},
                                    {bert_of(384, b), 4},
                                    {bert_of(512, b), std::nullopt}};
      }},
     {"play-and-learn",
      [](const Profile& b) {
        return std::vector<Stretch>{{trained("ppo-atari", b), 2}, {trained("resnet101", b), 4}};
      }},
     {"slow-storage",  // the loader's cache is cold now and then
      [](const Profile& b) {
        return std::vector<Stretch>{{trained("vgg16", b), 4}, {trained("vgg16", b, 16 * kServerLoader), 1}};
      }},
     {"swap", [](const Profile& b) {
        return std::vector<Stretch>{{trained("bert-large-512", b), 10},
                                    {trained("mobilenetv2", b), std::nullopt}};
      }}}};

Job changing_job(const Profile& board, const plan::KnobSpace& space, const std::vector<Stretch>& stretches) {
  Job job = empty_job(space);
  for (const Stretch& stretch : stretches) {
    Truth truth = truth_of(board, job, stretch.work, steps_per_iteration(stretch.work));
    const double iterations = std::ceil(stretch.minutes.value_or(0) * 60 / truth.iteration.value());
    job.phases.push_back(
        {job.programs.size(), stretch.minutes ? static_cast<std::int64_t>(iterations) : kForGood});
    job.programs.push_back(std::move(truth));
  }
  return job;
}

}  // namespace

Jobs time_varying_suite(std::span<const Knob> knobs) {
  std::vector<Job> jobs;
  for (const std::string_view name : kBoards) {
    const auto board = device::sim::find_profile(name);
    if (!board) return fail(board.error());
    const auto space = space_of(**board, knobs);
    if (!space) return fail(space.error());
    for (const Change& change : kChanges) {
      Job job = changing_job(**board, *space, change.stretches(**board));
      job.name = cat(change.name, "-", name);
      job.group = change.name;
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

Jobs shift_pairs_suite(std::span<const Knob> knobs) {
  constexpr std::size_t kPairsPerBoard = 100;
  constexpr std::uint64_t kSeed = 0x5eed0f5417;
  Random random(kSeed);
  std::vector<Job> jobs;
  for (const std::string_view name : kBoards) {
    const auto board = device::sim::find_profile(name);
    if (!board) return fail(board.error());
    const auto space = space_of(**board, knobs);
    if (!space) return fail(space.error());
    const std::vector<Training>& all = server_trainings();
    std::vector<Truth> truths;
    const Job empty = empty_job(*space);
    for (const Training& one : all) {
      const Derived derived = derive(on_server(one, **board), **board, kServerLoader);
      truths.push_back(truth_of(**board, empty, derived, steps_per_iteration(derived)));
    }
    for (std::size_t i = 0; i < kPairsPerBoard; ++i) {
      const std::size_t first = random.index(all.size());
      const std::size_t second = (first + 1 + random.index(all.size() - 1)) % all.size();
      Job job = empty;
      job.name = cat(name, "-", i, "-", all[first].network->name, "-to-", all[second].network->name);
      job.group = all[first].network->family;
      job.programs = {truths[first], truths[second]};
      const double seconds = random.uniform(8 * 60, 16 * 60);
      const auto before = static_cast<std::int64_t>(std::ceil(seconds / truths[first].iteration.value()));
      job.phases = {{0, before}, {1, kForGood}};
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

}  // namespace rubato::lab
