// What a run came to, in the sentences that stand first in its report, on a terminal and on a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyse/summary.h"
#include "record/reader.h"
#include "report/layout.h"

namespace rubato::cli {

struct Sentence {
  std::string text;
  std::optional<report::Ink> ink;
};

/// What was used or saved, with intervals and what they leave out; how long was searched; GPUs left aside.
[[nodiscard]] std::vector<Sentence> headline_of(const record::RunRecord& run, const analyse::Summary& summary,
                                                bool running);

}  // namespace rubato::cli
