#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run: several sinks, rotation, restarts and crashes; every stream balances, and nothing is torn."""
import os
import random
import signal
import time

import lib
from daemon import (Daemon, check_gaps, check_whole, count_exits, exits_of, parse_tolerant, read, scratch, wait_until)

SEED = int(os.environ.get("EXEUNT_SEED", "0")) or time.time_ns() & 0xffffff
KILLS = int(os.environ.get("EXEUNT_KILLS", "4"))


def two_sinks():
    """each with its filter and fields, and a third that has all"""
    paths = [scratch(n) for n in ("good", "bad", "all")]
    d = Daemon("--to", f"json:{paths[0]}", "--filter", "exit.code == 0",
               "--to", f"json:{paths[1]}", "--filter", "exit.code != 0", "--fields", "pid,parent_pid,exit",
               "--to", f"json:{paths[2]}", "--name", "everything")
    load = lib.finish(lib.loader("--count", 20000, "--exit-codes"))
    d.stop()
    lib.check("READY=1" in d.told[0] and "STATUS=listening" in d.told[0], f"told at first: {d.told}")
    streams = [lib.parse_lines(read(p)) for p in paths]
    for records in streams:
        lib.check(check_whole(records) == 0, "something was lost")
    lib.check_stream(streams[2])
    good, bad, every = (exits_of(s, load["pid"]) for s in streams)
    lib.check(len(every) == load["exits"], f"{load['exits']} ends, {len(every)} records")
    lib.check(len(good) == len([r for r in every if r["process"]["exit"]["code"] == 0]), f"{len(good)} with code 0")
    lib.check(len(good) + len(bad) == load["exits"], f"{len(good)} and {len(bad)} of {load['exits']}")
    lib.check(all(r["process"]["exit"]["code"] != 0 for r in bad), "a code of 0 in the stream of the others")
    lib.check(all("usage" not in r and "comm" not in r["process"] for r in bad), "a field that was not asked for")
    lib.check(all("usage" in r and "comm" in r["process"] for r in good), "a field is missing")
    balances = [s[-1]["balance"] for s in streams]
    lib.check(len({b["exits"] for b in balances}) == 1, "the sinks do not agree how many ended")
    lib.check(balances[0]["filtered"] + balances[1]["filtered"] == balances[2]["exits"], f"filtered: {balances}")


def config_file():
    """the same words in a file, and the command line over it"""
    conf, first, second = scratch("conf"), scratch("first"), scratch("second")
    with open(conf, "w") as f:
        f.write(f"[exeunt]\nsource = taskstats\nstatus = 1\nquiet = yes\n"
                f"[sink one]\nto = json:{first}\nfilter = exit.code == 0\n\tor exit.code == 1\n")
    d = Daemon("--config", conf, "--status", "0", "--to", f"json:{second}", source=None)
    load = lib.finish(lib.loader("--count", 256, "--exit-codes"))
    time.sleep(1.1)
    d.stop()
    one, two = (lib.parse_lines(read(p)) for p in (first, second))
    lib.check(len(exits_of(one, load["pid"])) == 2, "the filter of the file does not hold")
    lib.check(len(exits_of(two, load["pid"])) == 256, "the sink of the command line has not all")
    lib.check(not [r for r in one + two if r["type"] == "status"], "the file goes before the command line")
    lib.check(d.errors() == "", f"quiet, and says {d.errors()}")


def rotation():
    """renamed and reloaded again and again while processes end: each record once, in one of the files"""
    path, files = scratch("rotated"), []
    d = Daemon("--to", f"json:{path}", "--status", "1")
    loader = lib.loader("--count", 60000, "--rate", 20000)
    for i in range(20):
        files.append(f"{path}.{i}")
        os.rename(path, files[-1])
        d.reload()
        lib.check(os.path.exists(path), "the file was not made again")
        time.sleep(0.05)
    d.reload()  # nothing was renamed
    load = lib.finish(loader)
    d.stop()
    records = [r for f in [*files, path] for r in lib.parse_lines(read(f))]
    lib.check(sum(os.path.getsize(f) > 0 for f in files) > 10, "rotation came too late for the load")
    lib.check_stream(records)
    lib.check(check_whole(records) == 0, "something was lost")
    got = len(exits_of(records, load["pid"]))
    lib.check(got == load["exits"], f"{load['exits']} ends, {got} records")


