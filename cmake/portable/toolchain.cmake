# Compiles for an old glibc with the C++ runtime inside, by the clang in the `ziglang` wheel. tools/make-portable
# prepares the folder RUBATO_PORTABLE: python/ (the wheel, installed) and dependencies/ (static libraries). No cross
# compiling in CMake's sense: what is built runs here too, and writes its own manual pages.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES RUBATO_PORTABLE RUBATO_GLIBC)

file(GLOB zig ${RUBATO_PORTABLE}/python/lib/python3*/site-packages/ziglang/zig)
set(CMAKE_C_COMPILER ${zig} cc)
set(CMAKE_CXX_COMPILER ${zig} c++)
set(CMAKE_C_COMPILER_TARGET x86_64-linux-gnu.${RUBATO_GLIBC})
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-gnu.${RUBATO_GLIBC})
# zig keeps its own cache of compiled files.
set(RUBATO_CCACHE OFF CACHE STRING "")

set(flags "-mcpu=baseline -ffunction-sections -fdata-sections -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
set(CMAKE_C_FLAGS_INIT ${flags})
set(CMAKE_CXX_FLAGS_INIT ${flags})
set(CMAKE_C_FLAGS_RELEASE_INIT "-g0")
set(CMAKE_CXX_FLAGS_RELEASE_INIT "-g0")
set(link_flags "-s -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-pie ${link_flags}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT ${link_flags})

# Nothing of the building machine may slip in: its headers and libraries expect a newer glibc.
set(CMAKE_FIND_ROOT_PATH ${RUBATO_PORTABLE}/dependencies)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} ${RUBATO_PORTABLE}/dependencies/lib/pkgconfig)
