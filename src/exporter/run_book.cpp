#include "exporter/run_book.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/text.h"
#include "record/outline.h"

namespace rubato::exporter {
namespace fs = std::filesystem;
namespace {

// As in job_watch.cpp: a larger record is summarised without its samples.
constexpr std::uintmax_t kReadWhole = 8U << 20U;
constexpr std::size_t kLongestId = 128;

void add_summary(BookedRun& booked, const record::RunRecord& run) {
  const analyse::Summary summary = analyse::summarise(run);
  booked.gpus = job_gpus_of(summary);
  booked.energy.reset();
  booked.kind.reset();
  if (summary.total) {
    booked.energy = summary.total->energy;
    booked.kind = summary.total->source.kind;
  }
  booked.savings = summary.savings;
}

}  // namespace

std::vector<record::RunSummary> RunBook::listed(std::size_t& unreadable) const {
  std::vector<record::RunSummary> out;
  std::set<std::string> told;  // a copy of a record is no other run
  for (const fs::path& folder : folders_) {
    std::vector<fs::path> damaged;
    const std::lock_guard lock(records_);
    auto runs = record::list_runs(folder, &damaged);
    unreadable += damaged.size();
    if (!runs) continue;
    for (auto run = runs->rbegin(); run != runs->rend(); ++run)
      if (told.insert(run->run_id).second) out.push_back(std::move(*run));
  }
  if (folders_.size() > 1)
    std::ranges::stable_sort(out, [](const auto& a, const auto& b) { return a.run_id > b.run_id; });
  return out;
}

bool RunBook::read_more(Known& known, const fs::path& file) {
  const bool whole = known.outlined && known.size <= kReadWhole;
  if (known.booked.with_intervals || (known.outlined && !whole)) return false;
  const std::lock_guard lock(records_);
  const auto run = whole ? record::read_run(file) : record::read_outline(file);
  known.outlined = true;
  known.booked.with_intervals = whole || known.size > kReadWhole || !run;
  if (run) add_summary(known.booked, *run);
  return true;
}

bool RunBook::step(std::size_t records) {
  auto next = std::make_shared<RunBookState>();
  auto runs = listed(next->unreadable);
  next->left_out = runs.size() - std::min(runs.size(), most_);
  runs.resize(runs.size() - next->left_out);
  std::map<fs::path, Known> still;
  for (const record::RunSummary& run : runs) {
    Known known;
    if (auto before = known_.extract(run.file)) known = std::move(before.mapped());
    struct stat there {};
    if (stat(run.file.c_str(), &there) == 0) {
      const std::int64_t changed = there.st_mtim.tv_sec * std::int64_t{1'000'000'000} + there.st_mtim.tv_nsec;
      if (changed != known.changed_ns) known = {.changed_ns = changed};
      known.size = static_cast<std::uintmax_t>(there.st_size);
    }
    known.booked.run = run;
    still[run.file] = std::move(known);
  }
  known_ = std::move(still);
  bool more = false;
  // Every record's outline first: it is there at once, and has all but the intervals.
  for (const bool outlined : {false, true})
    for (const record::RunSummary& run : runs) {
      Known& known = known_[run.file];
      if (!run.duration || known.outlined != outlined) continue;
      if (records == 0)
        more = more || !known.booked.with_intervals;
      else if (read_more(known, run.file))
        --records;
    }
  std::string told = cat(next->left_out, " ", next->unreadable);
  for (const record::RunSummary& run : runs) {
    const Known& known = known_[run.file];
    told += cat("\n", run.run_id, " ", known.changed_ns, " ", int{known.outlined},
                int{known.booked.with_intervals});
    next->runs.push_back(known.booked);
  }
  if (told == told_) return more;
  told_ = std::move(told);
  const std::lock_guard lock(mutex_);
  state_ = std::move(next);
  return more;
}

std::shared_ptr<const RunBookState> RunBook::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::optional<fs::path> RunBook::file_of(const std::string& run_id) const {
  const auto now = state();
  const auto found = std::ranges::find(now->runs, run_id, [](const BookedRun& b) { return b.run.run_id; });
  if (found != now->runs.end()) return found->run.file;
  // A stranger's text, so no path: neither a dot nor a slash is in an id.
  const auto of_an_id = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-'; };
  if (run_id.empty() || run_id.size() > kLongestId || !std::ranges::all_of(run_id, of_an_id)) return {};
  std::error_code ignored;
  for (const fs::path& folder : folders_)
    if (const fs::path file = folder / cat(run_id, ".sqlite"); fs::is_regular_file(file, ignored))
      return file;
  return {};
}

}  // namespace rubato::exporter
