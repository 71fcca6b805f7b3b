#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process of four threads cost: exeunt's sums against the process's own getrusage at its very end."""
import lib

PAGE = 4096
KIB = 1024


def near(truth, record, path, want, below, above):
    """The record's value lies in [want - below, want + above]."""
    value = lib.get(record, path)
    lib.check(value is not None and want - below <= value <= want + above,
              f"{lib.title(truth)}: {path} is {value}, expected {want} (-{below}, +{above})")


def compare(truth, record):
    own, did, threads = truth["self"], truth["did"], truth["threads"]
    tick = lib.TICK_US * threads
    run = (lib.get(record, "usage.cpu.run_ns") or 0) // 1000
    lib.check(abs(run - own["utime_us"] - own["stime_us"]) <= tick,
              f"{lib.title(truth)}: run_ns is {run} us, its own view {own['utime_us'] + own['stime_us']}, "
              f"allowed {tick}")
    near(truth, record, "usage.faults.minor", own["minflt"], 0, 4 * threads)
    near(truth, record, "usage.faults.major", own["majflt"], 0, threads)
    # A thread's very last switch comes after its record; the process itself still saw that of a leader gone before.
    near(truth, record, "usage.switches.voluntary", own["nvcsw"], threads, 4 * threads)
    near(truth, record, "usage.switches.involuntary", own["nivcsw"], 0, 8 * threads)
    # The kernel rounds each task's numbers down to 1,024.
    near(truth, record, "usage.io.read_chars", own["rchar"], KIB * threads, KIB * threads)
    near(truth, record, "usage.io.write_chars", own["wchar"], KIB * threads, KIB * threads)
    near(truth, record, "usage.io.read_chars", did["read_bytes"], KIB * threads, 16 * KIB)
    near(truth, record, "usage.io.write_chars", did["write_bytes"], KIB * threads, 0)
    near(truth, record, "usage.io.read_syscalls", own["syscr"], KIB * threads, 0)
    near(truth, record, "usage.io.write_syscalls", own["syscw"], KIB * threads, 0)
    near(truth, record, "usage.io.read_bytes", own["read_bytes"], KIB * threads, 64 * KIB)
    near(truth, record, "usage.io.write_bytes", own["write_bytes"], KIB * threads, 0)
    near(truth, record, "usage.memory.rss_peak_bytes", own["vm_hwm_kib"] * KIB, 64 * PAGE, 64 * PAGE)
    near(truth, record, "usage.memory.vm_peak_bytes", own["vm_peak_kib"] * KIB, 0, PAGE)
    lib.same(truth, record, "process.threads", threads)


def check_ticks(pairs):
    """User and system time count ticks that happened to hit: on a busy machine one process may get half or twice
    its due. All together they must come near what the processes say, which are scaled by their true run time."""
    own = sum(t["self"]["utime_us"] + t["self"]["stime_us"] for t, _ in pairs)
    told = sum(lib.get(r, f"usage.cpu.{kind}_us") or 0 for _, r in pairs for kind in ("user", "system"))
    lib.say(f"user + system: {told} us told, {own} us by their own view")
    lib.check(0.5 * own <= told <= 2 * own, f"user + system of all: {told} us told, {own} us by their own view")
    for truth, record in pairs:
        for kind in ("user", "system"):
            lib.check(lib.get(record, f"usage.cpu.{kind}_us") is not None, f"{lib.title(truth)}: no {kind} time")


def four_threads():
    """four threads, the leader last and the leader first"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit("usage", "usage-leader-first", "--threads", 4, "--count", 5)
    exeunt.stop()
    pairs = lib.match(exeunt.exits(), truths)
    lib.check(len(pairs) == 10, f"{len(pairs)} compared")
    check_ticks(pairs)
    for truth, record in pairs:
        compare(truth, record)
        lib.check_times(truth, record)


def heavy():
    """forty threads, more work"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit("usage", "--threads", 40, "--cpu-ms", 800, "--read-kib", 40960, "--fault-pages", 20000,
                           "--sleeps", 2000)
    exeunt.stop()
    for truth, record in lib.match(exeunt.exits(), truths):
        compare(truth, record)


lib.main(four_threads, heavy)
