// The runs that the dashboard lists: finished ones from their records, summarised once, and those that go on
// or were cut short by their name and command.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "exporter/job_watch.h"
#include "record/reader.h"

namespace rubato::exporter {

struct BookedRun {
  record::RunSummary run;
  // Of a run that has ended; empty until its record was read.
  std::vector<JobGpu> gpus;
  std::optional<Joules> energy;  // of all GPUs; absent where one is missing
  std::optional<Kind> kind;      // of the energy
  std::optional<analyse::Savings> savings;
  bool with_intervals = false;  // the samples were read too, or the record is too large for that
};

struct RunBookState {
  std::vector<BookedRun> runs;  // newest first
  std::size_t left_out = 0;     // older ones
  std::size_t unreadable = 0;
};

class RunBook {
 public:
  /// `records`: held while a record is open here. Whoever asks record::writer_of() in another thread has to
  /// hold it too, as that drops the locks of this process.
  RunBook(std::vector<std::filesystem::path> folders, std::size_t most, std::mutex& records)
      : folders_(std::move(folders)), most_(most), records_(records) {}

  /// Lists the folders, and reads at most `records` records: true where more wait to be read.
  bool step(std::size_t records = 4);

  /// From any thread. The same one as long as nothing has changed.
  [[nodiscard]] std::shared_ptr<const RunBookState> state() const;
  /// The record of a run, also of one too new or too old to be listed. Absent: there is none.
  [[nodiscard]] std::optional<std::filesystem::path> file_of(const std::string& run_id) const;

 private:
  struct Known {
    BookedRun booked;
    std::int64_t changed_ns = 0;
    std::uintmax_t size = 0;
    bool outlined = false;
  };
  [[nodiscard]] std::vector<record::RunSummary> listed(std::size_t& unreadable) const;
  /// True where there was something to read.
  bool read_more(Known& known, const std::filesystem::path& file);

  std::vector<std::filesystem::path> folders_;
  std::size_t most_;
  std::mutex& records_;
  std::map<std::filesystem::path, Known> known_;
  std::string told_;  // what tells the state from the one before

  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const RunBookState> state_ = std::make_shared<const RunBookState>();
};

/// rubato.dashboard_runs/1 (docs/formats.md), on one line. `running`: ids of the runs that go on.
[[nodiscard]] std::string runs_json(const RunBookState& book, const std::vector<std::string>& running);

}  // namespace rubato::exporter
