#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pids that are used again within a tenth of a second, or sooner: no record is joined to the wrong process."""
import os
import signal
import time

import lib
from accounting import require_off
from joined import Load, accounting_off, check_balance, outstanding, setting

COUNT = int(os.environ.get("EXEUNT_REUSE_COUNT", "100000"))
PID_MAX = 1000


def accounting_is_off():
    """nobody accounts, so that it may be switched here"""
    require_off()


def least():
    """The kernel takes nothing below 301, and no pid in use is above what we set only if it stays unused."""
    return max(PID_MAX, 400)

RATE = 4000


def run(name, *options, pace=("--rate", RATE), stop=False):
    with accounting_off(), setting("/proc/sys/kernel/pid_max", least()):
        exeunt = lib.Exeunt("--pacct", "own", *options, source="taskstats,procevents,pacct")
        # each pid comes again ten times a second, and has several owners in the time that closed processes are remembered
        loads = [Load(COUNT // 2, base, *pace) for base in (701000000, 702000000)]
        if stop:
            time.sleep(0.3)
            exeunt.process.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            exeunt.process.send_signal(signal.SIGCONT)
        for load in loads:
            load.finish()
        exeunt.stop()
    pids = {pid for load in loads for pid, _, _ in load.truth}
    counted, untold = {}, 0
    for load in loads:
        m = load.of(exeunt.exits())
        untold += load.count - len(m)
        load.check_right(m)
        for r in m.values():
            key = "+".join(r["sources"]) + (" backfilled" if r.get("backfilled") else "")
            counted[key] = counted.get(key, 0) + 1
    lib.say(f"{name}: {COUNT} ends on {len(pids)} pids, {sum(x.result['rate'] for x in loads):.0f} a second; {counted}; "
            f"{exeunt.lines[-1]['balance']}")
    lost = 0 if pace else outstanding(exeunt.lines)
    lib.check(untold <= lost, f"{name}: {untold} are not told, and {lost} are said to be lost")
    lib.check(len(pids) <= PID_MAX, f"{len(pids)} pids")
    check_balance(exeunt)
    return exeunt, counted


def reuse():
    """100,000 exits on fewer than 1,000 pids, three sources"""
    _, counted = run("reuse")
    both = sum(n for key, n in counted.items() if "taskstats" in key and "pacct" in key)
    # what accounting tells later than a record is held for it amends that record
    lib.check(both > COUNT / 2, f"accounting was joined to {both} of {COUNT}")


def reuse_starved():
    """the same with a small buffer and a pause"""
    run("starved", "--rcvbuf", 65536, stop=True)


def reuse_flat_out():
    """the same as fast as it goes, each pid a hundred times a second: what cannot be told is counted"""
    run("flat out", pace=())


lib.main(accounting_is_off, reuse, reuse_starved, reuse_flat_out)
