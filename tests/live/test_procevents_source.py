#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The proc connector's source: nothing missed, nothing lost unsaid, and a reason where it cannot work."""
import os
import signal
import subprocess

import lib
import sources

FORK, EXEC, EXIT = 1, 2, 0x80000000


def test_life():
    """each child of a burst is seen to begin, to run a program and to end with its status"""
    dump = sources.Dump("procevents", "--drop")
    lib.check(dump.opened["open"] == 0 and dump.opened["state"] == 1, f"opened: {dump.opened}")
    children = {}
    for code in range(20):
        with subprocess.Popen(["/bin/sh", "-c", f"exit {code}"]) as child:
            pass
        children[child.pid] = code << 8
    with subprocess.Popen(["/bin/sh", "-c", "kill -9 $$"]) as child:
        pass
    children[child.pid] = signal.SIGKILL
    # the events of a process are queued before its parent can see it end, but for EXIT, which may come a little later
    wanted = len(children)
    dump.wait(lambda: sum(e[0] == EXIT and e[4] in children for e in map(sources.proc_event, dump.data())) >= wanted,
              "the ends of the children")
    dump.stop()
    events = list(map(sources.proc_event, dump.data()))
    for pid, status in children.items():
        mine = [e for e in events if e[4] == pid]
        kinds = [e[0] for e in mine if e[0] in (FORK, EXEC, EXIT)]
        lib.check(kinds == [FORK, EXEC, EXIT], f"pid {pid}: events {kinds}")
        lib.check(mine[0][5][1] == os.getpid(), f"pid {pid}: parent at fork {mine[0][5]}")
        lib.check(mine[-1][5][0] == status, f"pid {pid}: status {mine[-1][5][0]}, wait said {status}")


def gaps(events):
    """What the numbers miss, over all CPUs."""
    total, last = 0, {}
    for e in events:
        cpu, seq = e[1], e[2]
        if cpu in last:
            total += (seq - last[cpu] - 1) & 0xffffffff
        last[cpu] = seq
    return total


def test_complete():
    """a loader flat out: no gap in the kernel's own numbers, and every exit is there"""
    dump = sources.Dump("procevents")
    with lib.loader("--count", 20000, "--threads", 2) as load:
        load.communicate()
    dump.ask()
    dump.stop()
    events = list(map(sources.proc_event, dump.data()))
    ends = sum(e[0] == EXIT and e[5][3] == load.pid for e in events)
    lib.check(ends == 20000, f"20000 children ended, {ends} were seen to")
    lib.check(gaps(events) == 0, f"{gaps(events)} numbers are missing")
    lib.check(dump.lost() == 0, f"{dump.lost()} lost with a large buffer")


def test_loss_is_exact():
    """a small buffer that nobody reads: seen and lost make up what was sent"""
    dump = sources.Dump("procevents", "--rcvbuf", 65536, "--sleep-until-input")
    with lib.loader("--count", 3000) as load:
        load.communicate()
    dump.ask()
    subprocess.run(["/bin/true"], check=True)
    dump.ask()
    ended = dump.stop()
    events = list(map(sources.proc_event, dump.data()))
    missing = gaps(events)
    lib.say(f"{len(events)} seen, {dump.lost()} lost, {missing} missing by number")
    lib.check(dump.lost() > 0, "nothing was lost in a buffer of 64 KiB")
    lib.check(ended["lost"] == dump.lost(), f"the status says {ended['lost']} lost")
    # the first message that was taken again after the overflow shows the gap, CPU by CPU; the last ones may not have one
    lib.check(missing <= dump.lost(), f"{missing} missing, only {dump.lost()} said to be lost")
    lib.check(len(events) + dump.lost() >= 6000, f"{len(events)} + {dump.lost()} for 3000 forks and exits")


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


lib.main(test_life, test_complete, test_loss_is_exact, test_refusals, test_unprivileged)
