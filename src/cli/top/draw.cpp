#include "cli/top/draw.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "cli/top/rows.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli::top {
namespace {

constexpr std::size_t kAround = 2;       // rows for the title and the keys
constexpr std::size_t kMostDetails = 6;  // lines below the runs
constexpr std::size_t kMark = 1;         // columns for the mark of a selected row

/// Rows of each part; a table's head and the sentence in the place of an empty one are counted apart.
struct Share {
  std::size_t gpus = 0;
  std::size_t runs = 0;
  std::size_t details = 0;
  std::size_t processes = 0;
  std::size_t gpu_details = 0;
  bool process_part = true;
  bool gaps = true;

  [[nodiscard]] std::size_t rows() const {
    return 1 + gpus + (gaps ? 1 : 0) + 1 + runs + details +
           (process_part ? (gaps ? 1 : 0) + 1 + processes : 0) + gpu_details;
  }
};

/// What is left out where there is too little room, in this order; the part that was chosen keeps more.
void shrink(Share& share, std::size_t room, Pane chosen) {
  const auto down_to = [&](std::size_t& rows, std::size_t least) {
    while (rows > least && share.rows() > room) --rows;
  };
  down_to(share.gpu_details, 1);
  if (share.rows() > room) share.gaps = false;
  down_to(share.processes, chosen == Pane::processes ? 4 : 2);
  down_to(share.gpu_details, 0);
  down_to(share.details, 3);
  down_to(share.gpus, 4);
  down_to(share.runs, 2);
  if (share.rows() > room && chosen != Pane::processes) {
    share.process_part = false;
    share.processes = 0;
  }
  down_to(share.details, 1);
  down_to(share.gpus, 2);
  down_to(share.runs, 1);
  down_to(share.processes, 1);
  down_to(share.details, 0);
  down_to(share.gpus, 1);
}

std::vector<std::string> wrapped_lines(const std::vector<std::string>& sentences, std::size_t width,
                                       std::size_t most) {
  std::vector<std::string> out;
  for (const std::string& sentence : sentences) {
    // Control characters first: a line break of a command must not make a line here.
    std::string clean;
    for (const char32_t glyph : glyphs_of(sentence)) append_utf8(clean, glyph);
    for (std::string& line : split(report::wrapped(clean, "  ", static_cast<int>(width)), '\n'))
      if (!line.empty() && out.size() < most) out.push_back(std::move(line));
  }
  return out;
}

class Drawer {
 public:
  Drawer(const State& state, const View& view, Size size, bool plain)
      : state_(state), view_(view), screen_(size), plain_(plain) {}

  Screen take() {
    title();
    const std::size_t width = screen_.size().columns;
    const auto details = run_lines(width);
    const auto of_gpu = gpu_lines(width);
    Share share{.gpus = state_.gpus.size(),
                .runs = state_.runs.size(),
                .details = details.size(),
                .processes = state_.processes.size(),
                .gpu_details = of_gpu.size()};
    const std::size_t rows = screen_.size().rows;
    if (!plain_) shrink(share, rows > kAround ? rows - kAround : 1, view_.pane);
    table(Pane::gpus, gpu_columns(), share.gpus);
    lines(of_gpu, share.gpu_details);
    if (share.gaps) ++row_;
    if (state_.runs.empty())
      sentence("no run of yours goes on");
    else
      table(Pane::runs, run_columns(), share.runs);
    lines(details, share.details);
    if (share.process_part) {
      if (share.gaps) ++row_;
      if (state_.processes.empty())
        sentence(state_.processes_unknown.empty() ? "no process computes on these GPUs"
                                                  : cat("processes: ", state_.processes_unknown));
      else
        table(Pane::processes, process_columns(), share.processes);
    }
    if (!plain_) keys();
    return std::move(screen_);
  }

  [[nodiscard]] std::size_t rows_used() const { return row_; }

 private:
  void title() {
    const std::size_t width = screen_.size().columns;
    std::string right = state_.time_of_day;
    Style style;
    if (view_.frozen) {
      right = cat("frozen at ", state_.time_of_day);
      style.reverse = true;
    } else if (state_.stuck) {
      right = cat("no answer from the driver for ", report::text_of(*state_.stuck));
      style.colour = Colour::red;
    }
    const std::size_t right_at = width > right.size() ? width - right.size() : 0;
    std::size_t at = screen_.put(row_, 0, "rubato top", {.bold = true});
    std::vector<std::string> parts;
    if (const auto power = total_power(state_)) parts.push_back(cat(report::fixed(power->value(), 1), " W"));
    parts.push_back(cat(state_.gpus.size(), state_.gpus.size() == 1 ? " GPU" : " GPUs"));
    if (!state_.gpus.empty()) {
      const auto worst = std::max_element(state_.gpus.begin(), state_.gpus.end(),
                                          [](const auto& a, const auto& b) { return a.kind < b.kind; });
      parts.emplace_back(name_of(worst->kind));
    }
    if (state_.clock_rate != 1)
      parts.push_back(cat(number(state_.clock_rate, 1), " times faster than the wall"));
    parts.push_back(state_.host);
    for (const std::string& part : parts)
      if (!part.empty() && at + 2 + glyphs_of(part).size() + 1 < right_at)
        at = screen_.put(row_, at + 2, part);
    screen_.put(row_, right_at, right, style);
    ++row_;
  }

