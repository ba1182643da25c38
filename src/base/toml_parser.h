// toml++ as it is safe to use on a file somebody else wrote: header-only, without exceptions, and with its
// internal assertions off. Version 3.3 asserts what a malformed file can violate ("[ .a]"): a debug build
// would abort, and a clang release build would take the assertion for a promise and leave out the error
// branch behind it.
#pragma once

#undef NDEBUG
#define TOML_ASSERT(condition) static_assert(true)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>
