#include "predict/layers/layer_shape.h"

#include <limits>

#include "base/text.h"

namespace rubato::predict {
namespace {

// Thrown and caught inside this file only.
struct Bad {
  std::string what;
};

using Sizes = std::vector<std::uint32_t>;

class Work {
 public:
  Work(const NetworkLayer& layer, std::span<const Shape> in) : layer_(layer), fields_(layer.fields) {
    out_.in.assign(in.begin(), in.end());
  }

  ShapedLayer done() && {
    shape();
    return std::move(out_);
  }

 private:
  [[noreturn]] static void wrong(std::string what) { throw Bad{std::move(what)}; }
  [[nodiscard]] const Shape& in() const { return out_.in.front(); }

  void one_input() const {
    if (out_.in.size() != 1) wrong(cat("it takes one input, not ", out_.in.size()));
  }
  [[nodiscard]] std::size_t spatial() const {
    if (in().size() < 2 || in().size() > 4)
      wrong(cat("its input ", text_of(in()), " is not channels and one to three spatial dimensions"));
    return in().size() - 1;
  }
  [[nodiscard]] Sizes for_each(const Sizes& sizes, std::string_view key, std::uint32_t otherwise) const {
    const std::size_t n = spatial();
    if (sizes.empty()) return Sizes(n, otherwise);
    if (sizes.size() == 1) return Sizes(n, sizes.front());
    if (sizes.size() != n)
      wrong(cat("\"", key, "\" has ", sizes.size(), " numbers, and its input ", text_of(in()), " ", n,
                " spatial dimensions"));
    return sizes;
  }
  static std::uint32_t fits(std::uint64_t dimension) {
    if (dimension > std::numeric_limits<std::uint32_t>::max())
      wrong(cat("a dimension of ", dimension, " is more than 4294967295"));
    return static_cast<std::uint32_t>(dimension);
  }
  static double product(const Sizes& sizes) { return elements_of(sizes); }

  /// A window that slides over `size`: the field of convolutions and pools.
  [[nodiscard]] std::uint32_t slid(std::uint64_t size, std::uint64_t kernel, std::uint64_t stride,
                                   std::uint64_t padding, std::uint64_t dilation) const {
    if (fields_.same) return fits((size + stride - 1) / stride);
    const std::uint64_t reach = dilation * (kernel - 1) + 1;
    const std::uint64_t there = size + 2 * padding;
    if (there < reach) wrong(cat("its input ", text_of(in()), " is smaller than its kernel"));
    std::uint64_t steps = (there - reach) / stride;
    // A last window that is not whole counts where it begins inside the input, not in the padding after it.
    if (fields_.ceil && (there - reach) % stride != 0 && (steps + 1) * stride < size + padding) ++steps;
    return fits(steps + 1);
  }
  [[nodiscard]] Shape slid_over(const Sizes& kernel, std::uint32_t channels, std::uint32_t stride) const {
    const Sizes step = stride == 0 ? (fields_.stride.empty() ? kernel : for_each(fields_.stride, "stride", 1))
                                   : for_each(fields_.stride, "stride", stride);
    const Sizes padding = for_each(fields_.padding, "padding", 0);
    const Sizes dilation = for_each(fields_.dilation, "dilation", 1);
    Shape out{channels};
    for (std::size_t i = 0; i < kernel.size(); ++i)
      out.push_back(slid(in()[i + 1], kernel[i], step[i], padding[i], dilation[i]));
    return out;
  }

