// Counter features as people read them.
#pragma once

#include <string>
#include <string_view>

#include "core/feature_schema.h"
#include "record/reader.h"

namespace rubato::cli {

/// Three digits and a prefix: "1.25 G" with "B/s" is "1.25 GB/s".
[[nodiscard]] std::string scaled(double value, std::string_view unit);
/// "tensor active", "pcie tx".
[[nodiscard]] std::string label_of(Feature feature);
/// "75.0 %", "1.25 GB/s", "2.10".
[[nodiscard]] std::string value_text(Feature feature, double value);
/// "GPU 0".
[[nodiscard]] std::string gpu_name(const record::RunRecord& run, const GpuId& gpu);

}  // namespace rubato::cli
