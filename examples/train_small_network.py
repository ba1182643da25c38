#!/usr/bin/env python3
"""A small network on made-up digits, on the CPU: a real training program that knows nothing of rubato.

    rubato measure -- python3 examples/train_small_network.py

Needs PyTorch (Debian: python3-torch).
"""

import torch

torch.manual_seed(1)
torch.set_num_threads(1)

# Ten classes, each a fixed random picture under noise: learnable, and nothing to download.
prototypes = torch.randn(10, 1, 16, 16)
labels = torch.randint(0, 10, (2048,))
pictures = prototypes[labels] + 0.8 * torch.randn(2048, 1, 16, 16)

model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
    torch.nn.Flatten(), torch.nn.Linear(32 * 4 * 4, 10),
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_of = torch.nn.CrossEntropyLoss()

for epoch in range(5):
    order = torch.randperm(len(labels))
    right = 0
    for batch in order.split(64):
        optimizer.zero_grad()
        scores = model(pictures[batch])
        loss = loss_of(scores, labels[batch])
        loss.backward()
        optimizer.step()
        right += (scores.argmax(1) == labels[batch]).sum().item()
    print(f"epoch {epoch + 1}: loss {loss.item():.4f}, accuracy {right / len(labels):.3f}", flush=True)
