#include "predict/layers/layer_kinds.h"

#include <algorithm>
#include <array>

namespace rubato::predict {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::array<std::string_view, 7> kConv = {"channels", "kernel", "stride", "padding",
                                                   "dilation", "groups", "bias"};
constexpr std::array<std::string_view, 8> kTransposed = {"channels", "kernel", "stride", "padding",
                                                         "dilation", "groups", "bias",   "output_padding"};
constexpr std::array<std::string_view, 2> kLinear = {"features", "bias"};
constexpr std::array<std::string_view, 2> kEmbedding = {"rows", "features"};
constexpr std::array<std::string_view, 1> kNorm = {"affine"};
constexpr std::array<std::string_view, 4> kPool = {"kernel", "stride", "padding", "ceil"};
constexpr std::array<std::string_view, 1> kSize = {"size"};
constexpr std::array<std::string_view, 1> kShape = {"shape"};

// Of products: 1, for each multiply-add is counted where the shapes are. Normalisation forward: sum, sum of
// squares (2), then scale and shift as one multiply-add (2); backward: two sums with a product each, the
// normalised value again (2), and three multiply-adds less one.
constexpr double kExponential = 8;
// A product owes a gradient to each of its two factors. Fused attention does not keep its scores and works
// them out again: five products for two (Dao, FlashAttention-2, arXiv 2307.08691, section 4.1).
constexpr double kTwoFactors = 2;
constexpr double kAttention = 2.5;
constexpr LayerKind kKinds[] = {
    {"conv", LayerFamily::conv, 1, 1, Names(kConv)},
    {"convtranspose", LayerFamily::convtranspose, 1, 1, Names(kTransposed)},
    {"linear", LayerFamily::linear, 1, 1, Names(kLinear)},
    {"matmul", LayerFamily::product, 1, kTwoFactors},
    {"attention", LayerFamily::product, 1, kAttention},
    {"rnn", LayerFamily::product, 1, kTwoFactors},
    {"simplernn", LayerFamily::product, 1, kTwoFactors},
    {"lstm", LayerFamily::product, 1, kTwoFactors},
    {"gru", LayerFamily::product, 1, kTwoFactors},
    {"rnncell", LayerFamily::product, 1, kTwoFactors},
    {"lstmcell", LayerFamily::product, 1, kTwoFactors},
    {"grucell", LayerFamily::product, 1, kTwoFactors},
    {"bilinear", LayerFamily::product, 1, kTwoFactors},
    {"other-linear", LayerFamily::product, 1, kTwoFactors},
    {"other-conv", LayerFamily::product, 1, kTwoFactors},
    {"other-convtranspose", LayerFamily::product, 1, kTwoFactors},
    {"embedding", LayerFamily::embedding, 0, 1, Names(kEmbedding)},
    {"batchnorm", LayerFamily::norm, 5, 10, Names(kNorm)},
    {"groupnorm", LayerFamily::norm, 5, 10, Names(kNorm)},
    {"instancenorm", LayerFamily::norm, 5, 10, Names(kNorm)},
    {"layernorm", LayerFamily::layernorm, 5, 10, Names(kNorm)},
    {"relu", LayerFamily::activation, 1, 1},
    {"relu6", LayerFamily::activation, 2, 2},
    {"leakyrelu", LayerFamily::activation, 2, 2},
    {"elu", LayerFamily::activation, kExponential, kExponential},
    {"gelu", LayerFamily::activation, kExponential, kExponential},
    {"sigmoid", LayerFamily::activation, kExponential, 3},
    {"tanh", LayerFamily::activation, kExponential, 3},
    {"silu", LayerFamily::activation, kExponential, kExponential},
    {"hardswish", LayerFamily::activation, 4, 4},
    {"maxpool", LayerFamily::pool, 1, 1, Names(kPool)},
    {"avgpool", LayerFamily::pool, 1, 1, Names(kPool)},
    {"adaptivepool", LayerFamily::adaptivepool, 1, 1, Names(kSize)},
    {"globalpool", LayerFamily::globalpool, 1, 1},
    {"add", LayerFamily::add, 1, 0},
    {"mul", LayerFamily::mul, 1, 1},
    {"concat", LayerFamily::concat, 0, 0},
    {"flatten", LayerFamily::view, 0, 0},
    {"identity", LayerFamily::view, 0, 0},
    {"reshape", LayerFamily::reshape, 0, 0, Names(kShape)},
    {"softmax", LayerFamily::softmax, kExponential, 4},
    {"dropout", LayerFamily::dropout, 2, 1},
};

}  // namespace

const LayerKind* find_layer_kind(std::string_view name) {
  const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                   [name](const LayerKind& kind) { return kind.name == name; });
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace rubato::predict
