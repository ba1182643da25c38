list(APPEND experiment_sources evidence_blocks.cpp evidence_document.cpp evidence_plan.cpp evidence_scrub.cpp
  evidence_switches.cpp)
