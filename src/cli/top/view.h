// What the person at the terminal has chosen: which part, which row, in which order; and how keys change
// that.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/top/keys.h"
#include "cli/top/state.h"

namespace rubato::cli::top {

enum class Pane { gpus, runs, processes };

enum class GpuOrder { index, power, busy, temperature };
enum class ProcessOrder { gpu, memory, pid };

[[nodiscard]] std::string_view name_of(GpuOrder order);
[[nodiscard]] std::string_view name_of(ProcessOrder order);

struct View {
  Pane pane = Pane::gpus;
  // What is selected is known by name, as rows come, go and change places: a UUID, a run's id, a process id.
  // One that is gone, or none: the first row.
  std::array<std::string, 3> selected{};
  GpuOrder gpu_order = GpuOrder::index;
  ProcessOrder process_order = ProcessOrder::gpu;
  std::optional<State> frozen{};  // shown in the place of what is read now
  bool help = false;
  std::size_t help_line = 0;  // the first one shown

  [[nodiscard]] const State& shown(const State& now) const { return frozen ? *frozen : now; }
};

enum class Outcome { nothing, draw, draw_all, quit };

/// `page`: rows that Page Up and Page Down move by.
[[nodiscard]] Outcome press(View& view, const KeyPress& key, const State& now, std::size_t page);

/// Positions in State::gpus, runs or processes, in the order they are shown in.
[[nodiscard]] std::vector<std::size_t> order_of(Pane pane, const View& view, const State& state);
/// Where in that order the selection is; 0 where there is none.
[[nodiscard]] std::size_t selected_row(Pane pane, const View& view, const State& state,
                                       const std::vector<std::size_t>& order);

}  // namespace rubato::cli::top
