# SPDX-License-Identifier: MIT
"""The experiment behind most rows: the loader runs beside each collector in turn, flat out or at a fixed rate."""
import os
import time
from dataclasses import dataclass

import collectors
import measure


@dataclass
class Sample:
    """One collector in one round."""
    exits: int
    rate: float
    cpu_us: float = None  # of the collector, per exit
    captured: int = None
    told_lost: int = None
    idle_kib: int = None
    peak_kib: int = None
    kernel_us: float = None  # of the kernel thread that works for it, per exit

    def lost(self):
        return None if self.captured is None else max(0, self.exits - self.captured)


def beside_nothing(bench, pace):
    exits, seconds = bench.load(pace)
    return Sample(exits, exits / seconds)


def beside(bench, kind, pace):
    """Raises collectors.CannotRun."""
    collector = kind(bench)
    collector.check()
    try:
        collector.start()
        pid = collector.pid()
        idle = measure.memory_kib(pid, "VmRSS")
        thread = collector.kernel_thread and measure.kernel_thread(collector.kernel_thread)
        before, kernel = measure.cpu_ns(pid), measure.cpu_ns(thread) if thread else 0
        exits, seconds = bench.load(pace)
        measure.settle(pid)
        cpu = measure.cpu_ns(pid) - before
        kernel = measure.cpu_ns(thread) - kernel if thread else None
        peak = measure.memory_kib(pid, "VmHWM")
    finally:
        collector.stop()
    sample = Sample(exits, exits / seconds, cpu / 1000 / exits, collector.captured(), collector.told_lost(), idle, peak)
    sample.kernel_us = None if kernel is None else kernel / 1000 / exits
    collector.forget()
    return sample


class Rates:
    """All rounds of one pace. Rounds are interleaved: what disturbs the machine disturbs every collector alike."""

    def __init__(self, bench, pace, kinds=None):
        """`kinds` of collectors; by default the floor, exeunt with taskstats alone, and its peers."""
        self.bench, self.pace = bench, pace
        self.kinds = kinds or [collectors.Floor, collectors.Exeunt] + [
            collectors.PEERS[name] for name in bench.peers if name in collectors.PEERS]
        self.samples, self.refused = {}, {}

    def run(self, rounds):
        kinds = self.kinds
        self.samples = {"nothing": []} | {kind.name: [] for kind in kinds}
        for number in range(1, rounds + 1):
            self.bench.progress(f"{self.title()}, round {number} of {rounds}")
            self.samples["nothing"].append(beside_nothing(self.bench, self.pace))
            # Nobody is always the first, or always after the same one.
            first = number % len(kinds)
            for kind in kinds[first:] + kinds[:first]:
                self.one(kind)

    def one(self, kind):
        if kind.name in self.refused:
            return
        try:
            self.samples[kind.name].append(beside(self.bench, kind, self.pace))
        except collectors.CannotRun as reason:
            self.refused[kind.name] = str(reason)
            del self.samples[kind.name]
        # Its last pages are written back now, not during the next one's turn.
        os.sync()
        time.sleep(0.2)

    def title(self):
        return f"{self.pace} exits/s" if self.pace else "flat out"

    def names(self):
        return [name for name in self.samples if name != "nothing"]

    def median(self, name, value):
        return measure.median([value(s) for s in self.samples.get(name, [])])

    def ratio(self, name, other, value):
        """The median of the ratios within each round."""
        pairs = zip(self.samples.get(name, []), self.samples.get(other, []))
        return measure.median([value(a) / value(b) for a, b in pairs if value(a) is not None and value(b)])
