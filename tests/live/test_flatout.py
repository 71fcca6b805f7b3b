#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""200,000 exits flat out from two loaders: each has exactly one record with its own exit code, and nothing is lost."""
import collections
import os

import lib

EACH = int(os.environ.get("EXEUNT_FLATOUT_COUNT", "200000")) // 2


def flat_out():
    """two loaders at once, default settings, JSON to a file"""
    exeunt = lib.Exeunt()
    logs = [os.path.join(lib.scratch, f"log.{i}") for i in range(2)]
    loaders = [lib.loader("--count", EACH, "--exit-codes", log=log) for log in logs]
    results = [lib.finish(p) for p in loaders]
    lib.say(f"{sum(r['rate'] for r in results):.0f} exits/s")
    exeunt.stop()
    lib.check(exeunt.lost() == 0, f"{exeunt.lost()} lost")
    lib.check(not [r for r in exeunt.lines if r["type"] == "loss"], "there is a loss record")
    exits = exeunt.exits()
    for log, result in zip(logs, results):
        told = [(r["process"]["pid"], r["process"]["exit"].get("code")) for r in exits
                if lib.get(r, "process.parent_pid") == result["pid"]]
        true = [(pid, code) for pid, code, _ in lib.read_log(log)]
        lib.check(len(true) == EACH == len(told), f"loader {result['pid']}: {len(true)} ends, {len(told)} records")
        check_codes(result["pid"], true, told)


def check_codes(parent, true, told):
    """A pid is used again and again within the run, so its ends are compared in their order."""
    by_pid = collections.defaultdict(list)
    for pid, code in told:
        by_pid[pid].append(code)
    of_truth = collections.defaultdict(list)
    for pid, code in true:
        of_truth[pid].append(code)
    wrong = [pid for pid in of_truth.keys() | by_pid.keys() if of_truth[pid] != by_pid[pid]]
    lib.check(not wrong, f"loader {parent}: other codes than the true ones for {len(wrong)} pids, "
                         f"as for {wrong[:3]}: {[(of_truth[p], by_pid[p]) for p in wrong[:3]]}")


lib.main(flat_out)
