# The static libsodium of tools/make-portable. Debian's source comes without a configure script, so what one would find
# of the C library and the compiler stands here; without its macros for vector instructions the portable C of each
# primitive is compiled, which is enough for the few hundred bytes that agents seal.
cmake_minimum_required(VERSION 3.23)
project(sodium VERSION 1.0.18 LANGUAGES C)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/libsodium/*.c)
add_library(sodium STATIC ${sources})
target_include_directories(sodium PUBLIC src/libsodium/include PRIVATE src/libsodium/include/sodium)
target_compile_definitions(sodium PRIVATE _GNU_SOURCE CONFIGURED=1 NATIVE_LITTLE_ENDIAN=1 HAVE_TI_MODE=1 HAVE_WEAK_SYMBOLS=1
  HAVE_INLINE_ASM=1 HAVE_C_VARARRAYS=1 HAVE_PTHREAD=1 HAVE_ATOMIC_OPS=1 HAVE_SYS_MMAN_H=1 HAVE_MMAP=1 HAVE_MPROTECT=1
  HAVE_MLOCK=1 HAVE_MADVISE=1 HAVE_POSIX_MEMALIGN=1 HAVE_GETPID=1 HAVE_NANOSLEEP=1)
target_compile_options(sodium PRIVATE -w)
# version.h, and libsodium.pc by which rubato's build finds it. ABI 23.3 (Debian's libsodium23) is 10.3 in its own count.
set(SODIUM_LIBRARY_VERSION_MAJOR 10)
set(SODIUM_LIBRARY_VERSION_MINOR 3)
set(VERSION ${PROJECT_VERSION})
set(PACKAGE_NAME libsodium)
set(PACKAGE_VERSION ${PROJECT_VERSION})
set(prefix ${CMAKE_INSTALL_PREFIX})
set(exec_prefix ${prefix})
set(libdir ${prefix}/lib)
set(includedir ${prefix}/include)
set(headers ${PROJECT_SOURCE_DIR}/src/libsodium/include)
configure_file(${headers}/sodium/version.h.in ${headers}/sodium/version.h @ONLY)
configure_file(libsodium.pc.in libsodium.pc @ONLY)
install(TARGETS sodium ARCHIVE DESTINATION lib)
install(FILES ${headers}/sodium.h DESTINATION include)
install(DIRECTORY ${headers}/sodium DESTINATION include FILES_MATCHING PATTERN *.h PATTERN private EXCLUDE)
install(FILES ${CMAKE_BINARY_DIR}/libsodium.pc DESTINATION lib/pkgconfig)
