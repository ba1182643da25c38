// Who can count what a GPU does (DESIGN: counter features on one schema). A provider is asked for one window
// at a time, and only when somebody needs it: when the iteration changes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/capability.h"
#include "core/feature_schema.h"
#include "core/sample.h"
#include "device/gpu.h"

namespace rubato::feature {

/// What a person has to know before counting by it.
struct ProviderFacts {
  std::string_view name;      // on the command line and in records: "gpm"
  std::string_view says;      // what it reads, in a few words
  std::string_view rights;    // what it needs
  std::string_view costs;     // to the job and to rubato, and whether that was measured
  std::string_view disturbs;  // whom: other profilers, the job, nobody
};

class Provider {
 public:
  virtual ~Provider() = default;
  [[nodiscard]] virtual const ProviderFacts& facts() const = 0;
  /// By a real read where nothing less can tell; probed once.
  [[nodiscard]] virtual const Capability& availability() const = 0;
  /// The features it can fill on this GPU; empty where unavailable.
  [[nodiscard]] virtual std::span<const Feature> features() const = 0;
  /// For providers that live on what is read anyway.
  virtual void see(const SlowReading&) {}
  virtual void see(const FastReading&) {}
  /// A window begins. Errors: not_supported where it is not available; busy where a window is open; what the
  /// driver says.
  [[nodiscard]] virtual Status begin(TimePoint now) = 0;
  /// While a window is open: when it wants to be called again, and the call. Most never do.
  [[nodiscard]] virtual std::optional<TimePoint> next_due() const { return std::nullopt; }
  [[nodiscard]] virtual Status poll(TimePoint) { return {}; }
  /// Means over the window, which is closed whatever this returns. Errors: conflict where none is open;
  /// unavailable where it was too short to hold one update; what the driver says.
  [[nodiscard]] virtual Result<FeatureVector> end(TimePoint now) = 0;
  /// Who told what the last window holds: another name than its own where its counters came out empty.
  [[nodiscard]] virtual std::string_view source() const { return facts().name; }
  /// Driver calls so far, and the time inside them.
  [[nodiscard]] virtual CallCost cost() const = 0;
};

struct ProviderKind {
  ProviderFacts facts;
  /// Never null; one that cannot work says so in availability(). `gpu` must outlive it.
  std::unique_ptr<Provider> (*open)(device::Gpu& gpu) = nullptr;
  /// Disturbs others, or this process, more than a reading that nobody asked for may.
  bool only_by_name = false;
};

/// Best first; "auto" takes the first that is available and not only to be had by name.
[[nodiscard]] std::span<const ProviderKind> provider_kinds();
/// "auto" or a name. Errors: invalid_argument naming the kinds there are; not_supported where "auto" finds
/// none that is available, with each one's reason.
[[nodiscard]] Result<std::unique_ptr<Provider>> open_provider(std::string_view name, device::Gpu& gpu);

}  // namespace rubato::feature
