# What needs no run: small programs link it alone.
rubato_library(experiment_layers SOURCES layers/segment_table.cpp layers/stage_segments.cpp layers/switching.cpp
               DEPENDS rubato::plan rubato::predict rubato::core rubato::base)
list(APPEND experiment_sources layers/measured_switching.cpp)
list(APPEND experiment_depends rubato::experiment_layers)