  std::vector<std::string> run_lines(std::size_t width) const {
    const auto order = order_of(Pane::runs, view_, state_);
    if (order.empty()) return {};
    if (!plain_)
      return wrapped_lines(run_details(state_.runs[order[selected_row(Pane::runs, view_, state_, order)]]),
                           width, kMostDetails);
    std::vector<std::string> out;
    for (const std::size_t at : order) {
      std::vector<std::string> sentences = run_details(state_.runs[at]);
      if (order.size() > 1) sentences.front().insert(0, cat(short_name(state_.runs[at].state.command), ": "));
      for (auto& line : wrapped_lines(sentences, width, std::numeric_limits<std::size_t>::max()))
        out.push_back(std::move(line));
    }
    return out;
  }

  std::vector<std::string> gpu_lines(std::size_t width) const {
    if (plain_ || view_.pane != Pane::gpus || state_.gpus.empty()) return {};
    const auto order = order_of(Pane::gpus, view_, state_);
    return wrapped_lines(gpu_details(state_.gpus[order[selected_row(Pane::gpus, view_, state_, order)]]),
                         width, 3);
  }

  [[nodiscard]] Row row_at(Pane pane, std::size_t at) const {
    if (pane == Pane::gpus) return gpu_row(state_.gpus[at], state_);
    if (pane == Pane::runs) return run_row(state_.runs[at], state_);
    return process_row(state_.processes[at], state_);
  }

  void table(Pane pane, const std::vector<Column>& columns, std::size_t rows) {
    const std::size_t mark = plain_ ? 0 : kMark;
    const auto fitted = fit(columns, screen_.size().columns - std::min(mark, screen_.size().columns));
    const auto order = order_of(pane, view_, state_);
    const std::size_t selected = selected_row(pane, view_, state_, order);
    const std::size_t first =
        rows >= order.size() ? 0 : std::min(selected - std::min(selected, rows / 2), order.size() - rows);
    put_heads(screen_, row_, mark, columns, fitted);
    if (rows < order.size()) {
      const std::string which = cat(first + 1, "-", first + rows, " of ", order.size());
      const std::size_t width = screen_.size().columns;
      screen_.put(row_, width - std::min(width, which.size()), which, {.reverse = true});
    }
    ++row_;
    for (std::size_t i = first; i < first + std::min(rows, order.size()); ++i, ++row_) {
      put_row(screen_, row_, mark, columns, fitted, row_at(pane, order[i]));
      if (plain_ || i != selected) continue;
      if (pane == view_.pane) screen_.mark_row(row_, {.reverse = true});
      if (pane == view_.pane || pane == Pane::runs)
        screen_.put(row_, 0, ">", {.reverse = pane == view_.pane});
    }
  }

  void lines(const std::vector<std::string>& all, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) screen_.put(row_++, 0, all[i]);
  }
  void sentence(const std::string& text) { screen_.put(row_++, plain_ ? 0 : kMark, text, {.faint = true}); }

  void keys() {
    const std::size_t row = screen_.size().rows - 1;
    if (screen_.size().rows < kAround) return;
    std::vector<std::string> parts = {"q quit", "? help"};
    parts.emplace_back(view_.frozen ? "Space go on" : "Space freeze");
    parts.emplace_back("Tab part");
    parts.emplace_back("↑↓ select");
    if (view_.pane == Pane::gpus) parts.push_back(cat("s sort: ", name_of(view_.gpu_order)));
    if (view_.pane == Pane::processes) parts.push_back(cat("s sort: ", name_of(view_.process_order)));
    for (std::size_t column = 0; column < screen_.size().columns; ++column) screen_.put(row, column, " ");
    std::size_t at = 0;
    for (const std::string& part : parts) {
      const std::size_t end = at + glyphs_of(part).size();
      if (end > screen_.size().columns) break;
      at = screen_.put(row, at, part, {.faint = true}) + 2;
    }
  }

  const State& state_;
  const View& view_;
  Screen screen_;
  bool plain_;
  std::size_t row_ = 0;
};

Screen draw_help(const State& state, const View& view, Size size) {
  Screen screen(size);
  std::vector<std::string> lines;
  for (const std::string& line : help_lines(state)) {
    if (line.empty()) {
      lines.emplace_back();
      continue;
    }
    for (std::string& part : wrapped_lines({line}, size.columns, std::numeric_limits<std::size_t>::max()))
      lines.push_back(std::move(part));
  }
  const std::size_t room = size.rows > kAround ? size.rows - kAround : 1;
  const std::size_t first = std::min(view.help_line, lines.size() > room ? lines.size() - room : 0);
  screen.put(0, 0, "rubato top: help", {.bold = true});
  for (std::size_t i = 0; i < room && first + i < lines.size(); ++i) screen.put(1 + i, 0, lines[first + i]);
  if (size.rows >= kAround)
    screen.put(size.rows - 1, 0,
               lines.size() > room ? "↑↓ scroll  any other key: back" : "any key: back  q quit",
               {.faint = true});
  return screen;
}

}  // namespace

Screen draw(const State& now, const View& view, Size size) {
  if (view.help) return draw_help(now, view, size);
  return Drawer(view.shown(now), view, size, false).take();
}

std::string plain_text(const State& state, std::size_t width) {
  // As many rows as there can be: each sentence of a run wraps into a bounded number of lines.
  std::size_t rows = 16 + state.gpus.size() + state.processes.size() + state.runs.size();
  for (const RunNow& run : state.runs)
    rows += wrapped_lines(run_details(run), width, std::numeric_limits<std::size_t>::max()).size() + 1;
  const View view;
  Drawer drawer(state, view, {rows, width}, true);
  const Screen screen = drawer.take();
  std::string out;
  for (std::size_t row = 0; row < std::min(rows, drawer.rows_used()); ++row) out += screen.text(row) + "\n";
  return out;
}

}  // namespace rubato::cli::top
