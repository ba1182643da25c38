"""The tables of docs/counters-cupti.md, out of what cupti_chips prints."""

import collections
import re

BEGIN, END = "<!-- made from CUPTI's host interface: begin -->\n", "<!-- end -->\n"
FEATURES = ("sm_active", "sm_occupancy", "tensor_active", "fp64_active", "fp32_active", "fp16_active",
            "integer_active", "dram_active", "l2_active", "pcie_tx_bytes_per_s", "pcie_rx_bytes_per_s",
            "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "instructions_per_cycle",
            "instructions_per_second", "l2_hit_fraction", "l2_misses_per_instruction", "special_active",
            "interpolate_active")
BOARDS = {"GV100": "V100", "TU102": "RTX 2080 Ti", "TU104": "T4", "GA100": "A100, A30", "GA102": "RTX 3090, A40",
          "GA10B": "Orin", "GH100": "H100, H200", "AD102": "RTX 4090, L40S", "AD104": "L4", "GB100": "B200",
          "GB202": "RTX 5090", "GR100": "Rubin"}


class Chips:
    def __init__(self, printed):
        self.features, self.metrics, self.without = {}, collections.defaultdict(list), {}
        for line in printed.splitlines():
            chip, what, *rest = line.split("\t")
            if what == "-":
                self.without[chip] = rest[0]
            elif what == "=":
                self.features[chip] = frozenset(rest)
            else:
                self.metrics[chip] += rest


def named(chips):
    return ", ".join(f"{chip} ({BOARDS[chip]})" if chip in BOARDS else chip for chip in chips)


def groups(of_chip):
    """Chips of the same set, in CUPTI's order."""
    found = collections.defaultdict(list)
    for chip, members in of_chip.items():
        found[frozenset(members)].append(chip)
    return found.items()


def plain(metric):
    """Without the set it is counted in and what is made of it: the counter."""
    return re.sub(r"^[A-Z]+\.\w+\.|\..*$", "", metric)


def tables(newer, older, newer_name, older_name):
    out = [f"With {newer_name}, without a GPU:\n", "| chips | counts | lacks |", "|---|---|---|"]
    for features, chips in groups(newer.features):
        lacks = [f for f in FEATURES if f not in features]
        out.append(f"| {named(chips)} | {len(features)} features | {', '.join(lacks) or 'nothing'} |")
    if older.without:
        out.append(f"| {named(older.without)}: known to {older_name} | nothing: no PM sampling | all |")
    unknown = [chip for chip in newer.features if chip not in older.features]
    other = [f"{named(unknown)} {'are' if len(unknown) > 1 else 'is'} not known"] if unknown else []
    for lost, chips in groups({chip: newer.features[chip] - older.features[chip]
                               for chip in newer.features if chip not in unknown}):
        if lost:
            names = ", ".join(f for f in FEATURES if f in lost)
            other.append(f"{named(chips)} {'lack' if len(chips) > 1 else 'lacks'} {names} besides")
    out += ["", f"With {older_name}: {'; '.join(other) or 'the same'}.", "", "| counters | chips |", "|---|---|"]
    users = collections.defaultdict(list)
    for chip, metrics in newer.metrics.items():
        for counter in dict.fromkeys(plain(metric) for metric in metrics):
            users[counter].append(chip)
    rows = collections.defaultdict(list)
    for counter, chips in users.items():
        rows[tuple(chips)].append(f"`{counter}`")
    for chips, counters in rows.items():
        every = len(chips) == len(newer.features)
        out.append(f"| {', '.join(counters)} | {'all' if every else ', '.join(chips)} |")
    return "\n".join(out) + "\n"


def replaced(page, made):
    before, rest = page.split(BEGIN)
    return before + BEGIN + made + END + rest.split(END)[1]
