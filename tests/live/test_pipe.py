#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt in pipelines: a reader that leaves early is no error, a JSON reader reads all, limits are kept."""
import shutil
import signal
import subprocess
import time

import lib

LIMIT = 10


def piped(*reader):
    """exeunt | reader, with exits going on until both are gone. Returns (status of exeunt, its stderr, output)."""
    exeunt = subprocess.Popen([lib.EXEUNT, "live", "--json", "--source", "taskstats", "--quiet"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lib.started.append(exeunt)
    last = subprocess.Popen(reader, stdin=exeunt.stdout, stdout=subprocess.PIPE)
    exeunt.stdout.close()
    end = time.monotonic() + LIMIT
    while exeunt.poll() is None and time.monotonic() < end:
        lib.finish(lib.loader("--count", 50, "--rate", 500))
    hung = exeunt.poll() is None
    lib.check(not hung, f"{reader[0]} left, and exeunt went on for {LIMIT} s")
    if hung:
        exeunt.kill()
    output = last.communicate()[0]
    message = exeunt.communicate()[1].decode(errors="replace")
    lib.started.remove(exeunt)
    return exeunt.returncode, message, output


def head():
    """head -5 takes five lines and leaves"""
    code, message, output = piped("head", "-5")
    lib.check(code in (0, -signal.SIGPIPE), f"head: exit status {code}")
    lib.check(not message, f"head: exeunt said {message!r}")
    records = lib.parse_lines(output)
    lib.check(len(records) == 5 and records[0]["type"] == "start", f"head: {len(records)} lines")


def jq():
    """jq reads every line"""
    if not shutil.which("jq"):
        lib.say("no jq here: left out")
        return
    exeunt = lib.Exeunt()
    lib.mkexit("all")
    records = exeunt.stop()
    done = subprocess.run(["jq", "-c", "."], input=exeunt.raw, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    lib.check(done.returncode == 0 and not done.stderr, f"jq: {done.stderr!r}")
    lib.check(done.stdout.count(b"\n") == len(records), "jq: another number of lines")


def count():
    """--count ends it after so many exits, by itself"""
    exeunt = lib.Exeunt("--count", 20)
    end = time.monotonic() + LIMIT
    while exeunt.process.poll() is None and time.monotonic() < end:
        lib.finish(lib.loader("--count", 5, "--rate", 100))
    lib.check(exeunt.process.poll() == 0, f"--count 20: status {exeunt.process.poll()}")
    exeunt.stop()
    lib.check(len(exeunt.exits()) == 20, f"--count 20: {len(exeunt.exits())} exits")


def duration():
    """--duration ends it after so long, by itself"""
    begin = time.monotonic()
    exeunt = lib.Exeunt("--duration", 2)
    exeunt.process.wait(LIMIT)
    took = time.monotonic() - begin
    exeunt.stop()
    lib.check(1.5 < took < 5, f"--duration 2: it ran for {took:.1f} s")


lib.main(head, jq, count, duration)
