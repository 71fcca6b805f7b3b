#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Loss made on purpose: with a buffer too small and a pause, records plus losses are exactly the exits that were."""
import json
import os
import signal
import subprocess
import time

import lib

PAUSE = 1.0
TRIES = 5


class Floor:
    """Beside exeunt, with a buffer large enough: it tells what else ended meanwhile."""

    def __init__(self):
        self.log = os.path.join(lib.scratch, "floor.log")
        self.process = subprocess.Popen([lib.helper("floor"), "--latency", self.log], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def stop(self):
        self.process.terminate()
        told = json.loads(self.process.communicate()[0])
        lib.check(told["lost"] == 0, f"the reference itself lost {told['lost']}")
        return lib.read_log(self.log)


def one_run():
    """Returns (children of the loaders that ended, their records, losses told, other tasks that ended meanwhile)."""
    floor = Floor()
    exeunt = lib.Exeunt("--rcvbuf", 65536)
    begin = time.time_ns()
    busy = lib.loader("--seconds", 2 * PAUSE + 1)
    time.sleep(PAUSE / 2)
    exeunt.process.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE)
    exeunt.process.send_signal(signal.SIGCONT)
    first = lib.finish(busy)
    later_log = os.path.join(lib.scratch, "later.log")
    later = lib.finish(lib.loader("--count", 200, "--rate", 200, log=later_log))
    end = time.time_ns()
    exeunt.stop()
    everything = sum(begin <= t <= end for _, _, t in floor.stop())
    children = {first["pid"], later["pid"]}
    seen = [r for r in exeunt.exits() if lib.get(r, "process.parent_pid") in children]
    last = sum(r["process"]["parent_pid"] == later["pid"] for r in seen)
    lib.check(last == later["exits"], f"after the loss {last} of {later['exits']} were seen")
    check_losses(exeunt, begin, end)
    ended = first["exits"] + later["exits"]
    return ended, len(seen), exeunt.lost(), everything - ended


def check_losses(exeunt, begin, end):
    for record in exeunt.lines:
        if record["type"] != "loss":
            continue
        loss = record["loss"]
        lib.check(loss["source"] == "taskstats" and loss["cause"] in ("socket_overflow", "sequence_gap"),
                  f"a loss of {loss['source']} by {loss['cause']}")
        lib.check(loss["exact"] is True, f"a loss that is not exact: {loss}")
        window = [lib.nanoseconds(loss["window"][k]) for k in ("start", "end")]
        lib.check(begin - 10**9 <= window[0] <= window[1] <= end + 10**9, f"a loss at another time: {loss}")


def ledger():
    """exits = records + losses, and the stream goes on"""
    for attempt in range(TRIES):
        ended, seen, lost, others = one_run()
        lib.say(f"{ended} ended, {seen} seen, {lost} said to be lost, {others} other tasks ended meanwhile")
        lib.check(lost > 0, "nothing was lost: the test did not do its work")
        missing = ended - seen
        # The two loaders themselves are the only others when nobody else is at work; they end where nothing is lost.
        if others <= 2 or attempt == TRIES - 1:
            slack = 0 if others <= 2 else others
            lib.check(missing <= lost <= missing + slack, f"{missing} are missing, {lost} said to be lost")
            return


lib.main(ledger)
