# The static SQLite of tools/make-portable. Extensions are not loaded, so that it needs no dlopen.
cmake_minimum_required(VERSION 3.23)
project(sqlite LANGUAGES C)
add_library(sqlite3 STATIC sqlite3.c)
target_compile_definitions(sqlite3 PRIVATE SQLITE_THREADSAFE=1 SQLITE_OMIT_LOAD_EXTENSION)
target_compile_options(sqlite3 PRIVATE -w)
install(TARGETS sqlite3 ARCHIVE DESTINATION lib)
install(FILES sqlite3.h DESTINATION include)
