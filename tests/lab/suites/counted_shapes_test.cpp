// The rows of networks.csv that say "counted", multiplied out again from the shapes their sources give.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/suites/network.h"

namespace rubato::lab {
namespace {

struct Count {
  double multiply_adds = 0;
  double activations = 0;  // elements written by products
  Count& operator+=(const Count& other) {
    multiply_adds += other.multiply_adds;
    activations += other.activations;
    return *this;
  }
};

Count operator*(double times, const Count& one) {
  return {times * one.multiply_adds, times * one.activations};
}

void expect_row(std::string_view name, const Count& counted) {
  const auto row =
      std::find_if(networks().begin(), networks().end(), [&](const Network& n) { return n.name == name; });
  ASSERT_NE(row, networks().end()) << name;
  EXPECT_NEAR(row->multiply_adds / counted.multiply_adds, 1.0, 0.03) << name;
  EXPECT_NEAR(row->activations / counted.activations, 1.0, 0.03) << name;
}

Count product(double in, double out) {
  return {in * out, out};
}

struct Encoder {
  std::string_view name;
  double layers;
  double width;
  double heads;
  double tokens;
  double vocabulary;  // of the output; 0: none to speak of
  double predicted;   // share of the tokens an output is made for
};

/// Per sequence: query, key, value, scores, their sum, projection, and a hidden layer four times as wide.
Count count(const Encoder& e) {
  Count token = product(e.width, 3 * e.width);
  token += {e.tokens * e.width, e.heads * e.tokens};
  token += {e.tokens * e.width, e.width};
  token += product(e.width, e.width);
  token += product(e.width, 4 * e.width);
  token += product(4 * e.width, e.width);
  Count all = e.layers * token;
  all += e.predicted * product(e.width, e.vocabulary);
  return e.tokens * all;
}

TEST(CountedShapes, OfTransformers) {
  constexpr double kWords = 30522;  // BERT predicts 15 % of them
  for (const Encoder& e :
       {Encoder{"bert-base-128", 12, 768, 12, 128, kWords, 0.15},
        Encoder{"bert-base-512", 12, 768, 12, 512, kWords, 0.15},
        Encoder{"bert-large-128", 24, 1024, 16, 128, kWords, 0.15},
        Encoder{"bert-large-512", 24, 1024, 16, 512, kWords, 0.15},
        Encoder{"distilbert-128", 6, 768, 12, 128, 0, 0}, Encoder{"gpt2-small", 12, 768, 12, 1024, 50257, 1},
        Encoder{"gpt2-medium", 24, 1024, 16, 1024, 50257, 1}})
    expect_row(e.name, count(e));
}

/// A step: four gates of what comes in and what was; written: the gates and the new state.
Count lstm(double in, double out) {
  return {4 * out * (in + out), 5 * out};
}

TEST(CountedShapes, OfLongShortTermMemories) {
  const auto steps = [](double n, const std::vector<Count>& layers) {
    Count all;
    for (const Count& one : layers) all += one;
    return n * all;
  };
  expect_row("lstm-lm-medium", steps(35, {lstm(650, 650), lstm(650, 650), product(650, 10000)}));
  expect_row("lstm-lm-large", steps(35, {lstm(1500, 1500), lstm(1500, 1500), product(1500, 10000)}));
  expect_row("awd-lstm",
             steps(70, {lstm(400, 1150), lstm(1150, 1150), lstm(1150, 400), product(400, 33278)}));
}

Count convolution(double in, double out, double kernel, double side) {
  return {in * out * kernel * kernel * side * side, out * side * side};
}

TEST(CountedShapes, OfUNet) {
  Count all;
  const double down[5][4] = {
      {1, 64, 570, 568}, {64, 128, 282, 280}, {128, 256, 138, 136}, {256, 512, 66, 64}, {512, 1024, 30, 28}};
  for (const auto& [in, out, first, second] : down) {
    all += convolution(in, out, 3, first);
    all += convolution(out, out, 3, second);
  }
  const double up[4][4] = {
      {1024, 512, 54, 52}, {512, 256, 102, 100}, {256, 128, 198, 196}, {128, 64, 390, 388}};
  for (const auto& [in, out, first, second] : up) {
    const double side = first + 2;
    all += {in * out * side * side, out * side * side};  // 2 x 2, upwards: a pixel out has one pixel in
    all += convolution(in, out, 3, first);
    all += convolution(out, out, 3, second);
  }
  expect_row("unet", all);
}

TEST(CountedShapes, OfResidualNetworksOnSmallImages) {
  const auto residual = [](double widening, double blocks) {
    Count all = convolution(3, 16, 3, 32);
    double in = 16;
    for (const auto& [width, side] : {std::pair{16.0, 32.0}, {32.0, 16.0}, {64.0, 8.0}}) {
      const double out = width * widening;
      all += convolution(in, out, 3, side);
      all += (2 * blocks - 1) * convolution(out, out, 3, side);
      in = out;
    }
    return all;
  };
  expect_row("resnet20-cifar", residual(1, 3));
  expect_row("wrn-28-10-cifar", residual(10, 4));
}

TEST(CountedShapes, OfEdsr) {
  Count all = convolution(3, 64, 3, 48);
  all += 33 * convolution(64, 64, 3, 48);  // two in a block, one behind them
  all += convolution(64, 256, 3, 48);      // becomes twice the side
  all += convolution(64, 3, 3, 96);
  expect_row("edsr-baseline", all);
}

TEST(CountedShapes, OfARadianceField) {
  Count point = product(63, 256);
  point += 6 * product(256, 256);
  point += product(63 + 256, 256);
  point += product(256, 1);
  point += product(256, 256);
  point += product(256 + 27, 128);
  point += product(128, 3);
  expect_row("nerf", (64 + 192) * point);
}

TEST(CountedShapes, OfPix2Pix) {
  const auto strided = [](double in, double out, double side) { return convolution(in, out, 4, side); };
  Count generator = strided(3, 64, 128);
  for (const auto& [in, out, side] : std::vector<std::array<double, 3>>{{64, 128, 64},
                                                                        {128, 256, 32},
                                                                        {256, 512, 16},
                                                                        {512, 512, 8},
                                                                        {512, 512, 4},
                                                                        {512, 512, 2},
                                                                        {512, 512, 1}})
    generator += strided(in, out, side);
  for (const auto& [in, out, side] : std::vector<std::array<double, 3>>{{512, 512, 1},
                                                                        {1024, 512, 2},
                                                                        {1024, 512, 4},
                                                                        {1024, 512, 8},
                                                                        {1024, 256, 16},
                                                                        {512, 128, 32},
                                                                        {256, 64, 64},
                                                                        {128, 3, 128}})
    generator += {in * out * 16 * side * side, out * 4 * side * side};
  Count discriminator = strided(6, 64, 128);
  discriminator += strided(64, 128, 64);
  discriminator += strided(128, 256, 32);
  discriminator += strided(256, 512, 31);
  discriminator += strided(512, 1, 30);
  generator += 3 * discriminator;  // of real, of made, and for the generator
  expect_row("pix2pix", generator);
}

}  // namespace
}  // namespace rubato::lab
