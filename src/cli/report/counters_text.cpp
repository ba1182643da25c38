#include <algorithm>
#include <array>
#include <cmath>

#include "cli/report/counter_values.h"
#include "cli/report/iteration_text.h"

namespace rubato::cli {
namespace {

// As many windows as find room beside the names in 80 columns: the first, and the last ones.
constexpr std::size_t kWindows = 4;

const record::DeviceRecord* device_of(const record::RunRecord& run, const GpuId& gpu) {
  const auto device =
      std::ranges::find_if(run.devices, [&](const auto& d) { return d.info.identity.id == gpu; });
  return device == run.devices.end() ? nullptr : &*device;
}

void gpu_counters(Page& page, const record::RunRecord& run, const record::DeviceRecord& device) {
  std::vector<const record::FeatureWindow*> windows;
  for (const record::FeatureWindow& w : run.features)
    if (w.gpu == device.info.identity.id) windows.push_back(&w);
  if (windows.empty()) return;
  const std::size_t all = windows.size();
  if (all > kWindows) windows.erase(windows.begin() + 1, windows.end() - (kWindows - 1));

  page.heading(cat("Counters of ", gpu_name(run, device.info.identity.id), " (", name_of(device.info.kind),
                   all > windows.size() ? cat(", ", windows.size(), " of ", all, " windows)") : ")"));
  std::vector<Table::Column> heads = {{"counter, at"}};
  for (const auto* w : windows)
    heads.push_back({text_of(std::max(Seconds(0), w->features.begin - run.info.begin)), true});
  Table table(heads);
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    const auto feature = static_cast<Feature>(i);
    if (std::ranges::none_of(windows, [&](const auto* w) { return w->features[feature].has_value(); }))
      continue;
    std::vector<std::string> row = {label_of(feature)};
    for (const auto* w : windows) {
      const auto value = w->features[feature];
      row.push_back(value ? value_text(feature, *value) : "-");
    }
    table.add(std::move(row));
  }
  page.table(table);
  for (const auto* w : windows)
    page.timed(std::max(Seconds(0), w->features.begin - run.info.begin),
               cat(w->provider, ", over ", text_of(w->features.end - w->features.begin),
                   w->setting.empty() ? " at the setting that was found" : cat(" at ", describe(w->setting)),
                   ", because ", w->why));
}

}  // namespace

std::string scaled(double value, std::string_view unit) {
  struct Prefix {
    double above;
    std::string_view name;
  };
  constexpr std::array<Prefix, 5> kPrefixes{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {0, ""}}};
  for (const Prefix& prefix : kPrefixes) {
    if (std::abs(value) < prefix.above) continue;
    const double shown = prefix.above > 0 ? value / prefix.above : value;
    const int digits = std::abs(shown) < 9.995 ? 2 : std::abs(shown) < 99.95 ? 1 : 0;
    return cat(fixed(shown, digits), prefix.name.empty() && unit.empty() ? "" : " ", prefix.name, unit);
  }
  return fixed(value, 2);
}

std::string label_of(Feature feature) {
  std::string name(kFeatureNames[static_cast<std::size_t>(feature)]);
  constexpr std::string_view kBytes = "_bytes_per_s";
  if (name.ends_with(kBytes)) name.resize(name.size() - kBytes.size());
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string value_text(Feature feature, double value) {
  switch (feature) {
    case Feature::pcie_tx_bytes_per_s:
    case Feature::pcie_rx_bytes_per_s:
    case Feature::nvlink_tx_bytes_per_s:
    case Feature::nvlink_rx_bytes_per_s:
      return scaled(value, "B/s");
    case Feature::instructions_per_second:
      return scaled(value, "");
    case Feature::instructions_per_cycle:
    case Feature::l1_misses_per_instruction:
    case Feature::l2_misses_per_instruction:
      return fixed(value, std::abs(value) < 0.1 ? 4 : 2);
    default:
      return percent(value);
  }
}

std::string gpu_name(const record::RunRecord& run, const GpuId& gpu) {
  const record::DeviceRecord* device = device_of(run, gpu);
  return device == nullptr ? gpu.uuid : cat("GPU ", device->info.identity.index);
}

void counters_text(Page& page, const record::RunRecord& run) {
  for (const record::DeviceRecord& device : run.devices) gpu_counters(page, run, device);
}

}  // namespace rubato::cli
