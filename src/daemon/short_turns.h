// On a machine whose cores are all taken, as by data loaders, most of a set is waiting for a core.
#pragma once

namespace rubato::daemon {

/// Asks the scheduler for short turns instead of long ones: a thread that runs for less is let run sooner. It
/// takes no more of the processor and needs no right. For this thread and those it starts; Linux before 6.12
/// has one length for all, and nothing happens.
void ask_for_short_turns();

}  // namespace rubato::daemon
