#include "cli/report/window_rows.h"

#include <array>
#include <string>
#include <vector>

namespace rubato::cli {
namespace {

using analyse::SpanEnergy;
using report::Cell;

class WindowRows final : public report::Rows {
 public:
  explicit WindowRows(const analyse::Summary& summary) : summary_(summary) {
    for (const SpanEnergy& epoch : summary.parts.epochs) spans_.push_back(&epoch);
    for (const SpanEnergy& window : summary.parts.windows) spans_.push_back(&window);
  }

  [[nodiscard]] std::span<const std::string> columns() const override { return kColumns; }

  [[nodiscard]] Result<bool> next(std::vector<Cell>& row) override {
    if (span_ == spans_.size()) return false;
    const SpanEnergy& span = *spans_[span_];
    row.clear();
    about(span, row);
    // Of a run without a source its times are known all the same.
    if (source_ < span.energy.size())
      energy(span, source_++, row);
    else
      row.resize(kColumns.size());
    if (source_ >= span.energy.size()) {
      ++span_;
      source_ = 0;
    }
    return true;
  }

 private:
  static const std::array<std::string, 14> kColumns;

  void about(const SpanEnergy& s, std::vector<Cell>& row) const {
    const bool epoch = s.span.kind == analyse::SpanKind::epoch;
    row.emplace_back(std::string(epoch ? "epoch" : "window"));
    row.emplace_back(epoch ? std::to_string(s.span.id) : s.span.name);
    row.emplace_back((s.span.begin - summary_.timeline.begin).value());
    row.emplace_back((s.span.end - summary_.timeline.begin).value());
    row.emplace_back(std::int64_t{s.span.cut_short});
    row.emplace_back(s.iterations);
    row.push_back(s.iteration_time ? Cell(s.iteration_time->value()) : Cell());
  }

  void energy(const SpanEnergy& s, std::size_t source, std::vector<Cell>& row) const {
    row.emplace_back(summary_.parts.sources[source].key);
    const auto& figure = s.energy[source];
    if (!figure) {
      row.resize(kColumns.size());
      return;
    }
    row.emplace_back(figure->energy.value());
    row.emplace_back(figure->band_sampling.value());
    row.emplace_back(figure->band_calibration.value());
    row.emplace_back(std::string(name_of(figure->kind)));
    row.emplace_back(std::int64_t{figure->apportioned});
    row.emplace_back(figure->unseen.value());
  }

  const analyse::Summary& summary_;
  std::vector<const SpanEnergy*> spans_;
  std::size_t span_ = 0;
  std::size_t source_ = 0;
};

const std::array<std::string, 14> WindowRows::kColumns = {
    "what",        "name",    "begin_s",  "end_s",           "cut_short",          "iterations",
    "iteration_s", "source",  "energy_j", "band_sampling_j", "band_calibration_j", "kind",
    "apportioned", "unseen_s"};

}  // namespace

Status write_windows(const analyse::Summary& summary, report::Sink& to) {
  WindowRows rows(summary);
  return report::write_csv(rows, to);
}

}  // namespace rubato::cli
