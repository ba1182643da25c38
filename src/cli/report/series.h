// The series of one run record, read as they are written out: a day of samples needs the memory of a chunk.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/types.h"
#include "report/rows.h"

namespace rubato::cli {

enum class Series {
  samples,
  meters,
  marks,
  kernels,
  iterations,
  statements,
  rates,
  shifts,
  features,
  blocks,
  decisions,
  expectations
};

[[nodiscard]] std::string_view name_of(Series series);

/// A record opened for reading its series, all of one moment even while the run goes on.
class SeriesReader {
 public:
  [[nodiscard]] static Result<SeriesReader> open(const std::filesystem::path& file);
  SeriesReader(SeriesReader&&) noexcept;
  ~SeriesReader();

  [[nodiscard]] const record::RunInfo& info() const;
  /// What a reader of the numbers has to know: the run, its GPUs, the source and kind of what was read.
  [[nodiscard]] Result<std::vector<std::string>> facts() const;
  /// Valid as long as this object. One at a time of each series.
  [[nodiscard]] Result<std::unique_ptr<report::Rows>> rows(Series series) const;
  /// How many rows a series has, about; 0 where they are too few to be waited for.
  [[nodiscard]] std::size_t rows_about(Series series) const;
  /// From now on told how many rows were read, now and then.
  void watch(std::function<void(std::size_t)> watcher);

 private:
  struct Impl;
  [[nodiscard]] Result<std::unique_ptr<report::Rows>> unwatched(Series series) const;
  explicit SeriesReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rubato::cli
