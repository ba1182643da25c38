# rubato_library(ROOM [COMPUTES] SOURCES a.cpp ... [DEPENDS ROOM|TARGET ...]): one static library per room, rubato::ROOM.
# Without sources the room is header-only. COMPUTES: tests would wait for it if it were not optimised.
function(rubato_library room)
  cmake_parse_arguments(arg "COMPUTES" "" "SOURCES;DEPENDS" ${ARGN})
  set(target rubato_${room})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE rubato_flags)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(rubato::${room} ALIAS ${target})
  if(arg_COMPUTES)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Sanitize>:-O1>)
  endif()
  target_include_directories(${target} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} ${scope} ${arg_DEPENDS})
endfunction()

# What is compiled in this folder and below waits for people, files and sockets: at -O1 it takes a third less to compile
# than at -O3. At -O1 GCC takes the value of an empty optional for one that may be read.
macro(rubato_compile_lightly)
  add_compile_options($<$<CONFIG:Release>:-O1>
                      $<$<AND:$<CONFIG:Release>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-maybe-uninitialized>)
endmacro()

# rubato_test(NAME LABEL unit|contract|golden|e2e|fault|bench|hw SOURCES ... DEPENDS ...): one GoogleTest program.
function(rubato_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(RUBATO_SANITIZE MATCHES thread) # everything takes some ten times as long
    math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE rubato_flags ${arg_DEPENDS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  if("rapidcheck" IN_LIST arg_DEPENDS)
    list(APPEND arg_LABEL property) # `./check --only test_properties` draws more and other examples for these
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT}
    ENVIRONMENT "RUBATO_TEST_DATA=${PROJECT_SOURCE_DIR}/../shared/data;RUBATO_SOURCE_DIR=${PROJECT_SOURCE_DIR};RUBATO_BIN_DIR=${CMAKE_RUNTIME_OUTPUT_DIRECTORY};RUBATO_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# rubato_meter_module(NAME snmp SOURCES ... [LIBRARIES ...]): a kind of meter that needs a heavy library, as a module
# lib/rubato/librubato-meter-NAME.so that rubato opens at its first use (src/meter/plugin.h). What is in SOURCES is
# compiled once, as the static library rubato::meter_NAME, so that tests can link it too.
function(rubato_meter_module)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  rubato_library(meter_${arg_NAME} SOURCES ${arg_SOURCES} DEPENDS rubato::meter ${arg_LIBRARIES})
  set(module rubato-meter-${arg_NAME})
  add_library(${module} MODULE ${PROJECT_SOURCE_DIR}/src/meter/module_entry.cpp)
  target_compile_definitions(${module} PRIVATE RUBATO_METER_NAME=${arg_NAME})
  target_link_libraries(${module} PRIVATE rubato_flags rubato_meter_${arg_NAME})
  # The archives' own symbols stay inside: what is exported is the one entry.
  target_link_options(${module} PRIVATE -Wl,--exclude-libs,ALL)
  set_target_properties(${module} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/rubato)
  set_property(GLOBAL APPEND PROPERTY RUBATO_METER_MODULES ${module})
endfunction()
