// Signs of life from a process that calls into a driver: what tells a watcher a slow driver from a stuck one.
#pragma once

#include <atomic>
#include <cstdint>

namespace rubato {

/// Told before every call into a driver, on the thread that makes it.
class CallWatcher {
 public:
  virtual ~CallWatcher() = default;
  virtual void call_begins() noexcept = 0;
};

namespace call_detail {
inline std::atomic<std::uint64_t> begun{0};
inline std::atomic<CallWatcher*> watcher{nullptr};
}  // namespace call_detail

/// Before every call that may never come back.
inline void note_call() noexcept {
  call_detail::begun.fetch_add(1, std::memory_order_relaxed);
  if (CallWatcher* watcher = call_detail::watcher.load(std::memory_order_acquire); watcher != nullptr)
    watcher->call_begins();
}
/// A driver that somebody else calls for us gets on, so that waiting for them is not standing still.
inline void note_sign_of_life() noexcept {
  call_detail::begun.fetch_add(1, std::memory_order_relaxed);
}
[[nodiscard]] inline std::uint64_t calls_begun() noexcept {
  return call_detail::begun.load(std::memory_order_relaxed);
}
/// One for the whole process; null takes it away. It must outlive its being set.
inline void set_call_watcher(CallWatcher* watcher) noexcept {
  call_detail::watcher.store(watcher, std::memory_order_release);
}

}  // namespace rubato
