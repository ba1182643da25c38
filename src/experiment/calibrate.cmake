list(APPEND experiment_sources calibrate/bench.cpp calibrate/benchmarks.cpp calibrate/cuda.cpp calibrate/expected.cpp
  calibrate/point.cpp calibrate/ptx/chase.cpp calibrate/ptx/fma.cpp calibrate/ptx/matrices.cpp calibrate/ptx/mixed.cpp
  calibrate/result.cpp calibrate/settings.cpp)
list(APPEND experiment_depends ${CMAKE_DL_LIBS})
