#include "govern/layer_plan/same_job.h"

#include <gtest/gtest.h>

#include "made_plan.h"

namespace rubato::govern {
namespace {

plan::LayerPlan plan() {
  plan::LayerPlan out = made_plan();
  out.network = "resnet50";
  out.parameters = 25'557'032;
  out.batch = 64;
  out.precision = Precision::fp32;
  return out;
}

TEST(SameJob, WhatIsNotToldSpeaksAgainstNothing) {
  EXPECT_EQ(another_job(plan(), {}), "");
  EXPECT_EQ(in_words({}), "");
  plan::LayerPlan of_before = plan();
  of_before.parameters.reset();
  EXPECT_EQ(another_job(of_before, {.name = {}, .parameters = 7e9, .batch = 64, .precision = {}}), "");
}

TEST(SameJob, BiasesThatAnotherFrameworkAddsAreNoOtherModel) {
  const TrainedModel keras{
      .name = "resnet50", .parameters = 25'583'592, .batch = 64, .precision = Precision::fp32};
  EXPECT_EQ(another_job(plan(), keras), "");
  EXPECT_EQ(in_words(keras), "25583592 parameters, batch 64, fp32");
}

TEST(SameJob, AnotherModelBatchOrTypeIsNamedWithBothValues) {
  EXPECT_EQ(another_job(plan(), {.name = "ResNet", .parameters = 11'689'512, .batch = 64, .precision = {}}),
            "the job (ResNet) trains 11689512 parameters, and the plan is for resnet50 with 25557032: "
            "another model");
  EXPECT_EQ(another_job(plan(), {.name = {}, .parameters = 25'557'032, .batch = 32, .precision = {}}),
            "the job trains batches of 32, and the plan is for resnet50 at batch 64");
  EXPECT_EQ(another_job(plan(), {.name = {}, .parameters = {}, .batch = {}, .precision = Precision::bf16}),
            "the job computes in bf16, and the plan is for resnet50 in fp32");
}

TEST(SameJob, APlanOfOnePassIsForNoTraining) {
  plan::LayerPlan inference = plan();
  inference.only = LayerPass::forward;
  EXPECT_EQ(
      another_job(inference, {.name = "ResNet", .parameters = 25'557'032, .batch = 64, .precision = {}}),
      "the job (ResNet) trains, and the plan is for the forward pass of resnet50 alone");
}

TEST(SameJob, SinglePrecisionMayBeComputedOnTensorCores) {
  EXPECT_EQ(another_job(plan(), {.name = {}, .parameters = {}, .batch = {}, .precision = Precision::tf32}),
            "");
  plan::LayerPlan tf32 = plan();
  tf32.precision = Precision::tf32;
  EXPECT_EQ(another_job(tf32, {.name = {}, .parameters = {}, .batch = {}, .precision = Precision::fp32}), "");
}

}  // namespace
}  // namespace rubato::govern
