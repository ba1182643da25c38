// Tells rubato where iterations and epochs begin, where its header is there and the program runs under it.
#pragma once

#include <cstdint>

#if __has_include(<rubato/mark.h>)
#include <rubato/mark.h>
#endif

namespace nbody {

#ifdef RUBATO_MARK_H
inline void iteration_begins(std::uint64_t index, std::uint64_t of_epoch) {
  rubato_iteration_begin_of(index, 1, of_epoch);
}
inline void iteration_ends(std::uint64_t index) {
  rubato_iteration_end(index);
}
inline void epoch_begins(std::uint64_t index, std::uint64_t planned) {
  rubato_epoch_begin(index, planned);
}
inline void epoch_ends(std::uint64_t index) {
  rubato_epoch_end(index);
}
#else
inline void iteration_begins(std::uint64_t, std::uint64_t) {}
inline void iteration_ends(std::uint64_t) {}
inline void epoch_begins(std::uint64_t, std::uint64_t) {}
inline void epoch_ends(std::uint64_t) {}
#endif

}  // namespace nbody
