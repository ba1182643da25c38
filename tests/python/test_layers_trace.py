"""The layers of real models through the hooks: what `rubato layers trace` asks for by RUBATO_LAYERS."""

import json
import math

import jobs

NETWORKS = jobs.SOURCE / "workloads" / "networks"
HEAD = """
    import torch, torch.nn as nn, torch.nn.functional as F
    torch.set_num_threads(1)
    def train(model, inputs, targets, loss_of=F.cross_entropy, steps=4, optimizer=torch.optim.SGD, **more):
        optimizer = optimizer(model.parameters(), lr=0.1, **more)
        for number in range(steps):
            optimizer.zero_grad()
            loss_of(model(inputs(number)), targets(number)).backward()
            optimizer.step()
    def classes(count):
        return lambda number: torch.zeros(count, dtype=torch.long)
"""
RESNET50 = """
    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
            self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
            self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
            self.relu = nn.ReLU(inplace=True)
            self.downsample = None
            if inputs != 4 * width:
                short = nn.Conv2d(inputs, 4 * width, 1, stride, bias=False)
                self.downsample = nn.Sequential(short, nn.BatchNorm2d(4 * width))
        def forward(self, x):
            y = self.relu(self.bn1(self.conv1(x)))
            y = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(y)))))
            y += x if self.downsample is None else self.downsample(x)
            return self.relu(y)
    class ResNet50(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
            self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
            inputs = 64
            for stage, (width, count) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
                blocks = []
                for block in range(count):
                    blocks.append(Bottleneck(inputs, width, 2 if stage and not block else 1))
                    inputs = 4 * width
                setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
            self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(2048, 1000)
        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(torch.flatten(self.avgpool(x), 1))
"""


def macs_of(layer):
    """From the shapes alone."""
    (first, *_), output = layer["input_shapes"][0], layer["output_shape"]
    if layer["kind"] == "conv":
        return math.prod(output) * first // layer.get("groups", 1) * math.prod(layer["kernel"])
    if layer["kind"] == "linear":
        return math.prod(output) * layer["input_shapes"][0][-1]
    return 0


def described(name):
    """The convolutions and matrices of workloads/networks, in their order."""
    layers = json.loads((NETWORKS / f"{name}.json").read_text())["layers"]
    return [layer for layer in layers if layer["kind"] in ("conv", "linear")]


class TraceTest(jobs.JobTest):
    head = HEAD

    def trace(self, body, code=0, head=None, **more):
        """The document of one process that ran `body` under the trace."""
        folder = self.folder / f"layers{self.runs}"
        folder.mkdir()
        program = (self.head if head is None else head) + body
        self.result = self.run_job(program, python=self.python, RUBATO_LAYERS=folder, **more)
        self.assertEqual(self.result.code, code, self.result.err)
        self.assertEqual(self.result.log, "")
        (path,) = folder.glob("layers-*.json")
        return json.loads(path.read_text())

    def network(self, body, **more):
        document = self.trace(body, **more)
        self.assertIn("network", document, document.get("why"))
        return document["network"]

    def kinds(self, network):
        return [(layer["name"], layer["kind"]) for layer in network["layers"]]


