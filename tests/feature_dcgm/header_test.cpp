#include <gtest/gtest.h>

#ifdef HAVE_DCGM_HEADERS
#include "feature_dcgm/vendor/layout.cpp"
#endif

namespace {

TEST(DcgmHeaders, agree_with_our_declarations) {
#ifndef HAVE_DCGM_HEADERS
  GTEST_SKIP() << "DCGM's headers are in no package index; -DRUBATO_DCGM_HEADERS=FOLDER names some";
#endif
}

}  // namespace
