"""What the PyTorch hook must do, whatever the version; test_torch1 and test_torch2 say which."""

import rings

HEAD = """
    import torch, torch.nn as nn
    from torch.utils.data import DataLoader, TensorDataset
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    data = TensorDataset(torch.randn(24, 4), torch.randn(24, 1))
    loss_of = nn.MSELoss()
"""


class TorchCases:
    """Mixed into a JobTest with `python`."""

    def train(self, body, **more):
        result = self.run_job(HEAD + body, python=self.python, **more)
        self.assertEqual((result.code, result.err), (0, ""))
        return result

    def assert_indices(self, result, count):
        self.assertEqual([index for index, _, _ in result.iterations()], list(range(count)))

    def test_an_iteration_is_an_optimizer_step_and_an_epoch_a_pass_over_the_data(self):
        result = self.train("""
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        for x, y in DataLoader(data, batch_size=4, shuffle=True):
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
""")
        self.assert_indices(result, 18)
        ends = [end for _, _, end in result.iterations()]
        begins = [begin for _, begin, _ in result.iterations()]
        inside = [number for number in range(1, 18) if number % 6]
        self.assertEqual(
            [begins[n] for n in inside], [ends[n - 1] for n in inside]
        )  # nothing between is lost
        epochs = rings.pairs(result.marks, "epoch")
        self.assertEqual([index for index, _, _ in epochs], [0, 1, 2])
        within = [[b for b, e in zip(begins, ends) if b >= begin and e <= end] for _, begin, end in epochs]
        self.assertEqual([len(some) for some in within], [6, 6, 6])
        self.assertRegex(result.of("hook")[0].name, r"^torch \d")

    def test_a_pass_left_early_is_none_and_the_next_one_begins_anew_with_persistent_workers_too(self):
        result = self.train("""
    import time
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(data, batch_size=4, num_workers=1, persistent_workers=True)
    for epoch in range(3):
        for number, (x, y) in enumerate(loader):
            loss_of(model(x), y).backward()
            optimizer.step()
            if epoch == 1 and number == 1:
                break
        print(time.monotonic_ns())
""")
        self.assert_indices(result, 6 + 2 + 6)
        left = int(result.out.split()[1])
        epochs = rings.pairs(result.marks, "epoch")
        self.assertEqual([index for index, _, _ in epochs], [0, 1])
        self.assertGreater(epochs[1][1], left)

    def told(self, result):
        """What the marks tell of the model, in turn: name, parameters, batch, number of the type."""
        return [(mark.name if mark.id else "", *mark.detail[:3]) for mark in result.of("model")]

    def test_it_tells_what_is_trained_once(self):
        result = self.train("""
    model[0].weight.requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    other = torch.optim.SGD(model[2].parameters(), lr=0.1)
    for epoch in range(2):
        for x, y in DataLoader(data, batch_size=5):
            loss_of(model(x), y).backward()
            optimizer.step()
            other.step()
        for x, y in DataLoader(data, batch_size=8):  # an evaluation
            model(x)
""")
        # The last batch of an epoch has four samples, a frozen weight is not trained, and none counts twice.
        self.assertEqual(self.told(result), [("", 8 + 8 + 1, 5, 0)])

    def test_what_changes_is_told_again_and_what_is_not_known_is_not_told(self):
        result = self.train("""
    model = model.to(torch.bfloat16)
    optimizer = torch.optim.SGD(model[0].parameters(), lr=0.1)
    for number in range(4):
        loss_of(model(torch.ones(2, 4, dtype=torch.bfloat16)), torch.zeros(2, 1, dtype=torch.bfloat16)).backward()
        if number == 2:
            optimizer.add_param_group({"params": list(model[2].parameters())})
        optimizer.step()
""")
        self.assertEqual(self.told(result), [("", 40, 0, 4), ("", 49, 0, 4)])

    def test_a_batch_without_a_loader_that_knows_it_is_the_first_dimension(self):
        result = self.train("""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    made = [{"x": torch.ones(6, 4), "y": torch.zeros(6, 1)}] * 3
    for one in DataLoader(made, batch_size=None):
        loss_of(model(one["x"]), one["y"]).backward()
        optimizer.step()
""")
        self.assertEqual(self.told(result), [("", 49, 6, 0)])

    def test_gradient_accumulation_counts_steps_not_batches(self):
        result = self.train("""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number, (x, y) in enumerate(DataLoader(data, batch_size=2)):
        loss_of(model(x), y).backward()
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
""")
        self.assert_indices(result, 3)

    def test_a_gan_iteration_is_a_step_of_the_generator(self):
        result = self.train("""
    critic = nn.Linear(1, 1)
    slow = torch.optim.SGD(model.parameters(), lr=0.1)
    fast = torch.optim.SGD(critic.parameters(), lr=0.1)
    x = torch.ones(2, 4)
    for _ in range(6):
        for _ in range(5):
            critic(model(x).detach()).sum().backward()
            fast.step()
        critic(model(x)).sum().backward()
        slow.step()
""")
        self.assert_indices(result, 6)

    def test_an_optimizer_per_parameter_makes_one_iteration_per_round(self):
        result = self.train("""
    parts = [torch.optim.SGD([parameter], lr=0.1) for parameter in model.parameters()]
    for _ in range(5):
        loss_of(model(torch.ones(2, 4)), torch.zeros(2, 1)).backward()
        for part in parts:
            part.step()
            part.zero_grad()
""")
        self.assert_indices(result, 5)

    def test_a_step_that_calls_that_of_its_base_class_is_one(self):
        result = self.train("""
    class Own(torch.optim.SGD):
        def step(self, closure=None): return super().step(closure)
    torch.optim.SGD(model.parameters(), lr=0.1)  # torch wraps the step of a class when one is made
    optimizer = Own(model.parameters(), lr=0.1)
    for _ in range(5):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()
""")
        self.assert_indices(result, 5)

    def test_evaluation_and_checkpoints_are_phases_between_iterations(self):
        result = self.train("""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    teacher = nn.Linear(4, 1).eval()
    import time
    for epoch in range(2):
        model.train()
        for x, y in DataLoader(data, batch_size=12):
            loss_of(model(x), y + teacher(x).detach()).backward()
            optimizer.step()
        model.eval()
        for x, y in DataLoader(data, batch_size=12):
            model(x)
        time.sleep(0.02)
        model.train()
        torch.save({"model": model.state_dict(), "more": torch.zeros(200000)}, "model.pt")
""")
        self.assert_indices(result, 4)
        evaluations = result.phases("evaluation")
        self.assertEqual(len(evaluations), 2)
        self.assertEqual(len(result.phases("checkpoint")), 2)
        _, begin, end = evaluations[0]
        self.assertGreaterEqual(end - begin, 20e6)
        self.assertFalse([i for i, b, e in result.iterations() if b < end and e > begin])
        self.assertEqual(len(result.of("epoch end")), 2)

    def test_an_evaluation_at_the_end_ends_before_the_program_shuts_down(self):
        result = self.train("""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in DataLoader(data, batch_size=12):
        loss_of(model(x), y).backward()
        optimizer.step()
    model.eval()
""")
        self.assertEqual(len(result.phases("evaluation")), 1)

    def test_waiting_for_data_is_a_phase_where_it_is_long(self):
        result = self.train("""
    import time
    class Slow(torch.utils.data.Dataset):
        def __len__(self): return 6
        def __getitem__(self, i):
            time.sleep(0.02 * (i % 2))
            return torch.ones(4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(Slow(), batch_size=1):
        model(x).sum().backward()
        optimizer.step()
""")
        waits = [end - begin for _, begin, end in result.phases("data")]
        self.assertGreaterEqual(len([wait for wait in waits if wait >= 20e6]), 3)
        self.assertGreaterEqual(min(waits), 200_000)  # shorter ones are not marked

    def test_what_is_wrapped_keeps_its_name_signature_and_pickling(self):
        body = """
    import copy, inspect, pickle
    optimizer = torch.optim.Adam(model.parameters(), lr=0.5)
    model(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step(); scheduler.step()
    again = pickle.loads(pickle.dumps(optimizer))
    again = copy.deepcopy(again)
    again.step()
    pickle.loads(pickle.dumps(model)).eval()
    print(nn.Module.train.__name__, inspect.signature(nn.Module.train).parameters.keys())
    print(torch.optim.SGD.step.__name__, inspect.signature(torch.optim.SGD.step), nn.Module.train.__doc__)
    print(torch.optim.Optimizer.__init__.__qualname__, inspect.signature(torch.optim.Optimizer))
"""
        self.assertEqual(self.train(body).out, self.train(body, hooks=False).out)

    def test_the_numbers_of_a_training_are_the_same_with_hooks_and_without(self):
        body = """
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in DataLoader(data, batch_size=4, shuffle=True, num_workers=1):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        print(loss.item().hex())
"""
        self.assertEqual(self.train(body).out, self.train(body, hooks=False).out)

    def test_a_forked_worker_marks_into_a_ring_of_its_own(self):
        result = self.train("""
    import multiprocessing
    def work(_):
        optimizer = torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.1)
        for _ in range(3):
            optimizer.step()
    work(0)
    child = multiprocessing.get_context("fork").Process(target=work, args=(0,))
    child.start(); child.join(); assert child.exitcode == 0
""")
        self.assertEqual(len({mark.pid for mark in result.of("iteration end")}), 2)
