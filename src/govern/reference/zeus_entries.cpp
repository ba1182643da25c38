#include "govern/reference/zeus_entries.h"

#include <utility>

#include "govern/reference/search_strategy.h"
#include "govern/reference/zeus_search.h"

namespace rubato::govern {
namespace {

using Made = Result<std::unique_ptr<Strategy>>;

Made make(ZeusRule rule, const StrategyRequest& request, Variant variant) {
  auto search = make_zeus(rule, request, variant == Variant::published);
  if (!search) return fail(search.error());
  return run_search(name_of(rule), request, variant, std::move(*search));
}

}  // namespace

Made make_zeus_slowdown(const StrategyRequest& request, Variant variant) {
  return make(ZeusRule::max_slowdown, request, variant);
}

Made make_zeus_energy(const StrategyRequest& request, Variant variant) {
  return make(ZeusRule::energy, request, variant);
}

Made make_zeus_time(const StrategyRequest& request, Variant variant) {
  return make(ZeusRule::time, request, variant);
}

Made make_zeus_cost(const StrategyRequest& request, Variant variant) {
  return make(ZeusRule::cost, request, variant);
}

}  // namespace rubato::govern
