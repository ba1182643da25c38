// The two ways of watching: on the whole terminal, and as text that is written once per interval.
#pragma once

#include <csignal>
#include <functional>

#include "base/result.h"
#include "cli/top/reader.h"
#include "cli/top/terminal.h"
#include "cli/top/terminal_text.h"

namespace rubato::cli::top {

/// Signals that watching reads for itself. Block them before the first thread.
[[nodiscard]] sigset_t watched_signals();

/// What ended the watching: 0 where the person did (q, Ctrl-C), else a signal to die of.
struct Ended {
  int signal = 0;
};

[[nodiscard]] Ended watch_on_terminal(Terminal terminal, Reader& reader, const TerminalLooks& looks);

/// `tell` writes one reading; false where nobody reads any more. Until a signal comes.
[[nodiscard]] Ended watch_as_text(Reader& reader, const std::function<bool(const State&)>& tell);

}  // namespace rubato::cli::top
