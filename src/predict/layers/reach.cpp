#include "predict/layers/layer_costs.h"

namespace rubato::predict {

// Chosen before any plan was costed with them; none is fitted to the boards of docs/evidence/layers.md.
const Reach& published_reach() {
  static constexpr Reach kReach{
      // ResNet50 in single precision on a V100: 356 to 367 images/s in training (NVIDIA DeepLearningExamples,
      // resnet50v1.5, 21.03 container). 24.6 GFLOP an image; less about 0.6 GB of element-wise traffic at the
      // share below, the convolutions reach about three quarters of 15.7 TFLOPS.
      .dense = 0.75,
      // A multiply-add in each clock is the roof; plain additions and products are half of it.
      .elementwise = 0.5,
      // Streaming kernels: some 1,800 of 2,039 GB/s on an A100 (0.88), 0.7 on a GTX 960 that a forum reports;
      // frameworks' element-wise and reduction kernels are nearer to the first.
      .memory = 0.85,
      // Kernels without work, one after the other: about 3 us on recent hardware (NVIDIA developer forum).
      .launch = Seconds(3e-6)};
  return kReach;
}

}  // namespace rubato::predict
