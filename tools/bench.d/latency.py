# SPDX-License-Identifier: MIT
"""From _exit(2) to the JSON line in the reader of a pipe; the floor beside it, to the moment it has the message."""
import os
import signal
import struct
import subprocess
import time

import collectors
import measure

ENTRY = struct.Struct("=IIq")  # pid, something, ns


def entries(path):
    with open(path, "rb") as f:
        data = f.read()
    return list(ENTRY.iter_unpack(data[:len(data) - len(data) % ENTRY.size]))


def delays_ms(exits, seen):
    """A pid that came twice is matched in order."""
    arrivals = {}
    for pid, _, when in seen:
        arrivals.setdefault(pid, []).append(when)
    found = []
    for pid, _, when in exits:
        later = [t for t in arrivals.get(pid, ()) if t >= when]
        if later:
            found.append((later[0] - when) / 1e6)
    return found


def through_exeunt(bench, pace, log, seen):
    reader = subprocess.Popen([bench.helper("linetime"), seen], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    writer = subprocess.Popen([bench.exeunt, "live", "--json", "--source", "taskstats"], stdin=subprocess.DEVNULL,
                              stdout=reader.stdin, stderr=subprocess.DEVNULL)
    reader.stdin.close()
    measured(bench, pace, log, writer)
    reader.wait()


def through_floor(bench, pace, log, seen):
    floor = subprocess.Popen([bench.helper("floor"), "--latency", seen], stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    measured(bench, pace, log, floor)


def measured(bench, pace, log, process):
    time.sleep(1)
    if process.poll() is not None:
        raise collectors.CannotRun(f"{process.args[0]} ended with status {process.returncode}")
    bench.loader.timed(pace, bench.seconds, log)
    measure.settle(process.pid)
    process.send_signal(signal.SIGINT)
    process.wait()


def latency(bench, pace, p50, p99):
    log, seen = (os.path.join(bench.scratch, name) for name in ("latency.exits", "latency.seen"))
    found = {}
    for number in range(bench.rounds):
        bench.progress(f"latency at {pace} exits/s, round {number + 1} of {bench.rounds}")
        for name, through in (("floor", through_floor), ("exeunt", through_exeunt)):
            through(bench, pace, log, seen)
            delays = delays_ms(entries(log), entries(seen))
            if delays:
                found.setdefault(name, []).append([measure.percentile(delays, p) for p in (50, 99)] + [len(delays)])
    for name, rounds in found.items():
        values = [measure.median(column) for column in zip(*rounds)]
        bench.table.figures([(f"{name}, {pace} exits/s", f"p50 {values[0]:.2f} ms, p99 {values[1]:.2f} ms")])
    for text, limit, column in (("p50", p50, 0), ("p99", p99, 1)):
        if limit:
            mid = measure.median([r[column] for r in found.get("exeunt", [])])
            bench.table.target(f"exeunt, {pace}/s, {text}, ms", mid, limit)