class TorchTrace:
    """Mixed into a TraceTest with `python`: whatever the version."""

    def test_residual_sums_and_functions_between_modules_are_layers_too(self):
        network = self.network("""
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.act = nn.Linear(4, 4), nn.ReLU()
        def forward(self, x):
            y = self.act(self.a(x))
            return torch.tanh(self.act(y + x))
    train(Net(), lambda _: torch.ones(2, 4), classes(2), momentum=0.9)
""")
        expected = [("a", "linear"), ("act", "relu"), ("add", "add"), ("act#2", "relu"), ("tanh", "tanh")]
        self.assertEqual(self.kinds(network), expected)
        self.assertEqual(network["layers"][2]["input_shapes"], [[4], [4]])
        self.assertEqual((network["name"], network["batch"], network["input"]), ("Net", 2, [4]))
        self.assertEqual((network["precision"], network["optimizer"]), ("fp32", "momentum"))
        self.assertRegex(network["source"], r"^traced: PyTorch \d")
        self.assertEqual(network["notes"], [])

    def test_a_smaller_last_batch_is_not_dynamic_and_samples_of_other_sizes_are(self):
        body = """
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    size = lambda number: ({})
    train(model, lambda number: torch.ones(size(number)), lambda number: classes(size(number)[0])(0), steps=3)
"""
        smaller = self.network(body.format("4 - number, 3, 6, 6"))
        self.assertFalse([layer for layer in smaller["layers"] if "dynamic" in layer])
        self.assertEqual(smaller["batch"], 4)
        other = self.network(body.format("4, 3, 6 + number, 6"))
        dynamic = {layer["name"]: layer["dynamic"] for layer in other["layers"] if "dynamic" in layer}
        self.assertEqual(dynamic["0"], [[8, 4, 4], [8, 5, 4], [8, 6, 4]])

    def test_accumulated_gradients_are_one_pass_and_a_model_called_on_its_own_result_is_not(self):
        network = self.network("""
    model, loss_of = nn.Sequential(nn.Linear(4, 4)), nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters())
    for number in range(12):
        loss_of(model(torch.ones(2, 4)), classes(2)(0)).backward()
        if number % 4 == 3:
            optimizer.step()
""")
        self.assertEqual([name for name, _ in self.kinds(network)], ["0", "CrossEntropyLoss"])
        self.assertIn("accumulated gradients", network["notes"][0])
        self.assertEqual(network["optimizer"], "adam")
        network = self.network("""
    cell = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    for _ in range(3):
        cell(cell(torch.ones(2, 4))).sum().backward()
        optimizer.step()
""")
        self.assertEqual([layer.get("shares") for layer in network["layers"]], [None, network["layers"][0]["name"]])

    def test_what_has_no_layers_is_named_with_what_to_do(self):
        raw = self.trace("""
    weight = torch.zeros(4, 4, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(4):
        (torch.ones(2, 4) @ weight).sum().backward()
        optimizer.step()
""")
        self.assertIn("no model was called", raw["why"])
        self.assertIn("docs/layers.md", raw["hint"])
        evaluated = self.trace("""
    with torch.no_grad():
        nn.Sequential(nn.Linear(4, 4))(torch.ones(2, 4))
""")
        self.assertEqual(evaluated["why"], "Sequential ran without gradients only")

    def test_an_error_in_the_model_is_the_job_s_own(self):
        document = self.trace("nn.Linear(4, 4)(torch.ones(2, 3))", code=1, head=HEAD + "    ")
        self.assertIn("shapes cannot be multiplied", self.result.err)
        self.assertNotIn("network", document)

    def test_nothing_of_the_trace_is_there_when_nobody_asked(self):
        result = self.run_job(
            """
    import sys, torch
    print([name for name in sys.modules if "_layers" in name or name.endswith("_torch_ops")])
    print(getattr(torch.nn.Module.__call__, "_rubato", False))
""",
            python=self.python,
        )
        self.assertEqual(result.out, "[]\nFalse\n", result.err)


class Torch1(TorchTrace, TraceTest):
    """Debian 12's 1.13."""

    @classmethod
    def setUpClass(cls):
        cls.python = jobs.python_with("/usr/bin/python3", "torch")


