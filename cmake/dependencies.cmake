# Debian 12 / Ubuntu 24.04 packages; docs/dependencies.md says what each is for.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
# rubato-exporter alone needs it, and is left out without it (as in the portable build). MHD_Result came with 0.9.71.
pkg_check_modules(microhttpd IMPORTED_TARGET libmicrohttpd>=0.9.71)
# What agents of a job on many nodes seal their words with; without it they are left out.
pkg_check_modules(sodium IMPORTED_TARGET libsodium)
# Header-only here; Debian's own package file asks for its shared library.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(tomlplusplus INTERFACE)
target_include_directories(tomlplusplus SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
if(RUBATO_TESTS)
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  find_package(benchmark REQUIRED)
endif()
