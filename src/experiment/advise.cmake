list(APPEND experiment_sources advise/advise.cpp advise/built_in.cpp advise/candidates.cpp advise/measured_default.cpp
  advise/unseen.cpp)
