#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kill -9 at random moments while accounting is followed through rotations: the appended output has every exit once."""
import json
import os
import random
import signal
import subprocess
import threading
import time

import lib
from accounting import Place, acct, libc, require_off
from joined import accounting_off

KILLS = int(os.environ.get("EXEUNT_KILLS", "40"))
SEED = int(os.environ.get("EXEUNT_SEED", "0")) or time.time_ns() & 0xffffff
BASE = 705000000


def accounting_is_off():
    """nobody accounts, so that it may be switched here"""
    require_off()


class Dying(threading.Thread):
    """Children that end all the time, each with a uid of its own, and rotations in between."""

    def __init__(self, place, path):
        super().__init__(daemon=True)
        self.place, self.path, self.n, self.rotated = place, path, 0, 0
        self.over = threading.Event()
        self.random = random.Random(SEED + 1)

    def child(self):
        pid = os.fork()
        if not pid:
            libc.syscall(117, BASE + self.n, BASE + self.n, BASE + self.n)  # setresuid, of this thread
            os._exit(self.n & 0x7f)
        os.waitpid(pid, 0)
        self.n += 1

    def rotate(self):
        """As logrotate does it: renamed and made anew, told at once or late; or accounting goes to another file first."""
        self.rotated += 1
        old = self.place.path(f"pacct.{self.rotated}")
        os.rename(self.path, old)
        for _ in range(self.random.randrange(3)):
            self.child()
        self.place.create("pacct")
        for _ in range(self.random.randrange(3)):
            self.child()
        acct(self.path)

    def run(self):
        while not self.over.is_set():
            for _ in range(self.random.randrange(1, 200)):
                self.child()
            if self.random.random() < 0.2:
                self.rotate()
            time.sleep(self.random.random() * 0.02)


def start(path, place, source):
    argv = [lib.EXEUNT, "live", "--json", "-q", "--source", source, "--pacct", path, "--pacct-state", place.path("state"),
            "-o", place.path("out")]
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    lib.started.append(process)
    return process


def end(process, how):
    process.send_signal(how)
    error = process.communicate(timeout=30)[1].decode(errors="replace")
    lib.started.remove(process)
    return process.returncode, error


def every_exit_once():
    """killed again and again, then ended in peace"""
    run("pacct", KILLS)


def none_lost_beside_taskstats():
    """the same with taskstats besides: what only one of the two has told of when it is killed is lost to neither"""
    run("taskstats,pacct", max(KILLS // 4, 5))


def run(source, kills):
    chance = random.Random(SEED)
    lib.say(f"seed {SEED}, {kills} kills")
    with accounting_off(), Place() as place:
        path = place.create("pacct")
        acct(path)
        process = start(path, place, source)
        lib.check(wait_for(lambda: os.path.exists(place.path("state")) or process.poll() is not None or
                           os.path.exists(place.path("out")) and os.path.getsize(place.path("out"))), "no start")
        dying = Dying(place, path)
        dying.start()
        errors = set()
        for _ in range(kills):
            time.sleep(chance.random() ** 2 * 1.5)
            code, error = end(process, signal.SIGKILL)
            lib.check(code == -signal.SIGKILL, f"it ended by itself: {code}, {error}")
            errors |= set(error.splitlines())
            if chance.random() < 0.3:
                time.sleep(chance.random() * 0.3)
            process = start(path, place, source)
        time.sleep(1)
        dying.over.set()
        dying.join()
        time.sleep(1)
        code, error = end(process, signal.SIGINT)
        lib.check(code == 0, f"{code}, {error}")
        for line in errors:
            lib.say(line[:160])
        count(place.path("out"), dying)


def wait_for(condition, seconds=20):
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


def count(path, dying):
    seen, losses, bad = {}, [], 0
    with open(path, "rb") as f:
        for line in f.read().splitlines():
            try:
                record = json.loads(line)
            except ValueError:
                bad += 1
                continue
            uid = lib.get(record, "process.user.id") or 0
            if record["type"] == "loss":
                losses.append(record["loss"])
            elif record["type"] == "exit" and BASE <= uid:
                seen.setdefault(uid - BASE, []).append(lib.get(record, "process.exit.code"))
    twice = {n: c for n, c in seen.items() if len(c) > 1}
    missing = sorted(set(range(dying.n)) - set(seen))
    wrong = [n for n, c in seen.items() if c[0] != n & 0x7f]
    lib.say(f"{dying.n} exits, {dying.rotated} rotations: {len(missing)} missing, {len(twice)} twice, {bad} half lines, "
            f"{len(losses)} losses")
    lib.check(not missing, f"{len(missing)} of {dying.n} are missing, such as {missing[:5]}")
    lib.check(not twice, f"{len(twice)} came twice, such as {sorted(twice)[:5]}")
    lib.check(not wrong and not bad, f"{len(wrong)} with a wrong code, {bad} lines are not whole")
    lib.check(not losses, f"losses are told: {losses[:2]}")


lib.main(accounting_is_off, every_exit_once, none_lost_beside_taskstats)
