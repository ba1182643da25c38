// The same question of many cases, on every core; the answers come in the order of the cases.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

namespace rubato::layer_study {

template <class In, class Function>
auto in_parallel(const std::vector<In>& cases, Function&& answer) {
  using Out = std::invoke_result_t<Function&, const In&>;
  std::vector<std::optional<Out>> found(cases.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < cases.size(); i = next++) found[i] = answer(cases[i]);
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
      others.emplace_back(work);
    work();
  }
  std::vector<Out> out;
  out.reserve(found.size());
  for (auto& one : found) out.push_back(std::move(*one));
  return out;
}

}  // namespace rubato::layer_study
