// A test's way to the fake library: its state, reset for each test, and a backend opened on it.
#pragma once

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <memory>
#include <string>

#include "device/nvml/backend.h"
#include "device_nvml/fake_nvml.h"

namespace rubato::device::nvml::fake {

class Driver : public testing::Test {
 protected:
  explicit Driver(const char* library)
      : library_(library), handle_(::dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    state_ = reinterpret_cast<GetState*>(::dlsym(handle_, "fake_nvml_state"))();
    *state_ = State{};
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) /
            (std::string("nvml_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(root_);
    write("proc/self/status", "CapEff:\t000001ffffffffff\n");
  }
  ~Driver() override {
    gpu_.reset();
    backend_.reset();
    ::dlclose(handle_);
    std::filesystem::remove_all(root_);
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  [[nodiscard]] Result<std::unique_ptr<Backend>> open_backend() const {
    return open_with({.library = library_, .root = FsRoot(root_)});
  }
  void open() {
    auto backend = open_backend();
    ASSERT_TRUE(backend) << backend.error().what;
    backend_ = std::move(*backend);
    auto gpu = backend_->open(backend_->gpus().front().id);
    ASSERT_TRUE(gpu) << gpu.error().what;
    gpu_ = std::move(*gpu);
  }
  [[nodiscard]] const Capabilities& can() const { return gpu_->capabilities(); }
  [[nodiscard]] std::unique_ptr<GpuControl> control() const {
    return backend_->open_control(backend_->gpus().front().id).value();
  }
  [[nodiscard]] FastReading fast() const {
    const auto reading = gpu_->read_fast();
    EXPECT_TRUE(reading) << reading.error().what;
    return reading.value_or(FastReading{});
  }
  [[nodiscard]] SlowReading slow() const {
    const auto reading = gpu_->read_slow();
    EXPECT_TRUE(reading) << reading.error().what;
    return reading.value_or(SlowReading{});
  }
  void has_fields(std::initializer_list<Field> fields) const {
    std::copy(fields.begin(), fields.end(), state_->fields);
  }

  State* state_ = nullptr;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Gpu> gpu_;

 private:
  std::string library_;
  void* handle_;
  std::filesystem::path root_;
};

class Driver2016 : public Driver {
 protected:
  Driver2016() : Driver(FAKE_2016) {}
};
class Driver2023 : public Driver {
 protected:
  Driver2023() : Driver(FAKE_2023) {}
};
/// Everything that CUDA 13 calls deprecated is gone.
class NewestDriver : public Driver {
 protected:
  NewestDriver() : Driver(FAKE_2027) { state_->driver_version = "615.10.01"; }
};

}  // namespace rubato::device::nvml::fake
