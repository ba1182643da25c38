#include "cli/hooks_reach.h"

#include <gmock/gmock.h>

#include "base/text.h"

namespace rubato::cli {
namespace {

using testing::HasSubstr;

HooksReach of(const std::string& line) {
  return hooks_reach(split(line, ' '));
}

struct Case {
  std::string line;
  std::string why;  // part of it; empty: nothing stands in the way
};

class Reach : public testing::TestWithParam<Case> {};

TEST_P(Reach, IsToldFromTheCommand) {
  const auto reach = of(GetParam().line);
  if (GetParam().why.empty()) {
    EXPECT_FALSE(reach.why_not) << GetParam().line << ": " << *reach.why_not;
  } else {
    ASSERT_TRUE(reach.why_not) << GetParam().line;
    EXPECT_THAT(*reach.why_not, HasSubstr(GetParam().why)) << GetParam().line;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Reach,
    testing::Values(Case{"python3 train.py", ""}, Case{"python3 -I train.py", "`python3 -I`"},
                    Case{"/usr/bin/python3.11 -uI train.py", "`python3.11 -I`"},
                    Case{"python -S train.py", "sitecustomize"}, Case{"python -E -m train", "PYTHONPATH"},
                    Case{"python -m train -I", ""}, Case{"python train.py -S", ""}, Case{"python -c -I", ""},
                    Case{"python -W ignore -I x.py", "-I"}, Case{"python -Wignore::I x.py", ""},
                    Case{"python -X importtime x.py", ""}, Case{"env -i python3 train.py", "env -i"},
                    Case{"env A=1 -u HOME python3 -I train.py", "`python3 -I`"},
                    Case{"env -u PYTHONPATH python3 x.py", "takes PYTHONPATH away"},
                    Case{"env PYTHONPATH=/x python3 x.py", "anew"}, Case{"env A=1 python3 x.py", ""},
                    Case{"srun --export=NONE python3 x.py", "srun --export=NONE"},
                    Case{"srun --export A,B -n 4 python3 x.py", "does not pass"},
                    Case{"srun --export=ALL,A=1 python3 x.py", ""},
                    Case{"srun --export=PYTHONPATH python3 x.py", ""},
                    Case{"srun -n 4 python3 -I x.py", "-I"}, Case{"sbatch --export=NONE job.sh", "sbatch"},
                    Case{"docker run image python3 x.py", "container"},
                    Case{"apptainer exec --nv i.sif python x.py", "container"},
                    Case{"sudo python3 x.py", "sudo"}, Case{"nice -n 10 python3 -I x.py", "-I"},
                    Case{"timeout 10 env -i python3 x.py", "env -i"}, Case{"taskset -c 0 ./a.out", ""},
                    Case{"bash -c python3", ""}, Case{"./train -I", ""},
                    Case{"torchrun --nproc-per-node 4 x.py", ""}, Case{"env", ""}, Case{"", ""}));

TEST(HooksReach, TellsWhetherItIsPython) {
  for (const char* line : {"python3 x.py", "env A=1 python x.py", "torchrun x.py", "accelerate launch x.py",
                           "./train.py", "conda run -n ml python x.py", "mpirun -np 4 python3 x.py"})
    EXPECT_TRUE(of(line).python) << line;
  for (const char* line : {"./a.out", "pythonic", "bash train.sh", "true"})
    EXPECT_FALSE(of(line).python) << line;
  EXPECT_FALSE(hooks_reach({}).python);
}

}  // namespace
}  // namespace rubato::cli
