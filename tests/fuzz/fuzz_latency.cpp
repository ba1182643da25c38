#include "experiment/latency/latency_file.h"
#include "fuzz/target.h"

// What is read can be written and reads back the same, and gives a delay for every change.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rubato;
  const auto table = experiment::read_latency(fuzz::text_of(data, size));
  if (!table) return 0;
  const std::string text = experiment::write_latency(*table);
  const auto again = experiment::read_latency(text);
  fuzz::require(again.has_value() && experiment::write_latency(*again) == text);
  const auto& pair = table->pairs.front();
  fuzz::require(experiment::typical_delay(*table, pair.to, pair.from).delay >= Seconds(0));
  return 0;
}
