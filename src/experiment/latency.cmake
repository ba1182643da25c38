list(APPEND experiment_sources latency/change.cpp latency/latency_json.cpp latency/latency_store.cpp latency/pairs.cpp
  latency/study.cpp latency/summary.cpp latency/typical_delay.cpp)
