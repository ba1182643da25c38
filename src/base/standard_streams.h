// The three descriptors that every program has, also where whoever started it closed some of them.
#pragma once

namespace rubato {

/// First thing in main(): a descriptor of 0 to 2 that is closed would become the next file or socket that is
/// opened, and every warning a message in it. Reading and writing fail there as before, and programs that are
/// started find it closed as before.
void keep_standard_streams();

/// Whether a line of at most PIPE_BUF bytes can be written there without waiting for its reader.
[[nodiscard]] bool takes_a_line(int fd);

}  // namespace rubato
