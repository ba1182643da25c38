// A kind of meter in a module of its own, for plugin_test.cpp.
#include "meter/meter.h"

namespace rubato::meter::fake {
namespace {

Result<std::unique_ptr<Meter>> open(std::string_view argument, const Surroundings&) {
  return fail(ErrorCode::timeout, "no answer from " + std::string(argument), "wait");
}
std::vector<FoundMeter> find(const Surroundings&) {
  return {};
}

}  // namespace

const MeterKind& kind() {
  static constexpr MeterKind kKind{"fake", "HOST", "answers nothing", &open, &find};
  return kKind;
}

}  // namespace rubato::meter::fake
