import jobs
from keras_cases import full

PROGRAM = """
    import jax, jax.numpy as jnp
    step = jax.jit(lambda x: x * 0.9)
    x = jnp.ones(8)
    for number in range(7, 10):
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            with jax.profiler.TraceAnnotation("part"):
                x = step(x)
    try:
        with jax.profiler.StepTraceAnnotation("train", step_num=10):
            raise KeyError("stop")
    except KeyError:
        print(float(x[0]))
"""


@full
class Jax(jobs.JobTest):
    def test_step_annotations_are_iterations_with_their_numbers(self):
        python = jobs.venv("keras3-jax", "jax")
        result = self.run_job(PROGRAM, python=python)
        plain = self.run_job(PROGRAM, python=python, hooks=False)
        self.assertEqual((result.code, result.out), (0, plain.out), result.err)
        self.assertEqual([index for index, _, _ in result.iterations()], [7, 8, 9, 10])
        self.assertRegex(result.of("hook")[0].name, r"^jax \d")
