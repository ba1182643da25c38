#include "cli/progress_line.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/text.h"
#include "cli/print_run.h"
#include "cli/terminal_kind.h"
#include "report/format.h"
#include "report/layout.h"

namespace rubato::cli {
namespace {

constexpr std::chrono::milliseconds kBetween{100};
constexpr const char* kTakeAway = "\r\x1b[K";

}  // namespace

std::string progress_words(std::size_t done, std::size_t all, std::string_view what, Seconds spent) {
  std::string out = cat(done, " of ", all, " ", what);
  if (done == 0 || done >= all) return out;
  const Seconds left = spent / static_cast<double>(done) * static_cast<double>(all - done);
  return cat(out, ", about ", report::text_of(left), " left");
}

ProgressLine::ProgressLine(bool quiet) : shown_(!quiet && obeys_sequences(STDERR_FILENO)) {}

void ProgressLine::take_away() {
  if (std::exchange(written_, false)) std::fputs(kTakeAway, stderr);
}

void ProgressLine::show(std::size_t done, std::size_t all, std::string_view what) {
  const auto now = Clock::now();
  if (!shown_ || (now < next_ && done < all)) return;
  next_ = now + kBetween;
  const Seconds spent(std::chrono::duration<double>(now - begin_).count());
  // One column stays free, or some terminals begin another line.
  const auto width = static_cast<std::size_t>(text_options(STDERR_FILENO).width) - 1;
  std::fputs(cat(kTakeAway, report::cut(progress_words(done, all, what, spent), width)).c_str(), stderr);
  std::fflush(stderr);
  written_ = true;
}

}  // namespace rubato::cli
