list(APPEND experiment_sources fnv1a64.cpp model_file.cpp model_training.cpp)
list(APPEND experiment_depends nlohmann_json::nlohmann_json)
