#include <cstdio>
#include <cstdlib>

#include "gravity.h"

namespace nbody {
namespace {

constexpr unsigned kTile = 256;  // bodies a block keeps in shared memory at a time

void check(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "error: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

__global__ void pull(const Vec3* at, Pull* into, unsigned count, float mass, float softening2) {
  __shared__ float3 tile[kTile];  // Vec3 has initial values, which shared memory cannot have
  const unsigned body = blockIdx.x * kTile + threadIdx.x;
  const Vec3 here = body < count ? at[body] : Vec3{};
  Vec3 sum;
  float inverses = 0;
  for (unsigned first = 0; first < count; first += kTile) {
    const unsigned mine = first + threadIdx.x;
    if (mine < count) tile[threadIdx.x] = make_float3(at[mine].x, at[mine].y, at[mine].z);
    __syncthreads();
    const unsigned filled = count - first < kTile ? count - first : kTile;
    for (unsigned other = 0; other < filled; ++other) {
      const float dx = tile[other].x - here.x;
      const float dy = tile[other].y - here.y;
      const float dz = tile[other].z - here.z;
      const float distance2 = dx * dx + dy * dy + dz * dz + softening2;
      const float inverse = rsqrtf(distance2);
      inverses += inverse;
      const float weight = inverse * inverse * inverse;
      sum.x += dx * weight;
      sum.y += dy * weight;
      sum.z += dz * weight;
    }
    __syncthreads();
  }
  if (body < count) into[body] = {{mass * sum.x, mass * sum.y, mass * sum.z}, -mass * inverses};
}

class CudaGravity : public Gravity {
 public:
  CudaGravity() = default;
  CudaGravity(const CudaGravity&) = delete;
  CudaGravity& operator=(const CudaGravity&) = delete;

  ~CudaGravity() override {
    cudaFree(at_);
    cudaFree(into_);
  }

  void pulls(const Bodies& bodies, float softening, std::vector<Pull>& into) override {
    const std::size_t bytes = bodies.size() * sizeof(Vec3);
    const std::size_t result_bytes = bodies.size() * sizeof(Pull);
    if (at_ == nullptr) {
      check(cudaMalloc(&at_, bytes), "memory on the GPU");
      check(cudaMalloc(&into_, result_bytes), "memory on the GPU");
    }
    into.resize(bodies.size());
    check(cudaMemcpy(at_, bodies.position.data(), bytes, cudaMemcpyHostToDevice), "copy to the GPU");
    const auto count = static_cast<unsigned>(bodies.size());
    pull<<<(count + kTile - 1) / kTile, kTile>>>(at_, into_, count, bodies.mass(), softening * softening);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(into.data(), into_, result_bytes, cudaMemcpyDeviceToHost), "copy from the GPU");
  }

 private:
  Vec3* at_ = nullptr;
  Pull* into_ = nullptr;
};

}  // namespace

std::unique_ptr<Gravity> cuda_gravity() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return nullptr;
  return std::make_unique<CudaGravity>();
}

}  // namespace nbody
