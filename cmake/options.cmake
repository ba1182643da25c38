# What a builder can choose, and what every target is compiled with.
option(RUBATO_TESTS "build the tests and benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(RUBATO_WERROR "treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(RUBATO_UNITY "compile sources that allow it together: a build from nothing takes less than half the time" OFF)
option(RUBATO_FUZZ "make the fuzz targets libFuzzer programs (clang only)" OFF)
set(RUBATO_SANITIZE "" CACHE STRING "sanitizers, as for -fsanitize= (empty: none)")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# The NVML stand-in is a shared library made of the same archives, and must not leak their symbols.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

# Enough for a stack trace with lines. Not optimised, clang compiles sanitized code in half the time; g++ 12 gains
# nothing by that.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND NOT RUBATO_FUZZ)
  set(CMAKE_CXX_FLAGS_SANITIZE "-O0 -g1")
else()
  set(CMAKE_CXX_FLAGS_SANITIZE "-Og -g1")
endif()
set(CMAKE_C_FLAGS_SANITIZE ${CMAKE_CXX_FLAGS_SANITIZE})

find_program(RUBATO_CCACHE ccache)
if(RUBATO_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${RUBATO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${RUBATO_CCACHE})
endif()

# Of what is installed without naming another.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME rubato)

add_library(rubato_flags INTERFACE)
target_compile_options(rubato_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                       # Designated initialisers leave members at their defaults on purpose.
                       -Wno-missing-field-initializers
                       # g++ 12 sees overlapping copies in std::string where there are none (GCC bug 105651).
                       $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<BOOL:${RUBATO_WERROR}>:-Werror>)
if(RUBATO_SANITIZE)
  add_compile_options(-fsanitize=${RUBATO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # At -O1 with these checks in between GCC takes the value of an empty optional for one that may be read.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>)
  # Every access would be asked for them: a quarter of the time to compile, for what the address sanitizer finds too
  # (null) or what no target here traps on (alignment).
  if(RUBATO_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
    # A vendor's functions are called through handles of our own types.
    add_compile_options($<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  endif()
  add_link_options(-fsanitize=${RUBATO_SANITIZE})
  # As a library, as g++ has it: what is loaded into python shares it with what python starts.
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang AND RUBATO_SANITIZE MATCHES "^address")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                    OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    cmake_path(GET runtime PARENT_PATH runtime)
    add_compile_options(-shared-libasan)
    add_link_options(-shared-libasan -Wl,-rpath,${runtime})
  endif()
endif()