def restart():
    """ended and begun again: one file, two streams"""
    path, loads = scratch("restart"), []
    for _ in range(2):
        d = Daemon("--to", f"json:{path}")
        loads.append(lib.finish(lib.loader("--count", 1000)))
        d.stop(signal.SIGINT)
    records = lib.parse_lines(read(path))
    stops = [i for i, r in enumerate(records) if r["type"] == "stop"]
    lib.check(len(stops) == 2, f"{len(stops)} stop records")
    begin = 0
    for stop, load in zip(stops, loads):
        lib.check_stream(records[begin:stop + 1])
        lib.check(len(exits_of(records[begin:stop + 1], load["pid"])) == 1000, "an end is missing")
        begin = stop + 1


def crashes():
    """kill -9 at random moments: only the last line of a run may be torn, and what came before is whole"""
    path, chance = scratch("crashes"), random.Random(SEED)
    lib.say(f"EXEUNT_SEED={SEED}")
    for _ in range(KILLS):
        d = Daemon("--to", f"json:{path}")
        load = lib.finish(lib.loader("--count", 2000))
        wait_until(lambda: count_exits(path, load["pid"]) == load["exits"], "all of the first load")
        loader = lib.loader("--count", 30000)
        time.sleep(chance.random() * 0.4)
        d.kill()
        lib.finish(loader)
    d = Daemon("--to", f"json:{path}")
    d.stop()
    found, runs = parse_tolerant(read(path)), []
    for at, record in enumerate(found):
        if record is None:
            lib.check(at + 1 < len(found) and found[at + 1] and found[at + 1]["type"] == "start",
                      f"line {at + 1} is torn, and is not the last one of a run")
        elif record["type"] == "start":
            runs.append([record])
        else:
            runs[-1].append(record)
    lib.check(len(runs) == KILLS + 1, f"{len(runs)} runs")
    lib.say(f"{found.count(None)} of {KILLS} ended in a torn line")
    for records in runs:
        lib.check(check_gaps(records) == 0, "something was lost")
    check_whole(runs[-1])


def sinks_that_are_none():
    """what is refused before anything runs"""
    path, other = scratch("same"), scratch("link")
    os.symlink(path, other)
    cases = [((f"json:{path}", f"json:{other}"), 1, "is what sink json writes to"),
             ((f"json:{lib.scratch}",), 1, "Is a directory"),
             (("json:/nonexistent/x",), 1, "No such file"),
             (("json:",), 2, "expected json:"),
             (("nonsense:x",), 2, "no such sink")]
    for targets, status, text in cases:
        d = Daemon(*[w for t in targets for w in ("--to", t)], wait=False)
        d.wait(status)
        lib.check(text in d.errors(), f"{targets}: {d.errors()}")
    d = Daemon("--to", f"json:{path}", "--fields", "nonsense", wait=False)
    d.wait(2)


def one_at_a_time():
    """the second daemon says who is there, and one that was killed is in nobody's way"""
    pid_file = scratch("run/pid")
    first = Daemon("--to", "json:/dev/null", pid_file=pid_file)
    lib.check(int(read(pid_file)) == first.process.pid, "another pid in the file")
    second = Daemon("--to", "json:/dev/null", pid_file=pid_file, wait=False)
    second.wait(1)
    lib.check(f"as process {first.process.pid}." in second.errors(), second.errors())
    first.kill()
    third = Daemon("--to", "json:/dev/null", pid_file=pid_file)
    third.stop()
    lib.check(read(pid_file) == b"", "a pid is in the file of nobody")


if __name__ == "__main__":
    lib.main(two_sinks, config_file, rotation, restart, crashes, sinks_that_are_none, one_at_a_time)
