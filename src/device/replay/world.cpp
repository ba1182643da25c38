#include "device/replay/world.h"

#include <unistd.h>

#include <cstring>

#include "device/replay/new_world.h"
#include "device/replay/world_impl.h"

namespace rubato::device::replay {
namespace {

constexpr SharedFileFormat kFormat{.magic = kReplayMagic,
                                   .version = kReplayVersion,
                                   .cell_size = sizeof(GpuState),
                                   .least_header = sizeof(ReplayHeader),
                                   .noun = "world of replayed GPUs",
                                   .make_hint = "`rubato devices --gpu replay:FILE#WORKLOAD` makes one",
                                   .remove_hint = "`rubato sim reset` removes it"};

// The path is part of every UUID: two ways of writing it must give the same GPUs.
std::filesystem::path whole(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  const std::filesystem::path folder = std::filesystem::weakly_canonical(absolute.parent_path(), error);
  return error ? path : folder / path.filename();
}

GpuIdentity identity_of(const Board& board, unsigned index, const std::string& path) {
  const std::string digits = digest(cat(board.title(), "#", index, "@", path));
  const std::string_view d = digits;
  // The bus id counts from 0x1B as on common servers; nothing stands behind it.
  return {.id = {cat("GPU-52", d.substr(2, 6), "-", d.substr(8, 4), "-", d.substr(12, 4), "-",
                     d.substr(16, 4), "-", d.substr(20, 12))},
          .name = board.title(),
          .index = index,
          .pci_bus_id = cat("00000000:", hex(0x1B + index, 2), ":00.0")};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

bool same(const std::vector<ReplaySource>& a, std::span<const ReplaySource> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ReplaySource& x, const ReplaySource& y) {
    return x.iteration == y.iteration && x.table.rows == y.table.rows;
  });
}

}  // namespace

ReplayWorld::ReplayWorld(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ReplayWorld::~ReplayWorld() = default;

Result<std::unique_ptr<ReplayWorld>> ReplayWorld::adopt(std::unique_ptr<SharedFile> file) {
  auto impl = std::make_unique<Impl>();
  impl->file = std::move(file);
  const Result<std::vector<ReplaySource>> sources = sources_of(impl->file->header());
  if (!sources) return fail(sources.error());
  for (const ReplaySource& source : *sources) {
    Result<Board> board = Board::make(source);
    if (!board) return fail(board.error());
    const auto index = static_cast<unsigned>(impl->boards.size());
    impl->identities.push_back(identity_of(*board, index, impl->file->path().string()));
    impl->boards.push_back(std::move(*board));
  }
  if (impl->file->cells() != impl->boards.size())
    return fail(ErrorCode::corrupt, cat(impl->file->path().string(), " holds ", impl->file->cells(),
                                        " states for ", impl->boards.size(), " GPUs"));
  const TimePoint origin{impl->header().origin_ns};
  if (impl->in_file()) {
    impl->clock = std::make_shared<ScaledClock>(origin, impl->header().rate);
  } else {
    impl->following = std::make_shared<FollowingClock>(origin);
    impl->clock = impl->following;
  }
  return std::unique_ptr<ReplayWorld>(new ReplayWorld(std::move(impl)));
}

Result<std::unique_ptr<ReplayWorld>> ReplayWorld::create_private(std::span<const ReplaySource> sources,
                                                                 const ReplayOptions& options,
                                                                 TimePoint start) {
  const Result<NewWorld> made = new_world(sources, options, start);
  if (!made) return fail(made.error());
  auto file = SharedFile::in_memory(kFormat, bytes_of(made->header), std::as_bytes(std::span(made->gpus)));
  if (!file) return fail(file.error());
  return adopt(std::move(*file));
}

Result<std::unique_ptr<ReplayWorld>> ReplayWorld::open(const std::filesystem::path& path) {
  auto file = SharedFile::open(whole(path), kFormat);
  if (!file) return fail(file.error());
  return adopt(std::move(*file));
}

Result<std::unique_ptr<ReplayWorld>> ReplayWorld::open_or_create(const std::filesystem::path& path,
                                                                 std::span<const ReplaySource> sources,
                                                                 const ReplayOptions& options) {
  Result<std::unique_ptr<ReplayWorld>> there = open(path);
  if (there && boot_id() != (*there)->impl_->header().boot_id) {
    // The monotonic clock began anew with this boot, and the world's time with it.
    if (Status gone = reset_world(path); !gone && gone.error().code != ErrorCode::not_found)
      return fail(gone.error());
    there = open(path);
  }
  if (!there && there.error().code == ErrorCode::not_found) {
    const Result<NewWorld> made = new_world(sources, options, RealClock().now());
    if (!made) return fail(made.error());
    // Whoever was quicker made it: then it is used as it is.
    if (Status written =
            SharedFile::create(path, kFormat, bytes_of(made->header), std::as_bytes(std::span(made->gpus)));
        !written && written.error().code != ErrorCode::conflict)
      return fail(written.error());
    there = open(path);
  }
  if (!there || sources.empty()) return there;
  const Result<std::vector<ReplaySource>> has = sources_of((*there)->impl_->file->header());
  if (!has) return fail(has.error());
  if (!same(*has, sources))
    return fail(ErrorCode::conflict,
                cat("the world ", path.string(), " replays something else: ", (*there)->identity(0).name),
                "`rubato sim reset` removes it, or set RUBATO_REPLAY_WORLD to another file");
  return there;
}

unsigned ReplayWorld::gpu_count() const {
  return static_cast<unsigned>(impl_->boards.size());
}
const GpuIdentity& ReplayWorld::identity(unsigned gpu) const {
  return impl_->identities.at(gpu);
}
const Board& ReplayWorld::board(unsigned gpu) const {
  return impl_->boards.at(gpu);
}
bool ReplayWorld::outlives_job() const {
  return impl_->header().outlives_job != 0;
}
const std::filesystem::path& ReplayWorld::path() const {
  return impl_->file->path();
}
std::shared_ptr<const Clock> ReplayWorld::clock() const {
  return impl_->clock;
}

std::optional<unsigned> ReplayWorld::find(std::string_view uuid) const {
  for (unsigned i = 0; i < gpu_count(); ++i)
    if (identity(i).id.uuid == uuid) return i;
  return std::nullopt;
}

std::string ReplayWorld::why_may_not_set() const {
  if (static_cast<Rights>(impl_->header().rights) == Rights::none)
    return "the scenario of this replayed world lets nobody set anything";
  const std::optional<uid_t> owner = impl_->file->owner();
  if (!owner || ::geteuid() == 0 || *owner == ::geteuid()) return {};
  return cat("needs uid ", *owner, ", which owns this replayed world");
}

}  // namespace rubato::device::replay
