// What the plugin tells rubato-slurm-task through the task's environment.
#pragma once

namespace rubato::slurm {

inline constexpr const char* kCommandVariable = "RUBATO_SLURM_COMMAND";  // the task's own first word
inline constexpr const char* kOptionsVariable = "RUBATO_SLURM_OPTIONS";  // as after --rubato
/// Set where a job has all GPUs of its nodes and Slurm counts none (no GresTypes=gpu).
inline constexpr const char* kWholeNodesVariable = "RUBATO_SLURM_WHOLE_NODES";
/// As newer Slurm sets it itself (since 23.02); `rubato run` reads it as its deadline.
inline constexpr const char* kEndVariable = "SLURM_JOB_END_TIME";

}  // namespace rubato::slurm
