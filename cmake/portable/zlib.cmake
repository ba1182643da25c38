# The static zlib of tools/make-portable: its own build makes a shared one besides, which would be found first.
cmake_minimum_required(VERSION 3.23)
project(zlib LANGUAGES C)
add_library(z STATIC adler32.c compress.c crc32.c deflate.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c)
target_compile_options(z PRIVATE -w)
install(TARGETS z ARCHIVE DESTINATION lib)
install(FILES zlib.h zconf.h DESTINATION include)
