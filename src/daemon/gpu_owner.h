// One GPU in the hands of rubatod: its lock for as long as rubatod lives, and within a lease what the guard
// does with it. One task after the other, each of them calls the driver; which thread does so is the caller's
// business (daemon/owner_thread.h).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "base/clock.h"
#include "base/fs_root.h"
#include "daemon/caller.h"
#include "guard/held_gpu.h"

namespace rubato::daemon {

// ---- tasks ----
/// Takes the GPU's lock, opens it and puts back what a dead run left.
struct Prepare {};
/// Begins a lease, for a caller whom the rules let have it.
struct Take {
  guard::Terms terms;
  Caller caller;
  bool shared = false;     // even where others compute on the GPU
  bool only_look = false;  // answers as if, and holds nothing
};
struct Set {
  Setting setting;
};
/// A control block: back to what was found, lease kept.
struct PutBack {};
/// Ends the lease, if there is one.
struct End {};
/// Is the lease still alone on the GPU?
struct Look {};
/// Between jobs: is it as it was found? What a dead run left is put back. busy within a lease.
struct Clear {};
using Task = std::variant<Prepare, Take, Set, PutBack, End, Look, Clear>;

// ---- answers ----
struct Prepared {
  PowerLimits limits;
  std::optional<RestorationReport> left_behind;  // what was put back
};
struct Seen {
  PowerLimits limits;
  std::optional<Error> trouble;  // why the lease has to end
};
struct Between {
  std::optional<std::int64_t> energy_mj;         // the counter now, where the GPU has one
  std::optional<RestorationReport> left_behind;  // what was put back
};
using Answer = std::variant<Prepared, wire::Found, wire::Applied, RestorationReport, Seen, Between>;
using Outcome = Result<Answer>;

struct OwnerOptions {
  GpuId gpu;
  guard::GpuFactory open;
  std::filesystem::path folder;  // of journals and locks; made where missing
  mode_t folder_mode = guard::kUserFolderMode;
  FsRoot root{};
  std::function<std::string()> driver_version;
  std::shared_ptr<const Clock> clock;
  std::shared_ptr<guard::FileOps> files = std::make_shared<guard::FileOps>();
};

class GpuOwner {
 public:
  explicit GpuOwner(OwnerOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Outcome run(const Task& task);

 private:
  [[nodiscard]] Outcome prepare();
  [[nodiscard]] Outcome take(const Take& task);
  [[nodiscard]] Outcome set(const Set& task);
  [[nodiscard]] Outcome end();
  [[nodiscard]] Outcome look();
  /// Who computes there that is not of the caller; empty: nobody.
  [[nodiscard]] Result<std::string> foreign_to(const Caller& caller) const;
  [[nodiscard]] Outcome clear();
  [[nodiscard]] Status open();
  [[nodiscard]] Result<PowerLimits> limits();

  OwnerOptions options_;
  std::optional<guard::Folder> folder_;
  guard::SharedOwnership ownership_;
  std::shared_ptr<guard::OpenedGpu> opened_;
  std::optional<guard::HeldGpu> held_;
  Caller holder_;  // of the lease
  bool shared_ = false;
};

}  // namespace rubato::daemon