class Torch2(TorchTrace, TraceTest):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("torch2", "torch")

    def test_resnet50_has_the_layers_and_products_of_its_description(self):
        network = self.network(RESNET50 + """
    with torch.device("meta"):  # shapes alone: nothing is computed
        train(ResNet50(), lambda _: torch.ones(2, 3, 224, 224), classes(2))
""")
        dense = [layer for layer in network["layers"] if layer["kind"] in ("conv", "linear")]
        self.assertEqual(sum(map(macs_of, dense)), 4_089_184_256)
        self.assertEqual(sum(layer.get("parameters", 0) for layer in network["layers"]), 25_557_032)
        ours = [(layer["name"], layer.get("channels", layer.get("features"))) for layer in dense]
        theirs = [(layer["name"], layer.get("channels", layer.get("features"))) for layer in described("resnet50")]
        self.assertEqual(ours, theirs)
        self.assertEqual(sum(layer["kind"] == "add" for layer in network["layers"]), 16)

    def test_a_transformer_block_shares_its_embedding_and_its_attention_is_counted(self):
        network = self.network("""
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.norm = nn.Embedding(50, 16), nn.LayerNorm(16)
            self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 50, bias=False)
            self.out.weight = self.words.weight
        def forward(self, tokens):
            x = self.words(tokens)
            q, k, v = (t.view(4, 5, 2, 8).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(4, 5, 16)
            return self.out(x + y).flatten(0, 1)
    train(Block(), lambda _: torch.zeros(4, 5, dtype=torch.long), classes(20))
""")
        layers = {layer["name"]: layer for layer in network["layers"]}
        self.assertEqual(layers["qkv"]["input_shapes"], [[5, 16]])
        # 2 heads, 5 rows that meet 5 keys of 8 and 5 values of 8; a multiply-add is two operations.
        self.assertEqual(layers["attention"]["operations"], 2 * 2 * 5 * 5 * (8 + 8))
        self.assertEqual(layers["out"]["shares"], "words")
        self.assertEqual(layers["words"]["rows"], 50)

    def test_autocast_and_compiled_models_are_seen_as_they_compute(self):
        network = self.network("""
    model = torch.compile(nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.ReLU(), nn.Linear(16, 3)))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        train(model, lambda _: torch.ones(4, 8), classes(4))
""")
        self.assertEqual([kind for _, kind in self.kinds(network)], ["linear", "layernorm", "relu", "linear"])
        self.assertEqual(network["precision"], "bf16")
        self.assertEqual([layer.get("parameters", 0) for layer in network["layers"]], [144, 32, 0, 51])
        self.assertFalse([layer for layer in network["layers"] if "dynamic" in layer])

    def test_several_models_are_named_and_one_without_gradients_is_left_out(self):
        network = self.network("""
    class Maker(nn.Sequential): pass
    class Critic(nn.Sequential): pass
    maker, critic = Maker(nn.Linear(2, 4)), Critic(nn.Linear(4, 1))
    first = torch.optim.Adam(maker.parameters())
    second = torch.optim.Adam(critic.parameters())
    for _ in range(4):
        with torch.no_grad():
            made = nn.Sequential(nn.Linear(2, 4))(torch.ones(3, 2))
        critic(made).mean().backward()
        second.step()
        critic(maker(torch.ones(3, 2))).mean().backward()
        first.step()
""")
        self.assertEqual([name for name, _ in self.kinds(network)], ["Critic.0", "Maker.0", "Critic.0#2"])
        self.assertEqual(network["name"], "Critic+Maker")
        self.assertIn("several models", " ".join(network["notes"]))
        self.assertIn("Sequential ran without gradients: left out", network["notes"])

    @jobs.full_only
    def test_iterations_before_after_are_not_looked_at(self):
        body = """
    sizes = [9, 9, 4, 4, 4, 4]
    model = nn.Sequential(nn.Conv1d(2, 2, 3), nn.AdaptiveAvgPool1d(1), nn.Flatten())
    train(model, lambda number: torch.ones(4, 2, sizes[number]), classes(4), steps=6)
"""
        network = self.network(body, RUBATO_LAYERS_AFTER=2)
        self.assertFalse([layer for layer in network["layers"] if "dynamic" in layer])
        self.assertEqual(network["input"], [2, 4])
        late = self.trace(body, RUBATO_LAYERS_AFTER=50)
        self.assertIn("--after 50", late["hint"])


del TorchTrace
