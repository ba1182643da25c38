#include "report/series_outline.h"

#include <algorithm>
#include <cmath>

namespace rubato::report {

SeriesOutline::SeriesOutline(double length, std::size_t pieces)
    : width_(std::max(length, 1e-9) / static_cast<double>(pieces)), pieces_(pieces) {}

void SeriesOutline::add(const std::string& name, double quantum, std::size_t count,
                        const SeriesPacker::Read& moment, const SeriesPacker::Read& value) {
  Column column{name, quantum, std::vector<Piece>(pieces_)};
  const auto last = static_cast<double>(pieces_ - 1);
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<double> at = moment(i);
    const std::optional<double> v = value(i);
    if (!at || !v || !std::isfinite(*at) || !std::isfinite(*v)) continue;
    Piece& piece = column.pieces[static_cast<std::size_t>(std::clamp(*at / width_, 0.0, last))];
    piece.low = piece.count == 0 ? *v : std::min(piece.low, *v);
    piece.high = piece.count == 0 ? *v : std::max(piece.high, *v);
    piece.sum += *v;
    ++piece.count;
    any = true;
  }
  if (any) columns_.push_back(std::move(column));
}

Result<PackedSeries> SeriesOutline::finish(int id) && {
  SeriesPacker packer(pieces_);
  // Middles are multiples of half a piece: they take no room.
  packer.moments(width_ / 2, [this](std::size_t i) { return (static_cast<double>(i) + 0.5) * width_; });
  for (const Column& column : columns_) {
    const auto put = [&](const char* what, double quantum, auto of) {
      packer.values(column.name + what, quantum, [&](std::size_t i) -> std::optional<double> {
        const Piece& piece = column.pieces[i];
        if (piece.count == 0) return std::nullopt;
        return of(piece);
      });
    };
    put(".low", column.quantum, [](const Piece& p) { return p.low; });
    put(".high", column.quantum, [](const Piece& p) { return p.high; });
    put(".mean", column.quantum / 10, [](const Piece& p) { return p.sum / static_cast<double>(p.count); });
    put(".count", 1, [](const Piece& p) { return static_cast<double>(p.count); });
  }
  auto packed = std::move(packer).finish(id, false);
  if (packed) packed->head.set("width_s", Amount{width_, "s"});
  return packed;
}

}  // namespace rubato::report
