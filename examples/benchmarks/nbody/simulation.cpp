#include "simulation.h"

#include <cmath>
#include <numbers>

namespace nbody {
namespace {

// splitmix64: the standard library's distributions differ between implementations.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  double between_0_and_1() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return static_cast<double>((z ^ (z >> 31U)) >> 11U) * 0x1p-53;
  }

 private:
  std::uint64_t state_;
};

Vec3 in_any_direction(Numbers& numbers, double length) {
  const double z = 2 * numbers.between_0_and_1() - 1;
  const double angle = 2 * std::numbers::pi * numbers.between_0_and_1();
  const double across = std::sqrt(1 - z * z);
  return {static_cast<float>(length * across * std::cos(angle)),
          static_cast<float>(length * across * std::sin(angle)), static_cast<float>(length * z)};
}

void kick(Bodies& bodies, const std::vector<Pull>& pull, float dt) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bodies.velocity[i].x += dt * pull[i].acceleration.x;
    bodies.velocity[i].y += dt * pull[i].acceleration.y;
    bodies.velocity[i].z += dt * pull[i].acceleration.z;
  }
}

void drift(Bodies& bodies, float dt) {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    bodies.position[i].x += dt * bodies.velocity[i].x;
    bodies.position[i].y += dt * bodies.velocity[i].y;
    bodies.position[i].z += dt * bodies.velocity[i].z;
  }
}

}  // namespace

// Aarseth, Hénon and Wielen (1974), appendix: the radius from the enclosed mass, the speed by rejection from
// q^2 (1 - q^2)^3.5 with q its share of the escape speed.
Bodies plummer_sphere(std::size_t count, std::uint64_t seed) {
  Numbers numbers(seed);
  Bodies bodies;
  while (bodies.size() < count) {
    const double enclosed = numbers.between_0_and_1();
    if (enclosed < 1e-3 || enclosed > 0.99) continue;  // the far tail would only stretch the sphere
    const double radius = 1 / std::sqrt(std::pow(enclosed, -2.0 / 3) - 1);
    double q = 0;
    do {
      q = numbers.between_0_and_1();
    } while (0.1 * numbers.between_0_and_1() > q * q * std::pow(1 - q * q, 3.5));
    const double speed = q * std::sqrt(2.0) * std::pow(1 + radius * radius, -0.25);
    bodies.position.push_back(in_any_direction(numbers, radius));
    bodies.velocity.push_back(in_any_direction(numbers, speed));
  }
  return bodies;
}

void leapfrog(Bodies& bodies, std::vector<Pull>& pull, Gravity& gravity, float softening, float dt) {
  kick(bodies, pull, dt / 2);
  drift(bodies, dt);
  gravity.pulls(bodies, softening, pull);
  kick(bodies, pull, dt / 2);
}

double energy(const Bodies& bodies, const std::vector<Pull>& pull, float softening) {
  const double mass = bodies.mass();
  const double of_itself = -mass / softening;
  double sum = 0;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const Vec3& v = bodies.velocity[i];
    const double speed2 = double{v.x} * v.x + double{v.y} * v.y + double{v.z} * v.z;
    sum += 0.5 * mass * (speed2 + pull[i].potential - of_itself);  // half: each pair is in two potentials
  }
  return sum;
}

}  // namespace nbody
