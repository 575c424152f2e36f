"""Runs benchmarks of two programs in turns and prints the ratio of their figures; see compare-with.sh."""

import json
import os
import random
import statistics
import subprocess
import sys

# Each takes some seconds for one turn; figures of one turn, of which the rounds here are many.
BENCHES = {
    "commit": "commit --clients 1,64 --time 2s",
    "processes": "processes --processes 32 --time 2s",
    "bookings": "bookings --rows 2000000 --outstanding 2048 --time 3s",
    "scan": "scan --rows 2000000",
    "update": "update",
    "load": "load --rows 500000",
    "tpch": "tpch --sf 0.3",
    "clickbench": "clickbench --rows 200000",
    "streams": "streams --streams 16 --sf 0.1",
    "wire": "wire --scale 2 --time 2s",
}

# Units of which less is better.
LESS = {"ms", "us", "s", "ns", "bytes"}


def figures(program, words):
    output = subprocess.run([program, "bench", *words, "--json"], capture_output=True, text=True)
    if output.returncode != 0:
        sys.exit(f"{program} bench {' '.join(words)}: {output.stderr.strip()}")
    found = {}
    for line in output.stdout.splitlines():
        figure = json.loads(line)
        found[figure["case"], figure["metric"]] = (figure["value"], figure["unit"])
    return found


def main():
    old, new, rounds = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), int(sys.argv[3])
    names = sys.argv[4:] or list(BENCHES)
    print(f"{'bench':11} {'case':34} {'metric':24} {'old':>12} {'new':>12} {'ratio':>6}  spread")
    for name in names:
        words = BENCHES[name].split()
        taken = {old: [], new: []}
        for _ in range(rounds):
            for program in random.sample([old, new], 2):
                taken[program].append(figures(program, words))
        for key in taken[new][0]:
            pairs = [(a[key][0], b[key][0]) for a, b in zip(taken[old], taken[new]) if key in a and key in b]
            if not pairs or any(not value for pair in pairs for value in pair):
                continue
            is_less = taken[new][0][key][1] in LESS
            ratios = sorted(a / b if is_less else b / a for a, b in pairs)
            median = statistics.median
            before, after = median(a for a, _ in pairs), median(b for _, b in pairs)
            case, metric = key
            print(
                f"{name:11} {case[:34]:34} {metric[:24]:24} {before:12.5g} {after:12.5g} {median(ratios):6.2f}"
                f"  {ratios[0]:.2f}-{ratios[-1]:.2f}",
                flush=True,
            )


main()
