file(GLOB shipped_priors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/priors/*.json)
set(shipped_source ${CMAKE_CURRENT_BINARY_DIR}/shipped_models.cpp)
add_custom_command(OUTPUT ${shipped_source}
  COMMAND ${CMAKE_COMMAND} "-DPRIORS=${shipped_priors}" -DOUT=${shipped_source} -P ${CMAKE_CURRENT_SOURCE_DIR}/advise/embed.cmake
  DEPENDS ${shipped_priors} advise/embed.cmake VERBATIM)
list(APPEND experiment_sources ${shipped_source})
