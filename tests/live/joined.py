# SPDX-License-Identifier: MIT
"""For tests of the joined sources: loads whose children name themselves by uid, and settings that are put back."""
import contextlib
import os
import subprocess

import lib
from accounting import acct


@contextlib.contextmanager
def accounting_off():
    """On every way out; a run of exeunt that was killed leaves its own on."""
    try:
        yield
    finally:
        for process in list(lib.started):
            process.kill()
            process.wait()
        acct(None)


@contextlib.contextmanager
def setting(path, value):
    """A setting of the kernel, put back on every way out."""
    with open(path, encoding="ascii") as f:
        before = f.read()
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(str(value))
        yield before
    finally:
        with open(path, "w", encoding="ascii") as f:
            f.write(before)


class Floor:
    """Another reader of taskstats, with a buffer large enough: what tasks ended, and when."""

    def __init__(self):
        self.log = os.path.join(lib.scratch, "floor.log")
        self.process = subprocess.Popen([lib.helper("floor"), "--latency", self.log], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def stop(self):
        self.process.terminate()
        self.process.communicate()
        return lib.read_log(self.log)


class Load:
    """A loader whose children have the uid base + number, and the low byte of the number for exit code."""

    def __init__(self, count, base, *options):
        self.count, self.base = count, base
        self.log = os.path.join(lib.scratch, f"load.{base}")
        self.process = lib.loader("--count", count, "--exit-codes", "--uid-encode", "--uid-base", base, *options,
                                  log=self.log)

    def finish(self):
        self.result = lib.finish(self.process)
        self.truth = lib.read_log(self.log)
        lib.check(len(self.truth) == self.count, f"{len(self.truth)} of {self.count} children ended")
        return self.result

    def of(self, exits):
        """Those of the records that are of its children, by number; none of them twice."""
        mine = {}
        twice = 0
        for r in exits:
            uid = lib.get(r, "process.user.id")
            if uid is not None and self.base <= uid < self.base + self.count:
                twice += uid in mine
                mine[uid - self.base] = r
        lib.check(not twice, f"{twice} children came twice")
        missing = sorted(set(range(self.count)) - set(mine))
        if missing:
            lib.say(f"missing from {self.base} on: {[(n, self.truth[n]) for n in missing[:4]]}")
        return mine

    def check_right(self, mine):
        """The record of each is its own: pid, parent, code and time are those of the child with that number."""
        wrong = {}
        for number, r in mine.items():
            pid, code, real_ns = self.truth[number]
            exit_ = r["process"]["exit"]
            if r["process"].get("pid") != pid:
                wrong.setdefault("pid", []).append((pid, r))
            if r["process"].get("parent_pid") != self.result["pid"]:
                wrong.setdefault("parent", []).append((self.result["pid"], r))
            if exit_.get("code") != code or exit_.get("status") != code << 8:
                wrong.setdefault("status", []).append((code, r))
            # the loader waits for each before it makes the next
            later_ns = self.truth[number + 1][2] if number + 1 < self.count else real_ns + 10**9
            slack = exit_.get("precision_ns", 0) + 2 * lib.LATE_NS
            if not real_ns - slack <= lib.nanoseconds(exit_["time"]) <= later_ns + slack:
                wrong.setdefault("moment", []).append((real_ns, r))
        for what, cases in wrong.items():
            lib.check(False, f"{len(cases)} with a wrong {what}: {cases[:2]}")


def outstanding(lines):
    """What the stream says was lost and nobody brought, by the loss records of taskstats."""
    losses = [r["loss"] for r in lines if r["type"] == "loss" and r["loss"]["source"] == "taskstats"
              and r["loss"]["cause"] != "table_full"]
    return sum(x["count"] - x.get("backfilled", 0) for x in losses)


def check_balance(exeunt):
    """The loss records and the stop record agree."""
    balance = exeunt.lines[-1]["balance"]
    back = sum(1 for r in exeunt.exits() if r.get("backfilled"))
    lib.check(back == balance["backfilled"], f"{back} records are backfilled: {balance}")
    told = sum(r["loss"].get("backfilled", 0) for r in exeunt.lines if r["type"] == "loss")
    lib.check(told == back, f"{back} records are backfilled, the losses say {told}")
    lib.check(balance["lost"] >= exeunt.lost(), f"{exeunt.lost()} lost by taskstats, and in the balance: {balance}")
    return balance
