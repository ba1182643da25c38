// Many series at once as a page first shows them: mean, extremes and count in each of equally long pieces of
// the time they cover, so that a picture of a day is there before its samples are unpacked.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/packed_series.h"

namespace rubato::report {

class SeriesOutline {
 public:
  /// From 0 to `length` seconds; what lies outside counts to the piece beside it.
  SeriesOutline(double length, std::size_t pieces);

  /// Columns NAME.low and NAME.high to the nearest multiple of `quantum`, NAME.mean to a tenth of it, and
  /// NAME.count. Samples without a value count nowhere.
  void add(const std::string& name, double quantum, std::size_t count, const SeriesPacker::Read& moment,
           const SeriesPacker::Read& value);

  [[nodiscard]] bool empty() const { return columns_.empty(); }
  /// The head has besides "width_s", of a piece; "time_s" are their middles.
  [[nodiscard]] Result<PackedSeries> finish(int id) &&;

 private:
  struct Piece {
    double low = 0;
    double high = 0;
    double sum = 0;
    std::int64_t count = 0;
  };
  struct Column {
    std::string name;
    double quantum = 1;
    std::vector<Piece> pieces;
  };

  double width_;
  std::size_t pieces_;
  std::vector<Column> columns_;
};

}  // namespace rubato::report
