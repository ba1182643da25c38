// What a Writer holds: the connection, a statement per table, and what waits for the next commit.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "record/kernel_chunk.h"
#include "record/mark_quota.h"
#include "record/name_book.h"
#include "record/sample_buffer.h"
#include "record/schema.h"
#include "record/sqlite.h"
#include "record/writer.h"

namespace rubato::record {

struct Writer::Impl {
  struct Device {
    std::int64_t id = 0;
    SampleBuffer<FastReading> fast{"fast"};
    SampleBuffer<SlowReading> slow{"slow"};
    std::vector<std::pair<Source, std::int64_t>> sources;
  };
  struct Channel {
    std::int64_t id = 0;
    SampleBuffer<FastReading> readings{"fast"};
  };

  Database db;
  RunInfo run;
  std::filesystem::path file;  // being written
  std::filesystem::path home;  // where it belongs; the same, unless that is on a network
  std::filesystem::path scratch{};
  TimePoint due;
  std::map<GpuId, Device> devices{};
  std::vector<Channel> channels{};
  NameBook names{};
  MarkQuota frequent_marks{};
  MarkQuota other_marks{};
  std::vector<KernelRecord> kernels{};  // of the open second
  std::optional<Error> failure{};       // of the file; from then on nothing is written
  bool told = false;
  bool open = false;  // a transaction
  bool finished = false;
  std::int64_t next_source = 1;
  std::int64_t next_feature_window = 1;
  std::int64_t next_expectation = 1;

  ChunkSink chunks{"sample_chunk"};
  ChunkSink channel_chunks{"channel_chunk"};
  KernelEncoder kernel_encoder{};
  Statement begin_transaction{"BEGIN"};
  Statement commit_transaction{"COMMIT"};
  Statement put_device{"INSERT OR REPLACE" + insert_into("device", 24).substr(6)};
  Statement insert_source{insert_into("source", 8)};
  Statement insert_edge{insert_into("counter_edge", 4)};
  Statement insert_mark{insert_into("mark", 7 + 4)};
  Statement insert_iteration{insert_into("iteration", 4)};
  Statement insert_statement{insert_into("iteration_statement", 13)};
  Statement insert_rate{insert_into("progress_rate", 8)};
  Statement insert_shift{insert_into("shift", 8)};
  Statement insert_feature_window{insert_into("feature_window", 5 + kSettingColumns + 1)};
  Statement insert_feature{insert_into("feature", 3)};
  Statement insert_window{insert_into("window", 2 + kSettingColumns + 3 + 6)};
  Statement insert_change{insert_into("setting_change", 3 + 2 * kSettingColumns + 3)};
  Statement insert_decision{insert_into("decision", 2 + kSettingColumns + 1)};
  Statement insert_goal{insert_into("goal", 8)};
  Statement insert_expectation{insert_into("expectation", 2)};
  Statement insert_expected{insert_into("expected_setting", 1 + kSettingColumns + 9)};
  Statement insert_gap{insert_into("gap", 5)};
  Statement insert_channel{insert_into("channel", 13)};
  Statement insert_channel_end{insert_into("channel_end", 1 + 6 + 2)};
  Statement put_name{"INSERT OR REPLACE" + insert_into("name", 2).substr(6)};
  Statement insert_kernels{insert_into("kernel_chunk", 5)};
  Statement insert_cycle{insert_into("kernel_cycle", 4)};
  Statement insert_end{insert_into("run_end", 8)};
  Statement insert_device_energy{insert_into("device_energy", 1 + 6)};
  Statement insert_device_end{insert_into("device_end", 1 + 6 + 2 * (1 + kSettingColumns) + 3)};

  template <class... Values>
  void write(Statement& statement, const Values&... values) {
    if (failure || !begin()) return;
    if (!statement.run(db, values...)) fail_with(db.error("cannot write run record"));
  }
  [[nodiscard]] bool begin();
  void fail_with(const Error& error) {
    if (!failure) failure = error;
  }
  void commit();
  /// Commits what is held back; with `all` what would still wait for more of its kind too.
  void flush(bool all);
  void flush_progress(bool all);

  Device& device(const GpuId& gpu);
  [[nodiscard]] std::optional<std::int64_t> device_row(const std::optional<GpuId>& gpu) {
    return gpu ? std::optional(device(*gpu).id) : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> channel_row(const std::optional<std::size_t>& channel) const {
    return channel && *channel < channels.size() ? std::optional(channels[*channel].id) : std::nullopt;
  }
  void write_device(std::int64_t id, const DeviceInfo& d);
  [[nodiscard]] std::int64_t source(const GpuId& gpu, const Source& source);
  [[nodiscard]] std::int64_t channel_source(std::int64_t channel, const Source& source);
  void device_end(const DeviceEnd& end);
  void channel_end(const ChannelEnd& end);
};

}  // namespace rubato::record
