#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt live attached to a daemon's socket: the same as by itself, without privilege."""
import os
import re
import signal
import subprocess
import time

import daemon
import lib

NOBODY = 65534


def run(*options, **more):
    path = daemon.scratch(f"s{daemon.count}")
    process = daemon.Daemon("--to", f"socket:{path}", *options, **more)
    process.place = path
    return process


class Live:
    """exeunt live --socket PATH; ready once it said that it is attached."""

    def __init__(self, place, *options, prefix=(), wait=True):
        self.path = daemon.scratch(f"live.{time.monotonic_ns()}")
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen([*prefix, lib.EXEUNT, "live", *(["--socket", place] if place else []), *options],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        lib.started.append(self.process)
        if wait:
            daemon.wait_until(lambda: "attached to the daemon" in self.errors() or self.process.poll() is not None,
                              f"live to attach: {self.errors()}")

    def errors(self):
        return daemon.read(self.path + ".err").decode(errors="replace")

    def out(self):
        return daemon.read(self.path)

    def await_lines(self, text, n):
        return daemon.wait_until(lambda: self.out().count(text) >= n, f"{n} times {text} in what live shows")

    def stop(self, want=0, how=signal.SIGINT):
        if how and self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(lib.STOP_TIMEOUT)
        lib.started.remove(self.process)
        lib.check(code == want, f"live: exit status {code}, not {want}: {self.errors()}")
        return self.out()


def lines_of(text, parent):
    """Those of children of this process, without the time, which each listener reads by itself."""
    found = []
    for line in text.decode().split("\n"):
        columns = line.split()
        if len(columns) > 3 and columns[2] == str(parent):
            found.append(line.partition(" ")[2])
    return sorted(found)


def as_text():
    """the lines of people are those of live by itself"""
    mkexit = daemon.Held(lib.helper("mkexit"), "all", *daemon.odd_cases())
    pid, only = mkexit.pid, ("--filter", f"ppid == {mkexit.pid}")
    d = run(*only)
    direct = lib.Exeunt(*only, json_lines=False, wait=False)
    numeric = lib.Exeunt("--numeric", "--utc", *only, json_lines=False, wait=False)
    attached = [Live(d.place), Live(d.place, "--numeric", "--utc")]
    for own in (direct, numeric):
        daemon.wait_until(lambda own=own: "listening to" in own.errors(), "live by itself")
    truths = mkexit.truths()
    direct.interrupt()
    numeric.interrupt()
    d.stop()
    for live, own in zip(attached, (direct, numeric)):
        text = live.stop(want=1, how=None)
        lib.check("the daemon ended" in live.errors(), live.errors())
        lib.check(text.startswith(own.raw.split(b"\n")[0]), "the titles")
        ours, theirs = lines_of(text, pid), lines_of(own.raw, pid)
        lib.check(len(theirs) > len(truths) // 2, f"{len(theirs)} lines to compare")
        lib.check(ours == theirs, f"attached {set(ours) - set(theirs)}, by itself {set(theirs) - set(ours)}")
        lib.check(not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", text), "a raw control byte")


def as_json():
    """JSON Lines, with filters that the daemon takes, and with others"""
    process = daemon.Held(lib.helper("loader"), "--count", 256, "--exit-codes")
    d = run("--filter", f"ppid == {process.pid}")
    lives = {None: 256, "code == 7": 1, "comm == 'loader' and code < 10": 10, "comm ~ '^(load|x)er$'": 256,
             "comm ~ 'o.*r$' and\ncode in (1, 2)": 2}
    lives = [(Live(d.place, "--json", *(["--filter", f] if f else [])), f, n) for f, n in lives.items()]
    subprocess.run(["/bin/true"], check=True)
    process.go()
    d.stop()
    for live, f, n in lives:
        records = lib.parse_lines(live.stop(want=1, how=None))
        lib.check([r["seq"] for r in records] == list(range(1, len(records) + 1)), f"{f}: seq does not count 1, 2, 3 ...")
        lib.check(records[0]["type"] == "start" and records[-1]["type"] == "stop", f"{f}: its ends")
        lib.check(len(daemon.exits_of(records, process.pid)) == n, f"{f}: {len(daemon.exits_of(records, process.pid))}")
        first, last = records[0]["balance"], records[-1]["balance"]
        exits = sum(r["type"] == "exit" for r in records)
        lib.check(last["exits"] - first["exits"] == exits + last["filtered"] and last["records"] == len(records),
                  f"{f}: {exits} exits, from {first} to {last}")


def limits():
    """--count, --duration, a pipe that ends, a file"""
    d = run()
    count = Live(d.place, "--count", "5")
    some = Live(d.place, "--json", "--duration", "1", "--output", daemon.scratch("out"))
    exeunt = subprocess.Popen([lib.EXEUNT, "live", "--json", "--socket", d.place, "-q"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lib.started.append(exeunt)
    head = subprocess.Popen(["head", "-3"], stdin=exeunt.stdout, stdout=subprocess.PIPE)
    exeunt.stdout.close()
    load = lib.loader("--seconds", 3, "--rate", 200)
    lib.check(len(count.stop(how=None).splitlines()) == 6, f"--count 5: {count.out()}")
    some.stop(how=None)
    lib.check(b'"exit"' in daemon.read(daemon.scratch("out")), "nothing in the file")
    lib.check(len(lib.parse_lines(head.communicate()[0])) == 3, "head")
    said = exeunt.communicate(timeout=daemon.TIMEOUT)[1]
    lib.started.remove(exeunt)
    lib.check(exeunt.returncode in (0, -signal.SIGPIPE) and not said, f"live before head: {exeunt.returncode} {said}")
    lib.finish(load)
    d.stop()


def slow_reader():
    """a reader of live that is slow: live lets the daemon count, and tells it"""
    process = daemon.Held(lib.helper("loader"), "--count", 20000)
    d = run("--buffer", "64K", "--filter", f"ppid == {process.pid}")
    exeunt = subprocess.Popen([lib.EXEUNT, "live", "--json", "--buffer", "64K", "--socket", d.place], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lib.started.append(exeunt)
    raw = exeunt.stdout.readline()
    process.go()
    # what live holds goes out, and then the daemon has room to tell
    while b'"slow_sink"' not in raw:
        chunk = exeunt.stdout.read1(65536)
        if not lib.check(chunk, "it never told what was lost"):
            break
        raw += chunk
    exeunt.send_signal(signal.SIGINT)
    raw += exeunt.stdout.read()
    said = exeunt.stderr.read().decode()
    lib.check(exeunt.wait(lib.STOP_TIMEOUT) == 0, f"live: {exeunt.returncode} {said}")
    lib.started.remove(exeunt)
    lost = daemon.check_gaps(lib.parse_lines(raw))
    lib.check(lost > 0 and f"{lost} lost in the output" in said, f"{lost} lost, and live said {said}")
    d.stop()


def without_privilege():
    """a member of the group attaches; others are told, and options that need sources of one's own"""
    process = daemon.Held(lib.helper("loader"), "--count", 20)
    d = run("--filter", f"ppid == {process.pid}")
    group = os.stat(d.place).st_gid
    os.chmod(lib.scratch, 0o755)
    as_nobody = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--inh-caps=-all"]
    member = Live(d.place, "--json", prefix=[*as_nobody, "--groups", str(group)])
    other = Live(d.place, prefix=[*as_nobody, "--clear-groups"], wait=False)
    other.stop(want=3, how=None)
    lib.check("Permission denied" in other.errors() and d.place in other.errors(), other.errors())
    process.go()
    member.await_lines(b'"parent_pid":%d,' % process.pid, 20)
    lib.check(len(daemon.exits_of(lib.parse_lines(member.stop()), process.pid)) == 20, "exits that a member of the group saw")
    for options in (["--source", "taskstats"], ["--threads"], ["--rcvbuf", "1M"], ["--no-args"], ["--json", "-n"],
                    ["--pacct", "off"], ["--status", "1"]):
        live = Live(d.place, *options, wait=False)
        live.stop(want=2, how=None)
        lib.check("--socket goes not with --" in live.errors(), f"{options}: {live.errors()}")
    none = Live(daemon.scratch("none"), wait=False)
    none.stop(want=1, how=None)
    lib.check("cannot connect" in none.errors(), none.errors())
    own = Live("off", "--count", "1", wait=False)
    daemon.wait_until(lambda: "listening to" in own.errors(), "live --socket off")
    lib.finish(lib.loader("--count", 5))
    own.stop(how=None)
    d.stop()


lib.main(as_text, as_json, limits, slow_reader, without_privilege)
