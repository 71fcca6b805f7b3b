#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run --pacct-state, killed again and again while processes end: no end is missing, and few come twice."""
import collections
import os
import random
import time

import lib
from accounting import Place, acct, require_off
from daemon import Daemon, parse_tolerant, read, scratch, wait_until
from joined import Load, accounting_off

KILLS = int(os.environ.get("EXEUNT_KILLS", "4"))
SEED = int(os.environ.get("EXEUNT_SEED", "0")) or time.time_ns() & 0xffffff
BASE = 707000000
COUNT = 9000
SLACK_NS = 3_000_000_000  # how far a reader on a busy host may be behind when it saves


def accounting_is_off():
    """nobody accounts, so that it may be switched here"""
    require_off()


def start(mode, path, state):
    return Daemon("--pacct", mode, "--pacct-state", state, "--to", f"json:{path}", "--to", f"json:{path}.few",
                  "--filter", "uid == 0", source="taskstats,pacct")


def kill_again_and_again(mode, path, state):
    """Returns the load, and when it was killed: (last time the state was saved, time of the kill), both in ns."""
    chance = random.Random(SEED)
    d = start(mode, path, state)
    load = Load(COUNT, BASE, "--rate", 3000)
    kills = []
    for _ in range(KILLS):
        time.sleep(chance.random() * 1.5)
        saved = os.stat(state).st_mtime_ns if os.path.exists(state) else 0
        d.kill()
        kills.append((saved, time.time_ns()))
        time.sleep(chance.random() * 0.2)
        d = start(mode, path, state)
    lib.finish(load.process)
    wait_until(lambda: b'"id":%d' % (BASE + COUNT - 1) in read(path), "the last end")
    d.stop()
    return load, kills


def check_all_there(load, kills, path):
    found = [r for r in parse_tolerant(read(path)) if r is not None]
    times = collections.defaultdict(list)
    for r in found:
        uid = lib.get(r, "process.user.id") or 0
        if r["type"] == "exit" and BASE <= uid < BASE + COUNT:
            times[uid - BASE].append(r)
    missing = [n for n in range(COUNT) if n not in times]
    lib.check(not missing, f"{len(missing)} of {COUNT} ends are missing, as {missing[:5]}")
    twice = {n: v for n, v in times.items() if len(v) > 1}
    only = sum(r["sources"] == ["pacct"] for v in times.values() for r in v)
    lib.say(f"{len(twice)} of {COUNT} came more than once, {only} are of accounting alone")

    lib.check(only or not KILLS, "nothing was read from the file after a crash")
    ended = [when for _, _, when in lib.read_log(load.log)]
    early = [n for n in twice if not any(saved - SLACK_NS < ended[n] < at for saved, at in kills)]
    lib.check(not early, f"{len(early)} came twice though they were saved long before, as {early[:5]}")
    wrong = [n for n, v in times.items() if any(r["process"]["exit"].get("code") != n & 0xff for r in v)]
    lib.check(not wrong, f"{len(wrong)} have another code than the true one")


def own_accounting():
    """--pacct=own, which a killed run leaves on for the next one"""
    lib.say(f"EXEUNT_SEED={SEED}")
    with accounting_off():
        check_all_there(*kill_again_and_again("own", scratch("own"), scratch("own.state")), scratch("own"))


def file_of_somebody():
    """--pacct=FILE, that somebody else switched on"""
    with accounting_off(), Place() as place:
        pacct = place.create("pacct")
        acct(pacct)
        check_all_there(*kill_again_and_again(pacct, scratch("file"), scratch("file.state")), scratch("file"))


if __name__ == "__main__":
    lib.main(accounting_is_off, own_accounting, file_of_somebody)
