#include <dlfcn.h>

#include "feature/cupti/cupti.h"
#include "feature/dcgm/dcgm.h"
#include "feature/subject.h"
#include "feature_cupti/fake_cupti.h"
#include "feature_dcgm/fake_dcgm.h"

namespace rubato::feature {
namespace {

template <class Fake>
Fake& fake_in(const char* library, const char* symbol) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<Fake* (*)()>(::dlsym(handle, symbol))();
}
fake::Cupti& cupti_fake() {
  return fake_in<fake::Cupti>(FAKE_CUPTI, "fake_cupti");
}
fake::Dcgm& dcgm_fake() {
  return fake_in<fake::Dcgm>(FAKE_DCGM, "fake_dcgm");
}

ProviderKind cupti_on_its_fake() {
  return {cupti::kind().facts, [](device::Gpu& gpu) {
            cupti_fake() = fake::Cupti{};
            cupti_fake().pci_bus_ids = {gpu.identity().pci_bus_id};
            cupti::Places places;
            places.cuda = places.named = FAKE_CUPTI;
            places.loader = false;
            places.root = FsRoot(testing::TempDir() + "no_such_machine");
            return cupti::open(gpu, places);
          }};
}
void records_come(Seconds span) {
  constexpr std::uint64_t kInterval = 10'000'000;
  cupti_fake().records.assign(static_cast<std::size_t>(span.value() * 1e9) / kInterval, kInterval);
}

constexpr std::uint16_t kSmActive = 1002;

ProviderKind dcgm_on_its_fake() {
  return {dcgm::kind().facts, [](device::Gpu& gpu) {
            dcgm_fake() = fake::Dcgm{};
            dcgm_fake().uuids = {"GPU-0", gpu.identity().id.uuid};
            dcgm_fake().fields[kSmActive] = {.at_us = 1'700'000'000'000'000, .value = 0.5};
            dcgm::Places places;
            places.libraries = {FAKE_DCGM};
            return dcgm::open(gpu, places);
          }};
}
void an_update_comes(Seconds span) {
  dcgm_fake().fields[kSmActive].at_us += static_cast<std::int64_t>(span.value() * 1e6);
}

}  // namespace

std::vector<Subject> library_subjects() {
  return {{"cupti", cupti_on_its_fake, Guise::hardware, true, records_come},
          {"dcgm", dcgm_on_its_fake, Guise::hardware, true, an_update_comes}};
}

}  // namespace rubato::feature
