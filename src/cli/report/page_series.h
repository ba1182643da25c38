// What a run's charts are drawn from: every reading of its record, packed for a page.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "record/reader.h"
#include "report/packed_series.h"
#include "report/series_outline.h"

namespace rubato::cli {

/// How exact moments and powers are in a page: fine where there are few, coarser where the file would grow.
struct PageResolution {
  double moment_s = 1e-4;
  double power_w = 0.01;
  /// In words, with where the rest is to be had.
  [[nodiscard]] std::string sentence(const std::string& run) const;
};

/// Of all the records that one page shows.
[[nodiscard]] PageResolution resolution_for(std::size_t readings);
/// The next coarser one, for readings with so much noise in them that the file would still grow too large;
/// absent where single samples would suffer.
[[nodiscard]] std::optional<PageResolution> coarser(const PageResolution& resolution);
[[nodiscard]] std::size_t readings_of(const record::RunRecord& run);

/// GPUs first, then meters, then iterations. The head of each has besides "owner" (GPU 0, a meter's channel,
/// with `prefix` in front), and "meter" where it is one. Times are seconds since the run's begin; values as
/// the driver told them. Numbered from `first_id` on. To an `outline` each column is added as ID.COLUMN.
[[nodiscard]] Result<std::vector<report::PackedSeries>> page_series(
    const record::RunRecord& run, const PageResolution& resolution, const std::string& prefix = {},
    int first_id = 0, report::SeriesOutline* outline = nullptr, const std::function<void()>& one_done = {});
/// How often `one_done` is called: for each GPU and meter, and for the iterations.
[[nodiscard]] std::size_t steps_of(const record::RunRecord& run);

}  // namespace rubato::cli
