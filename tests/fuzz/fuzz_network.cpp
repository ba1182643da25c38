#include <cmath>

#include "fuzz/target.h"
#include "predict/layers/demands.h"

// What parses can be counted, or says why not; counts are no less than nothing.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato;
  const auto network = predict::parse_network(fuzz::text_of(data, size));
  if (!network) return 0;
  predict::DemandOptions how;
  if (!network->batch) how.batch = 2;
  how.skip_dynamic = size % 2 == 0;
  const auto demanded = predict::demands_of(*network, how);
  if (!demanded) return 0;
  for (const LayerDemand& layer : demanded->demands.layers)
    fuzz::require(layer.operations >= 0 && layer.bytes_read >= 0 && layer.bytes_written >= 0 &&
                  std::isfinite(layer.operations) && std::isfinite(layer.bytes()) && layer.kernels > 0);
  fuzz::require(predict::trained_parameters_of(demanded->demands) >= 0);
  return 0;
}
