// One GPU of a lease: its lock, its journal, its driver handles, and the promise to bring it back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "guard/journal.h"
#include "guard/opened_gpu.h"
#include "guard/ownership.h"
#include "guard/recover.h"
#include "guard/writes.h"
#include "wire/message.h"

namespace rubato::guard {

/// What a client may do with the GPU.
struct Terms {
  std::vector<Knob> knobs;
  ClockLock found_sm_clock;  // as the user stated it
};

class HeldGpu {
 public:
  /// Puts back what a dead run left, reads what is found and journals it; changes nothing else.
  [[nodiscard]] static Result<HeldGpu> take(const Folder& folder, const GpuId& gpu, SharedOwnership ownership,
                                            std::shared_ptr<OpenedGpu> opened, const Terms& terms,
                                            const Era& era);

  [[nodiscard]] const GpuId& id() const { return found_.gpu; }
  [[nodiscard]] const wire::Found& found() const { return found_; }

  /// All of the setting or, after an error, none of it. conflict where somebody else changed the
  /// limit or the application clocks. `clock`: the one the GPU lives on.
  [[nodiscard]] Result<wire::Applied> apply(const Setting& setting, const Clock& clock);
  /// Whether what is in force is still what was asked for: device_lost where the GPU was reset or its driver
  /// loaded anew since, so that every setting is gone; conflict where somebody else set the limit or the
  /// application clocks.
  [[nodiscard]] Status look_for_others(const Era& now) const;
  /// Back to what was found; the GPU stays held.
  [[nodiscard]] RestorationReport back_to_found() noexcept;
  /// Back to what was found, for good: tried twice at once, and the journal goes unless that failed. May be
  /// asked again then.
  [[nodiscard]] RestorationReport end() noexcept;

 private:
  HeldGpu(SharedOwnership ownership, std::shared_ptr<OpenedGpu> opened, Journal journal, Terms terms,
          wire::Found found)
      : ownership_(std::move(ownership)),
        opened_(std::move(opened)),
        journal_(std::move(journal)),
        terms_(std::move(terms)),
        found_(std::move(found)) {}

  /// What is in force before a request, which undoing goes back to.
  struct Before {
    PowerLimits limits;
    ClockLock sm_lock;
    ClockLock memory_lock;
    std::optional<ApplicationClocks> application_clocks;  // where the lease holds that knob
  };

  [[nodiscard]] Result<Before> look() const;
  Status check(const Setting& setting, const Before& before) const;
  Status check_clocks(Knob knob, const ClockRange& range) const;
  Status check_application(const ApplicationClocks& clocks, const ApplicationClocks& now) const;
  Status check_limit_ours(const PowerLimits& now) const;
  Status check_application_ours(const ApplicationClocks& now) const;
  Status write(const Setting& setting, const Before& before, AskedAt& locks);
  /// Words on what could not be undone; empty where all was.
  std::string undo(const Setting& setting, const Before& before) noexcept;

  SharedOwnership ownership_;
  std::shared_ptr<OpenedGpu> opened_;
  Journal journal_;
  Terms terms_;
  wire::Found found_;
};

}  // namespace rubato::guard
