# What needs no run: small programs link it alone.
rubato_library(experiment_latency_file SOURCES latency/latency_json.cpp latency/typical_delay.cpp
               DEPENDS rubato::predict rubato::core rubato::base nlohmann_json::nlohmann_json)
list(APPEND experiment_sources latency/change.cpp latency/latency_store.cpp latency/pairs.cpp latency/study.cpp latency/summary.cpp)
list(APPEND experiment_depends rubato::experiment_latency_file)
