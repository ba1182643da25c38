#include "device/sim/world.h"

#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "device/sim/world_impl.h"

namespace rubato::device::sim {
namespace {

// The path is part of every UUID: two ways of writing it must give the same GPUs.
std::filesystem::path whole(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path folder = std::filesystem::weakly_canonical(absolute.parent_path(), error);
  return error ? path : folder / path.filename();
}

}  // namespace

Status SimWorld::Impl::check_gpu(unsigned gpu) const {
  if (gpu < profiles.size()) return {};
  return fail(ErrorCode::not_found,
              cat("this simulated world has ", profiles.size(), " GPUs, and none of index ", gpu));
}

SimWorld::SimWorld(std::unique_ptr<Storage> storage) : impl_(std::make_unique<Impl>()) {
  impl_->storage = std::move(storage);
  const WorldHeader& header = impl_->storage->header();
  impl_->scenario = scenario_of(header);
  if (const char* role = std::getenv("RUBATO_SIM_ROLE")) impl_->role = role;
  if (impl_->in_file()) {
    impl_->clock = std::make_shared<ScaledClock>(TimePoint{header.origin_ns}, header.rate);
  } else {
    impl_->following = std::make_shared<FollowingClock>(TimePoint{header.origin_ns});
    impl_->clock = impl_->following;
  }
}

SimWorld::~SimWorld() = default;

Result<std::unique_ptr<SimWorld>> SimWorld::create_private(std::span<const std::string> profiles,
                                                           const Scenario& scenario, TimePoint start) {
  Result<NewWorld> made = new_world(profiles, scenario, scenario.rights.value_or(Rights::owner), start);
  if (!made) return fail(made.error());
  return adopt(private_storage(std::move(*made)));
}

Result<std::unique_ptr<SimWorld>> SimWorld::adopt(std::unique_ptr<Storage> storage) {
  std::unique_ptr<SimWorld> world(new SimWorld(std::move(storage)));
  Impl& impl = *world->impl_;
  const WorldHeader& header = impl.storage->header();
  for (unsigned i = 0; i < header.gpu_count; ++i) {
    const std::string_view name(header.profiles[i], ::strnlen(header.profiles[i], sizeof header.profiles[i]));
    const Result<const Profile*> profile = find_profile(name);
    if (!profile) return fail(profile.error());
    impl.profiles.push_back(*profile);
    // The bus id counts from 0x1B as on common servers; nothing stands behind it.
    impl.identities.push_back({.id = {uuid_of(**profile, i, impl.storage->path().string())},
                               .name = (*profile)->board,
                               .index = i,
                               .pci_bus_id = cat("00000000:", hex(0x1B + i, 2), ":00.0")});
  }
  return world;
}

Result<std::unique_ptr<SimWorld>> SimWorld::open(const std::filesystem::path& path) {
  Result<std::unique_ptr<Storage>> storage = open_file_storage(whole(path));
  if (!storage) return fail(storage.error());
  return adopt(std::move(*storage));
}

Result<std::unique_ptr<SimWorld>> SimWorld::open_or_create(const std::filesystem::path& path,
                                                           std::span<const std::string> profiles,
                                                           const Scenario& scenario, Rights default_rights) {
  std::vector<std::string> wanted;
  for (const std::string& name : profiles) {
    const Result<const Profile*> profile = find_profile(name);
    if (!profile) return fail(profile.error());
    wanted.push_back((*profile)->name);
  }
  Result<std::unique_ptr<SimWorld>> there = open(path);
  if (there && (*there)->impl_->storage->header().boot_id != boot_id()) {
    // The monotonic clock began anew with this boot, and the world's time with it.
    if (Status gone = reset_world(path); !gone && gone.error().code != ErrorCode::not_found)
      return fail(gone.error());
    there = open(path);
  }
  if (!there && there.error().code == ErrorCode::not_found) {
    const Result<NewWorld> made =
        new_world(profiles, scenario, scenario.rights.value_or(default_rights), RealClock().now());
    if (!made) return fail(made.error());
    // Whoever was quicker made it: then it is used as it is.
    if (Status written = create_world_file(path, *made);
        !written && written.error().code != ErrorCode::conflict)
      return fail(written.error());
    there = open(path);
  }
  if (!there || wanted.empty()) return there;
  std::string has;
  std::string asked;
  for (const Profile* profile : (*there)->impl_->profiles) has += cat(has.empty() ? "" : ",", profile->name);
  for (const std::string& name : wanted) asked += cat(asked.empty() ? "" : ",", name);
  if (has != asked)
    return fail(ErrorCode::conflict,
                cat("the simulated world ", path.string(), " holds ", has, ", not ", asked),
                "`rubato sim reset` removes it, or set RUBATO_SIM_WORLD to another file");
  return there;
}

unsigned SimWorld::gpu_count() const {
  return static_cast<unsigned>(impl_->profiles.size());
}
const GpuIdentity& SimWorld::identity(unsigned gpu) const {
  return impl_->identities.at(gpu);
}
const Profile& SimWorld::profile(unsigned gpu) const {
  return *impl_->profiles.at(gpu);
}
const Scenario& SimWorld::scenario() const {
  return impl_->scenario;
}
std::string SimWorld::driver_version() const {
  return impl_->profiles.front()->driver_version;
}
Rights SimWorld::rights() const {
  return impl_->scenario.rights.value_or(Rights::owner);
}
const std::filesystem::path& SimWorld::path() const {
  return impl_->storage->path();
}
std::shared_ptr<const Clock> SimWorld::clock() const {
  return impl_->clock;
}
std::string SimWorld::why_may_not_set() const {
  return impl_->why_may_not_set();
}

std::optional<unsigned> SimWorld::find(std::string_view uuid) const {
  for (unsigned i = 0; i < gpu_count(); ++i)
    if (identity(i).id.uuid == uuid) return i;
  return std::nullopt;
}

}  // namespace rubato::device::sim
