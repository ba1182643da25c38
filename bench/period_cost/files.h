// Every detector over recorded traces: its answer and the processor time it took.
#pragma once

#include <span>
#include <string>

namespace rubato::bench {

/// One line a trace and detector on standard output, separated by tabs: file, detector, periodic|aperiodic|
/// undecided, first period in s, seconds of trace until the first decision, processor seconds until then, and
/// of the whole trace; "-" where there is none. Exit status.
int run_files(std::span<const std::string> files);

}  // namespace rubato::bench
