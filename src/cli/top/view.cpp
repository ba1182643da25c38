#include "cli/top/view.h"

#include <algorithm>
#include <numeric>

namespace rubato::cli::top {
namespace {

constexpr char kRedraw = 'L' - '@';  // Ctrl-L

std::size_t count_of(Pane pane, const State& state) {
  return pane == Pane::gpus   ? state.gpus.size()
         : pane == Pane::runs ? state.runs.size()
                              : state.processes.size();
}

std::string name_at(Pane pane, const State& state, std::size_t at) {
  if (pane == Pane::gpus) return state.gpus[at].identity.id.uuid;
  if (pane == Pane::runs) return state.runs[at].state.run_id;
  return std::to_string(state.processes[at].pid);
}

/// What is not known stands last.
double rank_of(const GpuState& gpu, GpuOrder order) {
  if (order == GpuOrder::power) return gpu.power ? gpu.power->value() : -1;
  if (order == GpuOrder::busy) return gpu.slow.sm_utilisation.value_or(-1);
  return gpu.slow.temperature ? gpu.slow.temperature->value() : -1e3;
}

void move(View& view, const State& state, std::ptrdiff_t by) {
  const auto order = order_of(view.pane, view, state);
  if (order.empty()) return;
  const auto here = static_cast<std::ptrdiff_t>(selected_row(view.pane, view, state, order));
  const auto last = static_cast<std::ptrdiff_t>(order.size()) - 1;
  const auto to = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(here + by, 0, last));
  view.selected[static_cast<std::size_t>(view.pane)] = name_at(view.pane, state, order[to]);
}

template <class E>
E next_of(E value, E last) {
  return value == last ? E{} : static_cast<E>(static_cast<int>(value) + 1);
}

void turn(Pane& pane, int by) {
  pane = static_cast<Pane>((static_cast<int>(pane) + 3 + by) % 3);
}

Outcome press_in_help(View& view, const KeyPress& press, std::size_t page) {
  const auto scroll = [&view](std::size_t lines, bool down) {
    view.help_line = down ? view.help_line + lines : view.help_line - std::min(lines, view.help_line);
  };
  switch (press.key) {
    case Key::up:
      scroll(1, false);
      break;
    case Key::down:
      scroll(1, true);
      break;
    case Key::page_up:
      scroll(page, false);
      break;
    case Key::page_down:
      scroll(page, true);
      break;
    case Key::home:
      view.help_line = 0;
      break;
    default:
      if (press.character == 'k') {
        scroll(1, false);
      } else if (press.character == 'j' || press.character == ' ') {
        scroll(press.character == ' ' ? page : 1, true);
      } else if (press.character == 'q') {
        return Outcome::quit;
      } else if (press.character == kRedraw) {
        return Outcome::draw_all;
      } else {
        view.help = false;
      }
  }
  return Outcome::draw;
}

Outcome press_character(View& view, char character, const State& now, const State& state) {
  switch (character) {
    case 'q':
    case 'Q':
      return Outcome::quit;
    case 'h':
    case '?':
      view.help = true;
      view.help_line = 0;
      break;
    case 'k':
      move(view, state, -1);
      break;
    case 'j':
      move(view, state, 1);
      break;
    case '\t':
      turn(view.pane, 1);
      break;
    case 's':
      if (view.pane == Pane::gpus) view.gpu_order = next_of(view.gpu_order, GpuOrder::temperature);
      if (view.pane == Pane::processes) view.process_order = next_of(view.process_order, ProcessOrder::pid);
      break;
    case ' ':
    case 'f':
      if (view.frozen)
        view.frozen.reset();
      else
        view.frozen = now;
      break;
    case kRedraw:
      return Outcome::draw_all;
    default:
      return Outcome::nothing;
  }
  return Outcome::draw;
}

}  // namespace

std::string_view name_of(GpuOrder order) {
  switch (order) {
    case GpuOrder::power:
      return "power";
    case GpuOrder::busy:
      return "busy";
    case GpuOrder::temperature:
      return "temperature";
    default:
      return "index";
  }
}

std::string_view name_of(ProcessOrder order) {
  switch (order) {
    case ProcessOrder::memory:
      return "memory";
    case ProcessOrder::pid:
      return "process id";
    default:
      return "GPU";
  }
}

std::vector<std::size_t> order_of(Pane pane, const View& view, const State& state) {
  std::vector<std::size_t> order(count_of(pane, state));
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (pane == Pane::gpus && view.gpu_order != GpuOrder::index) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return rank_of(state.gpus[a], view.gpu_order) > rank_of(state.gpus[b], view.gpu_order);
    });
  } else if (pane == Pane::processes) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const ProcessState& one = state.processes[a];
      const ProcessState& other = state.processes[b];
      if (view.process_order == ProcessOrder::memory)
        return one.memory_bytes.value_or(0) > other.memory_bytes.value_or(0);
      if (view.process_order == ProcessOrder::gpu && one.gpus != other.gpus) return one.gpus < other.gpus;
      return one.pid < other.pid;
    });
  }
  return order;
}

std::size_t selected_row(Pane pane, const View& view, const State& state,
                         const std::vector<std::size_t>& order) {
  const std::string& wanted = view.selected[static_cast<std::size_t>(pane)];
  const auto found = std::find_if(order.begin(), order.end(),
                                  [&](std::size_t at) { return name_at(pane, state, at) == wanted; });
  return found == order.end() ? 0 : static_cast<std::size_t>(found - order.begin());
}

Outcome press(View& view, const KeyPress& key, const State& now, std::size_t page) {
  if (view.help) return press_in_help(view, key, page);
  const State& state = view.shown(now);
  const auto rows = static_cast<std::ptrdiff_t>(page);
  switch (key.key) {
    case Key::character:
      return press_character(view, key.character, now, state);
    case Key::up:
      move(view, state, -1);
      break;
    case Key::down:
      move(view, state, 1);
      break;
    case Key::page_up:
      move(view, state, -rows);
      break;
    case Key::page_down:
      move(view, state, rows);
      break;
    case Key::home:
      move(view, state, -static_cast<std::ptrdiff_t>(count_of(view.pane, state)));
      break;
    case Key::end:
      move(view, state, static_cast<std::ptrdiff_t>(count_of(view.pane, state)));
      break;
    case Key::right:
      turn(view.pane, 1);
      break;
    case Key::left:
    case Key::back_tab:
      turn(view.pane, -1);
      break;
    case Key::f1:
      view.help = true;
      view.help_line = 0;
      break;
    case Key::escape:
      return Outcome::nothing;
  }
  return Outcome::draw;
}

}  // namespace rubato::cli::top
