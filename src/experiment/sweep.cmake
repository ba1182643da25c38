list(APPEND experiment_sources sweep_choice.cpp sweep_fit.cpp sweep_grid.cpp sweep_in_force.cpp sweep_measurement.cpp
  sweep_measurement_json.cpp sweep_result_table.cpp sweep_schedule.cpp sweep_state.cpp sweep_stop.cpp sweep_summary.cpp
  sweep_unlike.cpp
  sweep_within.cpp)
list(APPEND experiment_depends Eigen3::Eigen nlohmann_json::nlohmann_json)
