// Writes every module of the micro-benchmarks into a folder, for the assembler.
#include <cstdio>
#include <fstream>
#include <string>

#include "experiment/calibrate/ptx/ptx.h"

int main(int argc, char** argv) {
  namespace ptx = rubato::experiment::ptx;
  if (argc != 2) return 2;
  const auto write = [folder = std::string(argv[1])](const char* name, const std::string& text) {
    std::ofstream(folder + "/" + name + ".ptx") << text;
    std::printf("%s\n", name);
  };
  write("fma32", ptx::fma32());
  write("fma64", ptx::fma64());
  write("mixed", ptx::mixed());
  write("chase", ptx::chase());
  write("matrices-fp16", ptx::matrices(ptx::TensorFormat::fp16));
  write("matrices-bf16", ptx::matrices(ptx::TensorFormat::bf16));
  write("matrices-tf32", ptx::matrices(ptx::TensorFormat::tf32));
  return 0;
}
