// Gravity among n bodies, every pair of them: the CPU's and the GPU's way to the same pull.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace nbody {

struct Vec3 {
  float x = 0, y = 0, z = 0;
};

struct Pull {
  Vec3 acceleration;
  float potential = 0;  // per unit of mass, the body's own softened one included
};

/// Equal masses that sum to one, in units where the constant of gravity is one.
struct Bodies {
  std::vector<Vec3> position;
  std::vector<Vec3> velocity;
  [[nodiscard]] std::size_t size() const { return position.size(); }
  [[nodiscard]] float mass() const { return 1.0F / static_cast<float>(size()); }
};

class Gravity {
 public:
  virtual ~Gravity() = default;
  /// What pulls at each body at these positions. The softening length keeps close pairs finite (Plummer).
  virtual void pulls(const Bodies& bodies, float softening, std::vector<Pull>& into) = 0;
};

/// Each body's sum is taken by one thread in one order: the result does not depend on how many threads there
/// are.
std::unique_ptr<Gravity> cpu_gravity(unsigned threads);

/// On the first GPU; nullptr where the program was built without CUDA or there is no GPU.
std::unique_ptr<Gravity> cuda_gravity();

}  // namespace nbody