  void conv() {
    const Sizes kernel = for_each(fields_.kernel, "kernel", 1);
    const std::uint32_t channels = *fields_.channels;
    if (in()[0] % fields_.groups != 0 || channels % fields_.groups != 0)
      wrong(cat(fields_.groups, " groups do not divide its ", in()[0], " and ", channels, " channels"));
    out_.group_inputs = in()[0] / fields_.groups;
    const bool transposed = layer_.kind.family == LayerFamily::convtranspose;
    if (transposed) {
      grow(kernel, channels);
    } else {
      out_.out = slid_over(kernel, channels, 1);
    }
    const double weights = static_cast<double>(channels) * out_.group_inputs * product(kernel);
    out_.parameters = weights + (fields_.bias ? channels : 0);
    // Each weight meets each place of the smaller side: the output, or the input where it is transposed.
    out_.operations =
        2 * weights * elements_of(transposed ? in() : out_.out) / (transposed ? in()[0] : channels);
  }
  void grow(const Sizes& kernel, std::uint32_t channels) {
    const Sizes stride = for_each(fields_.stride, "stride", 1);
    const Sizes padding = for_each(fields_.padding, "padding", 0);
    const Sizes dilation = for_each(fields_.dilation, "dilation", 1);
    const Sizes more = for_each(fields_.output_padding, "output_padding", 0);
    out_.out = {channels};
    for (std::size_t i = 0; i < kernel.size(); ++i) {
      const std::uint64_t whole = (std::uint64_t{in()[i + 1]} - 1) * stride[i] +
                                  std::uint64_t{dilation[i]} * (kernel[i] - 1) + 1 + more[i];
      if (whole <= 2 * std::uint64_t{padding[i]}) wrong("its padding leaves nothing of its output");
      out_.out.push_back(fits(whole - 2 * std::uint64_t{padding[i]}));
    }
  }
  void linear() {
    out_.out = in();
    out_.out.back() = *fields_.features;
    out_.parameters =
        static_cast<double>(in().back()) * *fields_.features + (fields_.bias ? *fields_.features : 0);
    out_.operations = 2 * elements_of(out_.out) * in().back();
  }
  void pool() {
    const Sizes kernel = for_each(fields_.kernel, "kernel", 1);
    out_.out = slid_over(kernel, in()[0], 0);
    out_.operations = elements_of(out_.out) * product(kernel);
  }
  void adaptive_pool() {
    const Sizes size = for_each(fields_.size, "size", 1);
    out_.out = {in()[0]};
    out_.out.insert(out_.out.end(), size.begin(), size.end());
    out_.operations = out_.out == in() ? 0 : elements_of(in());
  }
  void join() {
    if (out_.in.size() < 2) wrong(cat("it joins two or more inputs, not ", out_.in.size()));
    out_.out = in();
    for (const Shape& other : out_.in) {
      bool agrees = other.size() == out_.out.size();
      for (std::size_t i = 0; agrees && i < other.size(); ++i) {
        agrees = other[i] == out_.out[i] || other[i] == 1 || out_.out[i] == 1;
        out_.out[i] = std::max(other[i], out_.out[i]);
      }
      if (!agrees) branches_differ();
    }
    element_wise(static_cast<double>(out_.in.size() - 1));
  }
  void concat() {
    if (out_.in.size() < 2) wrong(cat("it joins two or more inputs, not ", out_.in.size()));
    std::uint64_t channels = 0;
    for (const Shape& other : out_.in) {
      Shape rest = other;
      rest[0] = in()[0];
      if (rest != in()) branches_differ();
      channels += other[0];
    }
    out_.out = in();
    out_.out[0] = fits(channels);
  }
  [[noreturn]] void branches_differ() const {
    std::string shapes;
    for (const Shape& shape : out_.in) shapes += cat(shapes.empty() ? "" : " and ", text_of(shape));
    wrong(cat("its inputs do not agree: ", shapes));
  }
  void element_wise(double times) { out_.operations = layer_.kind.forward * elements_of(out_.out) * times; }

  void shape() {
    const LayerFamily family = layer_.kind.family;
    if (family == LayerFamily::add || family == LayerFamily::mul) return join();
    if (family == LayerFamily::concat) return concat();
    one_input();
    out_.out = in();
    switch (family) {
      case LayerFamily::conv:
      case LayerFamily::convtranspose:
        return conv();
      case LayerFamily::linear:
        return linear();
      case LayerFamily::pool:
        return pool();
      case LayerFamily::adaptivepool:
        return adaptive_pool();
      case LayerFamily::globalpool:
        out_.out = Shape(spatial() + 1, 1);
        out_.out[0] = in()[0];
        out_.operations = elements_of(in());
        return;
      case LayerFamily::embedding:
        out_.out.push_back(*fields_.features);
        out_.parameters = static_cast<double>(*fields_.rows) * *fields_.features;
        return;
      case LayerFamily::norm:
      case LayerFamily::layernorm:
        if (fields_.affine)
          out_.parameters = 2.0 * (family == LayerFamily::norm ? in().front() : in().back());
        return element_wise(1);
      case LayerFamily::view:
        if (layer_.kind.name == "flatten") out_.out = {flat()};
        return;
      case LayerFamily::reshape:
        out_.out = fields_.shape;
        if (elements_of(out_.out) != elements_of(in()))
          wrong(cat("its shape ", text_of(out_.out), " does not hold the elements of ", text_of(in())));
        return;
      default:
        return element_wise(1);
    }
  }
  [[nodiscard]] std::uint32_t flat() const {
    const double elements = elements_of(in());
    if (elements > 4294967295.0) wrong(cat("its input ", text_of(in()), " is too large to flatten"));
    return static_cast<std::uint32_t>(elements);
  }

  const NetworkLayer& layer_;
  const LayerFields& fields_;
  ShapedLayer out_;
};

}  // namespace

Result<ShapedLayer> shape_of(const NetworkLayer& layer, std::span<const Shape> in) {
  try {
    return Work(layer, in).done();
  } catch (const Bad& bad) {
    return fail(ErrorCode::invalid_argument, cat("layer \"", layer.name, "\": ", bad.what));
  }
}

}  // namespace rubato::predict
