#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The proc connector's source: nothing missed, nothing lost unsaid, and a reason where it cannot work."""
import os
import subprocess

import lib
import sources

FORK, EXEC, EXIT = 1, 2, 0x80000000


def test_life():
    """each child of a burst is seen to begin and to run a program; ends are left to other sources"""
    dump = sources.Dump("procevents", "--drop")
    lib.check(dump.opened["open"] == 0 and dump.opened["state"] == 1, f"opened: {dump.opened}")
    children = []
    for code in range(20):
        with subprocess.Popen(["/bin/sh", "-c", f"exit {code}"]) as child:
            pass
        children.append(child.pid)
    # the events of a process are queued before its parent can see it end
    dump.ask()
    dump.stop()
    events = list(map(sources.proc_event, dump.data()))
    for pid in children:
        mine = [e for e in events if e[4] == pid]
        lib.check([e[0] for e in mine] == [FORK, EXEC], f"pid {pid}: events {[e[0] for e in mine]}")
        lib.check(mine[0][5][1] == os.getpid(), f"pid {pid}: parent at fork {mine[0][5]}")
    lib.check(all(e[0] != EXIT for e in events), "ends came")


def test_threads():
    """the births of threads are left out"""
    dump = sources.Dump("procevents")
    mkexit, truths = lib.mkexit("leader-first")
    dump.ask()
    dump.stop()
    events = list(map(sources.proc_event, dump.data()))
    pids = {t["pid"] for t in truths}
    lib.check(pids <= {e[4] for e in events if e[0] == FORK}, "a process is missing")
    lib.check(all(e[3] == e[4] for e in events if e[0] == FORK), "the birth of a thread came")
    lib.check(mkexit not in pids, "mkexit told of itself")


def births(events, parent):
    return [e[4] for e in events if e[0] == FORK and e[5][1] == parent]


def test_complete():
    """a loader flat out: the birth of every child is there, once"""
    dump = sources.Dump("procevents")
    with lib.loader("--count", 20000, "--threads", 2) as load:
        load.communicate()
    dump.ask()
    dump.stop()
    seen = births(map(sources.proc_event, dump.data()), load.pid)
    lib.check(len(seen) == 20000, f"20000 children, {len(seen)} births")
    lib.check(dump.lost() == 0, f"{dump.lost()} lost with a large buffer")


def mark():
    """A process whose birth divides what comes before from what comes after."""
    with subprocess.Popen(["/bin/true"]) as child:
        pass
    return child.pid


def between(dump, first, last):
    """The events between the births of two processes."""
    events = list(map(sources.proc_event, dump.data()))
    at = [next((i for i, e in enumerate(events) if e[0] == FORK and e[4] == pid), None) for pid in (first, last)]
    lib.check(None not in at, "a mark is missing")
    return 0 if None in at else at[1] - at[0]


def test_loss_is_exact():
    """a small buffer that nobody reads: seen and lost make up what another reader has seen"""
    all_of_it = sources.Dump("procevents")
    dump = sources.Dump("procevents", "--rcvbuf", 65536, "--sleep-until-input")
    first = mark()
    with lib.loader("--count", 3000) as load:
        load.communicate()
    dump.ask()
    last = mark()
    dump.ask()
    ended = dump.stop()
    all_of_it.ask()
    all_of_it.stop()
    wanted, seen = between(all_of_it, first, last), between(dump, first, last)
    lib.say(f"{wanted} happened, {seen} seen, {dump.lost()} lost")
    lib.check(dump.lost() > 0, "nothing was lost in a buffer of 64 KiB")
    lib.check(seen + dump.lost() == wanted, f"{seen} + {dump.lost()} is not {wanted}")
    lib.check(ended["lost"] == dump.lost(), f"the status says {ended['lost']} lost")


def test_refusals():
    """another namespace is refused with its name, at once"""
    for option, word in (("--net", "network"), ("--pid", "pid"), ("--user", "user")):
        prefix = ["unshare", option, "--fork", "--"]
        dump = sources.Dump("procevents", prefix=prefix)
        if dump.opened["open"] is None:
            lib.say(f"unshare {option} is not possible here")
        else:
            lib.check(dump.opened["open"] < 0, f"{option}: opened")
            lib.check(f"{word} namespace" in dump.opened.get("reason", ""), f"{option}: {dump.opened}")
            lib.check(dump.opened.get("remedy"), f"{option}: no remedy")
        dump.process.kill()
        dump.process.wait()


def test_unprivileged():
    """without privilege: it works since Linux 6.6, and before it says what is missing"""
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
    dump = sources.Dump("procevents", prefix=prefix)
    if dump.opened["open"] is None:
        lib.say("the helper cannot be run by another user here")
        return
    if sources.kernel() >= (6, 6):
        lib.check(dump.opened["open"] == 0, f"{dump.opened}")
    else:
        lib.check("CAP_NET_ADMIN" in dump.opened.get("reason", ""), f"{dump.opened}")
    dump.process.kill()
    dump.process.wait()


lib.main(test_life, test_threads, test_complete, test_loss_is_exact, test_refusals, test_unprivileged)
