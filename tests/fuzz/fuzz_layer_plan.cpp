#include "fuzz/target.h"
#include "plan/layers/layer_plan.h"

// What is read can be written and reads back the same.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato;
  const auto plan = plan::read_layer_plan(fuzz::text_of(data, size));
  if (!plan) return 0;
  const std::string text = plan::write_layer_plan(*plan);
  const auto again = plan::read_layer_plan(text);
  fuzz::require(again.has_value() && plan::write_layer_plan(*again) == text);
  return 0;
}
