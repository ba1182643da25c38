// What the pages of this folder are printed with.
#pragma once

#include <cstdio>
#include <string>

#include "base/text.h"
#include "prediction_evidence/asked.h"

namespace rubato::prediction_evidence {

inline void line(const std::string& text) {
  std::printf("%s\n", text.c_str());
}

inline std::string title(const Case& of) {
  return cat(of.name, ", ", of.probes, of.probes == 1 ? " probe" : " probes");
}

}  // namespace rubato::prediction_evidence
