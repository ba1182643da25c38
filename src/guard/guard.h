// The guard's mind: one lease, its GPUs, its heartbeat. Passive and single-threaded: datagrams and time go
// in, replies come out; the loop around it is guard/process.h, in virtual time a function call.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fs_root.h"
#include "guard/held_gpu.h"
#include "wire/message.h"

namespace rubato::guard {

struct GuardOptions {
  GpuFactory open;
  std::filesystem::path folder;  // of journals and locks; made where missing
  mode_t folder_mode = kUserFolderMode;
  FsRoot root{};  // for the boot id
  std::string driver_version;
  std::shared_ptr<const Clock> clock;
  std::string token{};  // where not empty, the first message must be a Hello that carries it
  std::shared_ptr<FileOps> files = std::make_shared<FileOps>();
  /// Waits between two tries at putting back; without it there are no later tries. In virtual time it moves
  /// the clock, in a process it tells the client that the guard lives, and sleeps.
  std::function<void(Seconds)> pause{};
};

/// A driver that refuses to put back is asked again so often and for so long at the end of a lease, on the
/// GPUs' clock. The locks are kept meanwhile.
inline constexpr Seconds kRetryPeriod{0.5};
inline constexpr Seconds kRetryPatience{10.0};

/// What is wrong with a request for a lease before any GPU is looked at: invalid_argument.
[[nodiscard]] Status check_request(const wire::Acquire& request);

class Guard {
 public:
  explicit Guard(GuardOptions options) : options_(std::move(options)) {}
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// Writes nothing: whoever drives the guard ends the lease first, or has died and left a journal.
  ~Guard() = default;

  /// The reply to one datagram, or nothing where none is due.
  [[nodiscard]] std::string handle(std::string_view datagram, TimePoint now);
  [[nodiscard]] TimePoint next_due() const;
  /// Restores and ends the lease where nothing was heard for kLeaseTimeout. This, the next and the reply to a
  /// Release take up to kRetryPatience where the driver refuses.
  void step(TimePoint now);
  /// The client is gone, or this process has to go: restores and ends the lease.
  std::vector<RestorationReport> client_gone(TimePoint now) noexcept;

  [[nodiscard]] bool holds_lease() const { return !held_.empty(); }

 private:
  [[nodiscard]] Result<wire::Body> answer(const wire::Body& request);
  [[nodiscard]] Result<wire::Body> greet(const wire::Hello& hello);
  [[nodiscard]] Result<wire::Body> acquire(const wire::Acquire& request);
  [[nodiscard]] Result<wire::Body> apply(const wire::Apply& request);
  [[nodiscard]] Result<wire::Body> restore_one(const wire::Restore& request);
  [[nodiscard]] Result<wire::Body> release();
  [[nodiscard]] Result<HeldGpu*> held(const GpuId& gpu);
  [[nodiscard]] Status in_lease() const;
  std::vector<RestorationReport> end_lease() noexcept;
  void try_on(std::vector<RestorationReport>& reports);

  GuardOptions options_;
  std::vector<HeldGpu> held_;  // in UUID order
  TimePoint last_heard_;
  bool greeted_ = false;
  std::optional<Error> ended_;                 // why there is no lease any more, until the next one
  std::vector<RestorationReport> ended_with_;  // how it ended then, for whoever asks by Release
};

static_assert(noexcept(std::declval<HeldGpu&>().end()), "nothing may stop the way back half way");

}  // namespace rubato::guard
