list(APPEND experiment_sources import/collect.cpp import/formats.cpp import/perseus.cpp import/sweep_tables.cpp import/rows.cpp
  import/zeus_power.cpp import/zeus_profile.cpp import/zeus_windows.cpp)
list(APPEND experiment_depends nlohmann_json::nlohmann_json)
