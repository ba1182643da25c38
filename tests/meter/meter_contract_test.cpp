// The kinds of meter that need no server, through the contract that all kinds keep.
#include "meter/contract.h"
#include "meter/hwmon_subject.h"
#include "meter/mcp_subject.h"
#include "meter/rapl_subject.h"

namespace rubato::meter::testing {
namespace {

template <class S>
SubjectCase of(const char* name) {
  return {name, [](std::string&) { return std::make_unique<S>(); }};
}

INSTANTIATE_TEST_SUITE_P(Local, MeterContract,
                         ::testing::Values(of<RaplSubject>("rapl"), of<HwmonSubject>("hwmon"),
                                           of<McpSubject>("mcp39f511n")),
                         case_name);

}  // namespace
}  // namespace rubato::meter::testing
