// From marks to iterations: pairs begin and end, survives lost marks, and picks one stream as the job's
// clock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "core/iteration.h"

namespace rubato::progress {

struct TrackedIteration {
  Iteration iteration;                  // index counts up over the run, whatever ids the program uses
  bool ended_by_next_begin = false;     // its end mark was missing
  bool paused = false;                  // itself longer than a few medians: leave it out of timing
  std::optional<Seconds> pause_before;  // the program did something else between the previous one and this
};

/// Which program and thread the job's iterations are counted by, and why.
struct ClockStream {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t rank = -1;
  std::string why;
};

class IterationTracker {
 public:
  /// Begin to begin longer than `pause_factor` medians is a pause.
  explicit IterationTracker(double pause_factor = 5.0) : pause_factor_(pause_factor) {}

  /// Marks of one stream in their own order; streams may be mixed in any way.
  void add(const Mark& mark);
  void add(std::span<const Mark> marks);

  /// Iterations of the clock stream that were completed since the last call, in order.
  [[nodiscard]] std::vector<TrackedIteration> take();

  /// Completed on the clock stream, lost ones included, up to the last take(). Never falls.
  [[nodiscard]] std::int64_t completed() const { return completed_; }
  [[nodiscard]] std::optional<TimePoint> last_end() const { return last_end_; }
  [[nodiscard]] std::optional<ClockStream> clock() const;
  /// Iterations on any stream whose marks were missing too much to time them.
  [[nodiscard]] std::int64_t lost() const { return lost_; }
  /// Marks that were older than one already seen of the same stream.
  [[nodiscard]] std::int64_t out_of_order() const { return out_of_order_; }

 private:
  using Key = std::pair<std::int32_t, std::int32_t>;  // pid, tid
  struct Open {
    TimePoint begin;
    std::uint64_t id = 0;
    std::optional<Seconds> pause_before;
  };
  struct Stream {
    std::int32_t rank = -1;
    TimePoint first;
    TimePoint latest{INT64_MIN};
    std::optional<Open> open;
    std::optional<TimePoint> previous_begin;  // absent where marks were lost since
    TimePoint previous_end;
    std::optional<std::uint64_t> last_ended;
    std::deque<double> spacing_s;  // recent begin-to-begin times
    std::int64_t completed = 0;
    std::int64_t missed = 0;  // since the last take(), like `ready`
    std::vector<TrackedIteration> ready;
  };

  void begin(Stream& stream, const Mark& mark);
  void end(Stream& stream, const Mark& mark);
  void finish(Stream& stream, TimePoint end, bool by_next_begin);
  void miss(Stream& stream, std::uint64_t from_id, std::uint64_t to_id);
  [[nodiscard]] bool is_pause(const Stream& stream, Seconds span) const;
  /// A process that began after this one's last mark has marked iterations since, while this one said
  /// nothing.
  [[nodiscard]] bool is_followed(const Key& key, const Stream& stream) const;
  void choose();

  double pause_factor_;
  std::map<Key, Stream> streams_;
  std::optional<Key> clock_;
  std::string why_;
  std::int64_t completed_ = 0;
  std::optional<TimePoint> last_end_;
  std::int64_t lost_ = 0;
  std::int64_t out_of_order_ = 0;
};

}  // namespace rubato::progress
