"""Calls Slurm's gpu/nvml plugin as slurmd does: what GPUs are there, and what `srun --gpu-freq=1200` does before and after a
step. slurmd itself needs root, a munge key and files in /etc; the plugin needs none of them."""

import ctypes
import json
import sys

plugins = sys.argv[1]
nvml = ctypes.CDLL("libnvidia-ml.so.1", mode=ctypes.RTLD_GLOBAL)
slurm = ctypes.CDLL(f"{plugins}/libslurmfull.so", mode=ctypes.RTLD_GLOBAL)
plugin = ctypes.CDLL(f"{plugins}/gpu_nvml.so", mode=ctypes.RTLD_GLOBAL)
slurm.slurm_xstrdup.restype = ctypes.c_void_p
slurm.slurm_list_count.argtypes = [ctypes.c_void_p]
slurm.slurm_bit_alloc.restype = ctypes.c_void_p
slurm.slurm_bit_alloc.argtypes = [ctypes.c_int64]
slurm.slurm_bit_set.argtypes = [ctypes.c_void_p, ctypes.c_int64]
plugin.gpu_p_get_system_gpu_list.restype = ctypes.c_void_p
plugin.gpu_p_step_hardware_init.argtypes = [ctypes.c_void_p, ctypes.c_char_p]

MapCpus = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))


@MapCpus
def same_cpus(machine, abstract):
    abstract[0] = slurm.slurm_xstrdup(machine)
    return 0


class NodeConfig(ctypes.Structure):  # node_config_load_t of Slurm 22.05
    _fields_ = [("cpus", ctypes.c_uint32), ("in_slurmd", ctypes.c_bool), ("map_cpus", MapCpus)]


def application_clock():
    assert nvml.nvmlInit_v2() == 0
    gpu, mhz = ctypes.c_void_p(), ctypes.c_uint()
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(gpu)) == 0
    assert nvml.nvmlDeviceGetApplicationsClock(gpu, 0, ctypes.byref(mhz)) == 0
    nvml.nvmlShutdown()
    return mhz.value


assert plugin.init() == 0
config = NodeConfig(2, True, same_cpus)
gpus = plugin.gpu_p_get_system_gpu_list(ctypes.byref(config))
found = {"gpus": slurm.slurm_list_count(gpus) if gpus else 0, "before": application_clock()}
first = slurm.slurm_bit_alloc(2)
slurm.slurm_bit_set(first, 0)
plugin.gpu_p_step_hardware_init(first, b"gpu:1200")
found["during"] = application_clock()
plugin.gpu_p_step_hardware_fini()
found["after"] = application_clock()
print(json.dumps(found))
