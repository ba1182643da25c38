"""Waits for the devices of frameworks that the program has imported and begun to use; starts none of them."""

import sys


def devices():
    """Returns when what the program has launched so far is done. Never raises."""
    for wait in (_torch, _jax, _tensorflow):
        try:
            wait()
        except Exception:  # of another version, or on its way down: an edge that is less sharp
            pass


def _torch():
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    if cuda is None or not cuda.is_initialized():
        return
    # synchronize() gives a device that this process does not use a context, and the job a foreign one.
    in_use = getattr(sys.modules["torch"]._C, "_cuda_hasPrimaryContext", None)
    if in_use is None:
        cuda.synchronize()
        return
    for device in range(cuda.device_count()):
        if in_use(device):
            cuda.synchronize(device)


def _jax():
    jax, bridge = sys.modules.get("jax"), sys.modules.get("jax._src.xla_bridge")
    if jax is None or bridge is None or not bridge._backends:
        return
    # Work whose results the program has let go of is not waited for.
    for array in jax.live_arrays():
        if not array.is_deleted():
            array.block_until_ready()


def _tensorflow():
    context = sys.modules.get("tensorflow.python.eager.context")
    context = context.context_safe() if context is not None else None
    if context is not None and context._initialized:
        sys.modules["tensorflow"].test.experimental.sync_devices()
