#include "cli/request.h"

#include "base/text.h"

namespace rubato::cli {
namespace {

// A rule for one program owned by root; rubato starts the guard as `sudo PROGRAM guard …`.
constexpr std::string_view kSudoRule =
    "  1. Install rubato owned by root, for instance as /usr/local/bin/rubato, and allow its guard\n"
    "     alone, in /etc/sudoers.d/rubato:\n"
    "         %gpuusers ALL=(root) NOPASSWD: /usr/local/bin/rubato guard --backend nvml *\n";

std::string steps(const Place& place) {
  if (place.right == Right::withheld) {
    return cat(
        "Could you do one of these?\n"
        "  - Start the container with CAP_SYS_ADMIN and the host's folder for what has to be put back:\n"
        "         docker run --cap-add SYS_ADMIN -v /run/rubato:/run/rubato …\n",
        place.user_namespace ? "    It must not be a rootless container: the driver asks on the host.\n" : "",
        "    That capability reaches far beyond GPUs; for a container of strangers it is too much.\n"
        "  - Or set the limit I ask for on the host, and take it back afterwards:\n"
        "         nvidia-smi -i GPU -pl WATTS\n"
        "After a container was killed, `sudo rubato restore` on the host puts back what it left.\n");
  }
  if (place.right == Right::scheduler) {
    return cat("Could you do this on the nodes with GPUs?\n", kSudoRule,
               "  2. Let the end of every job put back what a killed one left behind, in the epilog script:\n"
               "         /usr/local/bin/rubato restore\n"
               "     It does nothing where nothing is left, and needs no configuration.\n"
               "Jobs then use: rubato run --sudo --accept-unrestored … -- COMMAND\n");
  }
  return cat("Could you do this on that machine?\n", kSudoRule,
             "Then I can use: rubato run --sudo … -- COMMAND\n");
}

}  // namespace

std::string request_text(const Place& place, const RequestFacts& facts) {
  if (place.right == Right::here)
    return cat("Nothing has to be asked for: this process may set its GPUs",
               facts.gpus.empty() ? ", and sees none (rubato doctor).\n" : ".\n");
  std::string gpus;
  for (const auto& gpu : facts.gpus) gpus += cat(gpus.empty() ? "" : ", ", gpu);
  return cat("Subject: setting GPU power limits for training jobs on ", facts.host, "\n\n",
             "Hello,\n\n"
             "I train on ",
             facts.host, gpus.empty() ? "" : cat(" (", gpus, ", NVIDIA driver ", facts.driver_version, ")"),
             " as user ", facts.user, ", in ", place.in_words(),
             ".\n"
             "I would like to run at a lower power limit or clock, which often costs little time and saves\n"
             "energy. The driver allows that to CAP_SYS_ADMIN only, and ",
             place.right == Right::withheld ? "the container does not get it" : "my account lacks it",
             ".\n\n"
             "rubato (Apache-2.0) gives the right to one small process, its guard. The guard accepts only\n"
             "values inside the range that the driver states, writes what it found to /run/rubato before it\n"
             "changes anything, and puts it back when the job ends, dies or is killed. The training itself\n"
             "runs as me, and rubato asks only for GPUs on which my job computes and nobody else does; the\n"
             "guard does not check that, so who may start it may set every GPU of the machine in its range.\n"
             "SECURITY.md in its sources says what is protected, how, and what cannot be.\n\n",
             steps(place), "\nThank you.\n");
}

}  // namespace rubato::cli
