#include "device/replay/new_world.h"

#include <cmath>
#include <cstring>

#include "base/fnv1a.h"
#include "base/fs_root.h"
#include "base/text.h"
#include "core/sweep_table_csv.h"

namespace rubato::device::replay {
namespace {

Result<GpuState> first_state(const ReplaySource& source, const ReplayOptions& options, TimePoint start) {
  const Result<Board> board = Board::make(source);
  if (!board) return fail(board.error());
  GpuState state{};
  state.now_ns = start.ns;
  state.asked = board->default_knobs();
  if (options.found_power_limit && board->why_not(Knob::power_limit).empty())
    if (Status fits = board->set_limit(state.asked, *options.found_power_limit); !fits)
      return fail(fits.error());
  state.in_force = state.asked;
  return state;
}

}  // namespace

std::string boot_id() {
  const Result<std::string> id = FsRoot().read("/proc/sys/kernel/random/boot_id");
  return id ? std::string(trim(*id)) : std::string();
}

std::string digest(std::string_view text) {
  return hex(fnv1a(text), 16) + hex(fnv1a(text, 0x9ae16a3b2f90404fULL), 16);
}

Result<std::string> source_text(const ReplaySource& source) {
  return write_sweep_table({.comments = {}, .rows = source.table.rows});
}

Result<NewWorld> new_world(std::span<const ReplaySource> sources, const ReplayOptions& options,
                           TimePoint start) {
  if (sources.empty() || sources.size() > kMostGpus)
    return fail(ErrorCode::invalid_argument,
                cat("a world holds 1 to ", kMostGpus, " replayed GPUs, not ", sources.size()),
                "name them: --gpu replay:FILE#WORKLOAD");
  NewWorld world;
  ReplayHeader h{};
  h.gpu_count = static_cast<std::uint32_t>(sources.size());
  h.rights = static_cast<std::uint32_t>(options.rights);
  h.outlives_job = options.outlives_job ? 1 : 0;
  h.from_next_iteration = options.from_next_iteration ? 1 : 0;
  h.origin_ns = start.ns;
  h.rate = options.rate;
  const std::string id = boot_id();
  std::memcpy(h.boot_id, id.data(), std::min(id.size(), sizeof h.boot_id - 1));
  std::string texts;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Result<GpuState> state = first_state(sources[i], options, start);
    if (!state) return fail(state.error());
    world.gpus.push_back(*state);
    const Result<std::string> text = source_text(sources[i]);
    if (!text) return fail(text.error());
    h.sources[i] = {.text_size = text->size(),
                    .iteration_s = sources[i].iteration.value_or(Seconds(0)).value(),
                    .has_iteration = sources[i].iteration ? 1U : 0U};
    texts += *text;
  }
  world.header.assign(reinterpret_cast<const char*>(&h), sizeof h);
  world.header += texts;
  return world;
}

Result<std::vector<ReplaySource>> sources_of(std::span<const std::byte> header) {
  ReplayHeader h{};
  std::memcpy(&h, header.data(), sizeof h);
  const auto corrupt = [](std::string_view why) {
    return fail(ErrorCode::corrupt, cat("the world's header contradicts itself: ", why));
  };
  if (h.gpu_count == 0 || h.gpu_count > kMostGpus) return corrupt("number of GPUs");
  if (!(h.rate > 0 && std::isfinite(h.rate))) return corrupt("rate");
  std::string_view rest(reinterpret_cast<const char*>(header.data()) + sizeof h, header.size() - sizeof h);
  std::vector<ReplaySource> out;
  for (std::uint32_t i = 0; i < h.gpu_count; ++i) {
    const SourceEntry& entry = h.sources[i];
    if (entry.text_size > rest.size()) return corrupt("size of a table");
    Result<SweepTable> table = parse_sweep_table(rest.substr(0, entry.text_size), "the world's own table");
    if (!table) return fail(ErrorCode::corrupt, table.error().what);
    rest.remove_prefix(entry.text_size);
    out.push_back({.table = std::move(*table), .iteration = {}});
    if (entry.has_iteration != 0) out.back().iteration = Seconds(entry.iteration_s);
  }
  return out;
}

}  // namespace rubato::device::replay
