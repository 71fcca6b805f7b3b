#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""taskstats starved on purpose, and accounting beside it: every exit is told, once; what nobody wrote is said to be lost."""
import os
import signal
import time

import lib
from accounting import acct, require_off
from joined import Floor, Load, accounting_off, check_balance, outstanding

EACH = int(os.environ.get("EXEUNT_STARVED_COUNT", "200000")) // 2
OWN = "/run/exeunt/pacct-"
UNSEEN = 500


def accounting_is_off():
    """nobody accounts, so that it may be switched here"""
    require_off()


def pause(exeunt, seconds=1.0):
    exeunt.process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    exeunt.process.send_signal(signal.SIGCONT)


def tell(exeunt, mine):
    sources = {}
    for r in mine:
        key = "+".join(r["sources"]) + (" backfilled" if r.get("backfilled") else "")
        sources[key] = sources.get(key, 0) + 1
    lib.say(f"{len(mine)} records: {sources}; {exeunt.lost()} lost, {outstanding(exeunt.lines)} outstanding; "
            f"{exeunt.lines[-1]['balance']}")


def starved():
    """200,000 exits flat out, a small buffer and pauses: each has one record, and the balance is exact"""
    with accounting_off():
        exeunt = lib.Exeunt("--rcvbuf", 65536, "--pacct", "own", source="taskstats,pacct")
        loads = [Load(EACH, 701000000), Load(EACH, 702000000)]
        time.sleep(0.5)
        pause(exeunt)
        time.sleep(0.5)
        pause(exeunt)
        for load in loads:
            load.finish()
        lib.say(f"{sum(load.result['rate'] for load in loads):.0f} exits/s")
        exeunt.stop()
        mine = [load.of(exeunt.exits()) for load in loads]
        tell(exeunt, [r for m in mine for r in m.values()])
        for load, m in zip(loads, mine):
            lib.check(len(m) == EACH, f"{len(m)} of {EACH} are told")
            load.check_right(m)
        lib.check(exeunt.lost() > 1000, "too little was lost: the test did not do its work")
        check_balance(exeunt)
        # a loss counts tasks: threads of others that ended meanwhile are not processes
        lib.check(outstanding(exeunt.lines) <= 20, "what accounting brought is still said to be lost")


def active():
    """The file of ours that the kernel writes to: the one that grows."""
    return max((OWN + c for c in "ab"), key=lambda p: os.stat(p).st_mtime_ns)


def written_by_nobody():
    """what taskstats lost and the kernel did not account is said to be lost, exactly"""
    with accounting_off():
        exeunt = lib.Exeunt("--rcvbuf", 65536, "--pacct", "own", source="taskstats,pacct")
        before = Load(2000, 701000000)
        before.finish()
        exeunt.process.send_signal(signal.SIGSTOP)
        full = Load(2000, 702000000)
        full.finish()
        path = active()
        floor = Floor()
        acct(None)
        off = time.time_ns()
        unseen = Load(UNSEEN, 703000000)
        unseen.finish()
        on = time.time_ns()
        acct(path)
        others = sum(off - 10**8 <= t <= on + 10**8 for _, _, t in floor.stop()) - UNSEEN
        exeunt.process.send_signal(signal.SIGCONT)
        time.sleep(1)
        after = Load(2000, 704000000)
        after.finish()
        exeunt.stop()
        for load in (before, full, after):
            m = load.of(exeunt.exits())
            lib.check(len(m) == load.count, f"{len(m)} of {load.count} from {load.base} on")
            load.check_right(m)
        tell(exeunt, [r for load in (before, full, after) for r in load.of(exeunt.exits()).values()])
        queued = unseen.of(exeunt.exits())  # on a CPU whose queue had room
        unseen.check_right(queued)
        lib.check(all("pacct" not in r["sources"] for r in queued.values()), "a record out of nothing")
        gone = UNSEEN - len(queued)
        lib.check(gone > 0, "none ended unseen: the test did not do its work")
        check_balance(exeunt)
        missing = outstanding(exeunt.lines)
        # others of the host, and threads of the loaders, which accounting does not tell of
        lib.check(gone <= missing <= gone + others + 20,
                  f"{gone} ended unseen, and {others} others, {missing} are said to be lost")


lib.main(accounting_is_off, starved, written_by_nobody)
