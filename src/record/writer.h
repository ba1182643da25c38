// Writes one run record while the run goes on. A crash loses at most the last second.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "record/expected.h"
#include "record/location.h"
#include "record/types.h"

namespace rubato::record {

/// Where records live: $XDG_STATE_HOME/rubato/runs, else ~/.local/state/rubato/runs.
[[nodiscard]] Result<std::filesystem::path> default_directory();

/// One owner thread. Errors of the file (disk full, read-only) are returned once by step(), after which the
/// writer drops what it is given: the run goes on without a record, and says so.
class Writer {
 public:
  /// Creates DIRECTORY/RUN_ID.sqlite (folders as needed). On a network file system the record is written in
  /// the temporary folder and moved at the end.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(const std::filesystem::path& directory,
                                                              const RunInfo& run,
                                                              const Placement& placement = {});
  ~Writer();

  void device(const DeviceInfo& device);
  void source(const GpuId& gpu, const Source& source);
  void sample(const GpuId& gpu, const FastReading& reading);
  void sample(const GpuId& gpu, const SlowReading& reading);
  /// Channels are named by the order in which they are given; before the first sample of any.
  void channel(const ChannelInfo& channel);
  /// `power` and `energy_counter` only.
  void sample(std::size_t channel, const FastReading& reading);
  void counter_edge(const CounterEdge& edge);
  /// All kinds, names included; above a thousand a second in the mean of a minute the rest is counted, and
  /// said as a gap: iterations have a table of their own.
  void mark(const Mark& mark);
  void kernel(const KernelRecord& kernel);
  void kernel_cycle(const KernelCycle& cycle);
  void iteration(const Iteration& iteration);
  void statement(const IterationStatement& statement);
  void rate(const RateStatement& rate);
  void shift(const ShiftNoticed& shift);
  /// What was not counted leaves no row.
  void features(const FeatureWindow& window);
  void block(const Block& block);  // table `window`
  void setting_change(const SettingChange& change);
  void decision(const Decision& decision);
  void goal(const GoalInForce& goal);
  void expectation(const ExpectationAt& expectation);
  void gap(const Gap& gap);

  /// Commits once a second, every GPU in one transaction; ten seconds of samples become one chunk.
  [[nodiscard]] TimePoint next_due() const;
  [[nodiscard]] Status step(TimePoint now);
  /// Given to the kernel so far, log frames included.
  [[nodiscard]] std::uint64_t bytes_written() const;
  /// Where the record lies now.
  [[nodiscard]] const std::filesystem::path& file() const;
  [[nodiscard]] const RunInfo& run() const;
  /// The folder it belongs in, whatever it is written to meanwhile.
  [[nodiscard]] std::filesystem::path directory() const;

  /// Last commit, move into place, index entry. Returns where the record lies; after a failure of the file
  /// that step() reported, that error again.
  [[nodiscard]] Result<std::filesystem::path> finish(const RunEnd& end);

 private:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::record
