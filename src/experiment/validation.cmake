list(APPEND experiment_sources held_out.cpp monotone_fit.cpp noise_floor.cpp validation.cpp)
