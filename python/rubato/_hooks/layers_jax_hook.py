"""JAX for `rubato layers trace`: it has functions and no layers. Keras on JAX is traced as Keras."""

from . import _layers


def install(jax):
    trace = _layers.trace
    trace.frameworks.append(f"JAX {jax.__version__}")
    trace.why.append(
        ("JAX programs are functions: there are no layers to see", "describe the network by hand: docs/layers.md")
    )
