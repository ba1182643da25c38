import jobs
from torch_cases import HEAD, TorchCases


@jobs.full_only
class Torch2AsBefore(TorchCases, jobs.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("torch2", "torch")


class Torch2(jobs.JobTest):
    train, assert_indices = TorchCases.train, TorchCases.assert_indices

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("torch2", "torch")

    def test_a_step_that_the_scaler_leaves_out_ends_an_iteration(self):
        result = self.train("""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    taken = 0
    optimizer.register_step_post_hook(lambda *_: globals().__setitem__("taken", taken + 1))
    for number in range(6):
        optimizer.zero_grad()
        loss = loss_of(model(torch.ones(2, 4)), torch.zeros(2, 1))
        scaler.scale(loss * float("inf") if number in (2, 3) else loss).backward()
        scaler.step(optimizer)
        scaler.update()
    print(taken)
""")
        self.assertEqual(result.out, "4\n")
        self.assert_indices(result, 6)

    def test_optimizer_in_backward_makes_one_iteration_per_backward_pass(self):
        result = self.train("""
    parts = {p: torch.optim.SGD([p], lr=0.1) for p in model.parameters()}
    def step(parameter):
        parts[parameter].step()
        parts[parameter].zero_grad()
    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step)
    for _ in range(5):
        loss_of(model(torch.ones(2, 4)), torch.zeros(2, 1)).backward()
""")
        self.assert_indices(result, 5)

    @jobs.full_only
    def test_torch_compile_breaks_no_graph_more_with_hooks(self):
        body = """
    import torch._dynamo as dynamo
    dynamo.config.suppress_errors = False
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    def forward(x, y):
        return loss_of(model(x), y)
    def whole_step(x, y):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss
    def modes(x):
        model.train()
        a = model(x)
        model.eval()
        return a + model(x)
    def loads(x):
        for batch, _ in DataLoader(data, batch_size=12):
            x = x + batch.sum()
        return x
    x, y = torch.ones(2, 4), torch.zeros(2, 1)
    for function, arguments in ((forward, (x, y)), (whole_step, (x, y)), (modes, (x,)), (loads, (x,))):
        dynamo.reset()
        told = dynamo.explain(function)(*arguments)
        print(function.__name__, told.graph_count, told.graph_break_count, told.op_count)
        dynamo.reset()
        dynamo.utils.counters.clear()
        compiled = torch.compile(function, backend="eager")
        for _ in range(4):
            compiled(*arguments)
        counters = dynamo.utils.counters
        print(sorted(counters["stats"].items()), sum(counters["graph_break"].values()))
    whole = torch.compile(model, backend="eager", fullgraph=True)
    for _ in range(3):
        loss_of(whole(x), y).backward()
        optimizer.step()
"""
        with_hooks = self.run_job(HEAD + body, python=self.python)
        without = self.run_job(HEAD + body, python=self.python, hooks=False)
        self.assertEqual((with_hooks.code, without.code), (0, 0), with_hooks.err)
        self.assertIn("whole_step", without.out)
        self.assertEqual(with_hooks.out, without.out)

    @jobs.full_only
    def test_torchrun_gives_each_rank_its_ring(self):
        self.write(
            "train.py",
            HEAD + """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
""",
        )
        program = ["-m", "torch.distributed.run", "--nproc-per-node=2", "--master-port=0", "train.py"]
        result = self.run_job(program, python=self.python)
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(sorted({mark.rank for mark in result.of("iteration end")}), [0, 1])
        self.assertEqual(len(result.of("iteration end")), 8)


del TorchCases
