// Work inside a driver that may hang: done on a thread of its own and given up when it stands still.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/result.h"
#include "base/units.h"

namespace rubato::conduct {

/// Longest stretch without a new driver call beginning. Attaching one GPU takes a driver 1 to 3 s where
/// persistence is off (NVIDIA, driver persistence documentation), and each GPU is a call of its own.
inline constexpr Seconds kDriverPatience{4.5};

/// True when `work` returned. False when it stands still: its thread is left behind and uses what `work`
/// holds until the process ends, so `work` must own all of that, and the process must leave by leave_now().
[[nodiscard]] bool finishes(std::function<void()> work, Seconds patience = kDriverPatience);

/// What `work` returned; nothing where it stands still.
template <class T>
[[nodiscard]] std::optional<T> patiently(std::function<T()> work) {
  const auto answer = std::make_shared<std::optional<T>>();
  if (!finishes([answer, work = std::move(work)] { answer->emplace(work()); })) return std::nullopt;
  return std::move(*answer);
}

/// The words for it.
[[nodiscard]] Error stands_still();

/// Ends the process without waiting for threads that hang; what was printed is flushed.
[[noreturn]] void leave_now(int status);

}  // namespace rubato::conduct
