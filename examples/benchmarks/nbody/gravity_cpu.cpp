#include <algorithm>
#include <barrier>
#include <cmath>
#include <thread>

#include "gravity.h"

namespace nbody {
namespace {

Pull pull_on(const std::vector<Vec3>& at, std::size_t body, float mass, float softening2) {
  const Vec3 here = at[body];
  Vec3 sum;
  float inverses = 0;
  for (const Vec3& there : at) {
    const float dx = there.x - here.x;
    const float dy = there.y - here.y;
    const float dz = there.z - here.z;
    const float distance2 = dx * dx + dy * dy + dz * dz + softening2;
    const float inverse = 1.0F / std::sqrt(distance2);
    const float weight = inverse * inverse * inverse;
    inverses += inverse;
    sum.x += dx * weight;
    sum.y += dy * weight;
    sum.z += dz * weight;
  }
  return {{mass * sum.x, mass * sum.y, mass * sum.z}, -mass * inverses};
}

class CpuGravity : public Gravity {
 public:
  explicit CpuGravity(unsigned threads) : start_(threads), done_(threads) {
    for (unsigned number = 1; number < threads; ++number) {
      helpers_.emplace_back([this, number](const std::stop_token& stop) {
        for (;;) {
          start_.arrive_and_wait();
          if (stop.stop_requested()) return;
          share(number);
          done_.arrive_and_wait();
        }
      });
    }
  }

  CpuGravity(const CpuGravity&) = delete;
  CpuGravity& operator=(const CpuGravity&) = delete;

  ~CpuGravity() override {
    for (std::jthread& helper : helpers_) helper.request_stop();
    start_.arrive_and_wait();
  }

  void pulls(const Bodies& bodies, float softening, std::vector<Pull>& into) override {
    into.resize(bodies.size());
    bodies_ = &bodies;
    softening2_ = softening * softening;
    into_ = &into;
    start_.arrive_and_wait();
    share(0);
    done_.arrive_and_wait();
  }

 private:
  void share(std::size_t number) {
    const std::size_t shares = helpers_.size() + 1;
    const std::size_t count = bodies_->size();
    for (std::size_t body = count * number / shares; body < count * (number + 1) / shares; ++body) {
      (*into_)[body] = pull_on(bodies_->position, body, bodies_->mass(), softening2_);
    }
  }

  std::barrier<> start_;
  std::barrier<> done_;
  const Bodies* bodies_ = nullptr;
  float softening2_ = 0;
  std::vector<Pull>* into_ = nullptr;
  std::vector<std::jthread> helpers_;  // last: they end before what they use
};

}  // namespace

std::unique_ptr<Gravity> cpu_gravity(unsigned threads) {
  return std::make_unique<CpuGravity>(std::max(1U, threads));
}

}  // namespace nbody
