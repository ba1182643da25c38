// Curves of a program, drawn a few at a time while its baseline is still measured: all at once would be the
// longest of all decisions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/random.h"
#include "predict/draws.h"

namespace rubato::govern {

class CurvesAhead {
 public:
  void forget() { drawing_.reset(); }
  /// Some of `curves`, for what is known so far; cheap once all are drawn. Curves that cannot be drawn are
  /// left to who asks for them in the end.
  void draw(const predict::Known& known, std::span<const predict::KnobPoint> at, std::size_t curves,
            Random& random);
  /// Those that were drawn and those that are left; nothing where what they were drawn for is not what is
  /// known now. Either way they are gone.
  [[nodiscard]] std::optional<predict::Draws> take(const predict::Known& known);

 private:
  std::optional<predict::PhysicalDrawing> drawing_;
  predict::Known drawn_for_;
};

}  // namespace rubato::govern
