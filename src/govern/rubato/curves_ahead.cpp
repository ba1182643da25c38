#include "govern/rubato/curves_ahead.h"

#include <cmath>
#include <utility>

namespace rubato::govern {
namespace {

constexpr std::size_t kAtOnce = 8;
// A baseline that draws more or less than this beside what they were drawn for has others.
constexpr double kAlike = 0.01;

}  // namespace

void CurvesAhead::draw(const predict::Known& known, std::span<const predict::KnobPoint> at,
                       std::size_t curves, Random& random) {
  if (drawing_) {
    drawing_->draw(kAtOnce);
    return;
  }
  auto drawing = predict::PhysicalDrawing::begin(known, at, curves, random);
  if (!drawing) return;
  drawing_ = std::move(*drawing);
  drawn_for_ = known;
}

std::optional<predict::Draws> CurvesAhead::take(const predict::Known& known) {
  if (!drawing_) return std::nullopt;
  auto drawing = std::exchange(drawing_, std::nullopt);
  const double power = known.at_default.power() / drawn_for_.at_default.power();
  // Counters may have been read meanwhile.
  if (std::abs(power - 1) > kAlike || known.features.empty() != drawn_for_.features.empty())
    return std::nullopt;
  return std::move(*drawing).finish();
}

}  // namespace rubato::govern
