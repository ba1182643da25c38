#!/usr/bin/env python3
"""Small trainings for the checks on a real GPU: random data, real networks, and the device's own time of each step.

    bench/real_gpu/trainings.py resnet50|vgg16|transformer [--seconds 60] [--batch N] [--steps FILE] [--pause SECONDS]

Needs PyTorch with CUDA, and torchvision for the first two. FILE gets one row a step: when it ended on the clock that
rubato's records use (CLOCK_MONOTONIC, seconds) and how long the device took since the step before, in milliseconds,
both from CUDA events, which are resolved once at the end: no step waits for the host.
"""

import argparse
import time

import torch
from torch import nn

EVENTS_KEPT = 200000


def convolutional(name, batch):
    import torchvision

    network = getattr(torchvision.models, name)()
    batch = batch or {"resnet50": 128, "vgg16": 64}[name]
    inputs = torch.randn(batch, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    return network.to("cuda", memory_format=torch.channels_last), inputs, labels


class Transformer(nn.Module):
    """A decoder-like stack: 12 layers of width 1024, 16 heads, sequence 512."""

    def __init__(self, width=1024, layers=12, words=32000):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 16, 4 * width, batch_first=True, dropout=0.0, norm_first=True)
        self.stack = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 1000)

    def forward(self, tokens):
        return self.head(self.stack(self.embed(tokens)).mean(dim=1))


def transformer(batch):
    batch = batch or 32
    tokens = torch.randint(0, 32000, (batch, 512), device="cuda")
    labels = torch.randint(0, 1000, (batch,), device="cuda")
    return Transformer().cuda(), tokens, labels


def train(network, inputs, labels, seconds, pause):
    """Trains for `seconds`; the events at which each step was over, and the host time of the first."""
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-4, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(network(inputs), labels)
        loss.backward()
        optimizer.step()

    for _ in range(5):
        step()
    torch.cuda.synchronize()
    events = [torch.cuda.Event(enable_timing=True)]
    events[0].record()
    torch.cuda.synchronize()
    origin = time.monotonic()
    ahead = 4  # steps the host may be ahead: as many as keep the device busy
    while time.monotonic() - origin < seconds and len(events) < EVENTS_KEPT:
        step()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        events.append(event)
        if len(events) > ahead:
            events[-ahead].synchronize()
        if pause:
            torch.cuda.synchronize()
            time.sleep(pause)
    torch.cuda.synchronize()
    return origin, events


def write_steps(path, origin, events):
    with open(path, "w", encoding="utf-8") as file:
        print("end_s,step_ms", file=file)
        for before, event in zip(events, events[1:]):
            end = origin + events[0].elapsed_time(event) * 1e-3
            print(f"{end:.6f},{before.elapsed_time(event):.4f}", file=file)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("network", choices=["resnet50", "vgg16", "transformer"])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--pause", type=float, default=0, help="seconds the host does something else after each step")
    parser.add_argument("--steps", help="write each step's end and length there")
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    made = transformer(options.batch) if options.network == "transformer" else convolutional(options.network, options.batch)
    origin, events = train(*made, options.seconds, options.pause)
    if options.steps:
        write_steps(options.steps, origin, events)
    total = events[0].elapsed_time(events[-1]) * 1e-3
    print(f"{options.network}: {len(events) - 1} steps in {total:.1f} s, {1e3 * total / (len(events) - 1):.2f} ms a step")


if __name__ == "__main__":
    main()
