#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run --to store: every exit in SQLite files, over kills, full disks, damage and retention."""
import contextlib
import glob
import json
import os
import random
import sqlite3
import subprocess
import time

import lib
import sources
from accounting import Place, fill

KILLS = int(os.environ.get("EXEUNT_KILLS", "10"))


class Daemon:
    """exeunt run with a store in `dir`."""

    def __init__(self, directory, *options):
        self.errors = os.path.join(lib.scratch, f"err.{len(lib.started)}.{time.monotonic_ns()}")
        argv = [lib.EXEUNT, "run", "--source", "taskstats", "--pid-file", os.path.join(lib.scratch, "pid"),
                "--to", f"store:{directory}", *map(str, options)]
        with open(self.errors, "wb") as err:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=err)
        lib.started.append(self.process)
        sources.wait_until(lambda: "listening" in self.said() or self.process.poll() is not None, "its start")

    def said(self):
        with open(self.errors, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self):
        self.process.terminate()
        lib.check(self.process.wait(lib.STOP_TIMEOUT) == 0, f"exit status {self.process.returncode}: {self.said()}")
        lib.started.remove(self.process)

    def kill(self):
        self.process.kill()
        self.process.wait(lib.STOP_TIMEOUT)
        lib.started.remove(self.process)


def place(name):
    path = os.path.join(lib.scratch, name)
    os.mkdir(path)
    return path


def segments(directory):
    return sorted(glob.glob(os.path.join(directory, "exeunt-*.db")))


def ask(directory, sql):
    """The rows of all segments, in their order; none of one that is not made whole yet, or that just goes."""
    rows = []
    for path in segments(directory):
        try:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as db:
                rows += db.execute(sql).fetchall()
        except sqlite3.OperationalError as e:
            lib.check("no such table" in str(e) or not os.path.exists(path), f"{path}: {e}")
    return rows


def exits_of(directory, ppid):
    return ask(directory, f"SELECT id, run, seq FROM processes WHERE type = 'exit' AND process_parent_pid = {ppid}")


def losses(directory, cause):
    return ask(directory, f"SELECT id, run, count, exact FROM losses WHERE cause = '{cause}'")


def check_order(directory):
    """ids grow over all segments, and in each run no record is there twice."""
    rows = ask(directory, "SELECT id, run, seq FROM (SELECT id, run, seq FROM processes UNION ALL SELECT id, run, seq FROM "
                          "losses WHERE seq > 0 UNION ALL SELECT id, run, seq FROM statuses) ORDER BY id")
    ids = [row[0] for row in rows]
    lib.check(ids == sorted(set(ids)), "ids are not in order, or there twice")
    runs = {}
    for _, run, seq in rows:
        lib.check(seq == runs.get(run, 0) + 1, f"run {run}: {seq} behind {runs.get(run, 0)}")
        runs[run] = seq
    return runs


def whole():
    """each exit is a row, and report and replay read what was written"""
    directory = place("whole")
    daemon = Daemon(directory, "--to", f"json:{lib.scratch}/whole.jsonl")
    load = lib.finish(lib.loader("--count", 20000))
    daemon.stop()
    lib.check(len(exits_of(directory, load["pid"])) == 20000, f"{len(exits_of(directory, load['pid']))} of 20000")
    check_order(directory)
    replayed = subprocess.run([lib.EXEUNT, "replay", "--json", "--quiet", directory], stdout=subprocess.PIPE, check=True).stdout
    with open(f"{lib.scratch}/whole.jsonl", "rb") as f:
        written = f.read()
    only_exits = [[line for line in text.splitlines() if b'"type":"exit"' in line] for text in (written, replayed)]
    lib.check(only_exits[0] == only_exits[1], "what comes out is not what went in")
    report = subprocess.run([lib.EXEUNT, "report", directory], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            check=True).stdout
    last = subprocess.run([lib.EXEUNT, "last", "--json", directory], stdout=subprocess.PIPE, check=True).stdout
    lib.check([line for line in last.splitlines() if b'"type":"exit"' in line] == only_exits[0][::-1] or b'"amend"' in written,
              "last is not the same from its end")
    row = next((line.split() for line in report.splitlines() if line.endswith(" loader")), None)
    lib.check(row and int(row[0]) >= 20000, f"report says {row}")
    lib.check(not os.path.exists(segments(directory)[0] + "-wal"), "the log was not put into the file")


def killed():
    """kill -9 at any moment: what was committed stays, nothing comes twice, each gap is told"""
    directory = place("killed")
    gaps = 0
    for _ in range(KILLS):
        before = len(ask(directory, "SELECT id FROM processes"))
        daemon = Daemon(directory)
        load = lib.loader("--seconds", 5, "--rate", 5000)
        time.sleep(random.uniform(0.1, 1.5))
        committed = len(ask(directory, "SELECT id FROM processes"))
        daemon.kill()
        load.kill()
        load.wait()
        after = len(ask(directory, "SELECT id FROM processes"))
        lib.check(before <= committed <= after, f"{before} rows, then {committed}, then {after}")
        # one that was killed before it had committed anything left no gap that anybody could know of
        stopped = ask(directory, "SELECT max(id), type = 'stop' FROM statuses")
        gaps += bool(stopped and stopped[-1][0])
    Daemon(directory).stop()
    check_order(directory)
    told = losses(directory, "not_running")
    lib.say(f"{len(ask(directory, 'SELECT id FROM processes'))} rows, {len(told)} gaps of {KILLS} kills")
    lib.check(len(told) == gaps, f"{len(told)} gaps are told of {gaps}")
    lib.check(all(count == 0 and not exact for _, _, count, exact in told), f"{told}")


def full():
    """a full disk: kept as far as the buffer goes, then counted exactly, and it goes on"""
    with Place("6m") as there:
        directory = os.path.join(there.dir, "store")
        daemon = Daemon(directory, "--buffer", "1M")
        sh = [lib.finish(lib.loader("--count", 500))]
        sources.wait_until(lambda: len(exits_of(directory, sh[0]["pid"])) == 500, "the first rows")
        fill(there)
        sh.append(lib.finish(lib.loader("--count", 20000)))
        sources.wait_until(lambda: "tried again" in daemon.said(), "the trouble to be told")
        os.unlink(there.path("filler"))
        sources.wait_until(lambda: "works again" in daemon.said(), "its end")
        sh.append(lib.finish(lib.loader("--count", 500)))
        daemon.stop()
        rows = ask(directory, "SELECT seq FROM processes UNION ALL SELECT seq FROM losses UNION ALL SELECT seq FROM statuses")
        lost = sum(count for _, _, count, exact in losses(directory, "slow_sink") if lib.check(exact, "a count is not exact"))
        last = max(row[0] for row in rows)
        lib.say(f"{lost} lost and told, {len(rows)} rows, the last has the number {last}")
        lib.check(lost > 0 and len(rows) + lost == last, f"{len(rows)} rows and {lost} lost are not {last}")
        lib.check(len(exits_of(directory, sh[2]["pid"])) == 500, "it did not go on")


def damaged():
    """a segment overwritten with noise is set aside and named; the others go on"""
    directory = place("damaged")
    Daemon(directory).stop()
    path = segments(directory)[0]
    with open(path, "r+b") as f:
        f.write(random.randbytes(16384))
    daemon = Daemon(directory)
    load = lib.finish(lib.loader("--count", 100))
    daemon.stop()
    lib.check(path in daemon.said() and "set aside" in daemon.said(), f"it said: {daemon.said()}")
    lib.check(os.path.exists(path + ".damaged"), f"{os.listdir(directory)}")
    lib.check(len(exits_of(directory, load["pid"])) == 100, "the others did not go on")
    done = subprocess.run([lib.EXEUNT, "report", path + ".damaged"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lib.check(done.returncode == 1 and path.encode() in done.stderr, f"{done}")


def kept():
    """the oldest segments go when there is too much, and what went is told"""
    directory = place("kept")
    daemon = Daemon(directory, "--keep-bytes", "2M")
    n = 30000
    load = lib.finish(lib.loader("--count", n, "--rate", 6000))
    sources.wait_until(lambda: losses(directory, "retention"), "the first to go")
    daemon.stop()
    told = losses(directory, "retention")
    gone = sum(count for _, _, count, _ in told)
    left = len(ask(directory, "SELECT id FROM processes WHERE type = 'exit'"))
    size = sum(os.path.getsize(path) for path in segments(directory))
    lib.say(f"{left} left in {size} bytes, {gone} gone in {len(told)} segments")
    ended = json.loads(ask(directory, "SELECT record FROM statuses WHERE type = 'stop'")[-1][0])["balance"]["exits"]
    lib.check(size <= 3 << 20, f"{size} bytes")
    lib.check(ended >= n and left + gone == ended, f"{left} left and {gone} gone of {ended}")
    lib.check(exits_of(directory, load["pid"]), "nothing is left")
    lib.check(all(exact for *_, exact in told), f"{told}")


def readers():
    """who reads never waits for the writer, nor the writer for him"""
    directory = place("readers")
    daemon = Daemon(directory)
    sources.wait_until(lambda: segments(directory) and ask(directory, "SELECT id FROM statuses"), "the first rows")
    db = sqlite3.connect(f"file:{segments(directory)[0]}?mode=ro", uri=True)
    db.execute("BEGIN")
    before = db.execute("SELECT count(*) FROM processes").fetchone()[0]
    load = lib.finish(lib.loader("--count", 5000))
    sources.wait_until(lambda: len(exits_of(directory, load["pid"])) == 5000, "the rows beside an open reader")
    lib.check(db.execute("SELECT count(*) FROM processes").fetchone()[0] == before, "the reader saw what came later")
    db.close()
    daemon.stop()


def followed():
    """last --follow shows what comes, in order, over the end of a segment"""
    directory = place("followed")
    daemon = Daemon(directory, "--keep-bytes", "4M")
    sources.wait_until(lambda: ask(directory, "SELECT id FROM statuses"), "the first row")
    out = os.path.join(lib.scratch, "followed.jsonl")
    with open(out, "wb") as f:
        follower = subprocess.Popen([lib.EXEUNT, "last", "--json", "--follow", directory], stdout=f)
    lib.started.append(follower)
    load = lib.finish(lib.loader("--count", 1500, "--rate", 1000))

    def shown():
        with open(out, encoding="ascii") as f:
            whole_lines = [line for line in f if line.endswith("\n")]
        return [r["seq"] for r in map(json.loads, whole_lines) if lib.get(r, "process.parent_pid") == load["pid"]]

    sources.wait_until(lambda: len(shown()) >= load["exits"], "what came")
    lib.check(len(shown()) == load["exits"] and shown() == sorted(shown()), "not each once, in order")
    lib.check(len(segments(directory)) > 1, "one segment is no test of several")
    follower.terminate()
    follower.wait()
    lib.started.remove(follower)
    daemon.stop()


def since_last():
    """report --since-last tells of each exit once, over runs and segments, and again of what was not written"""
    directory = place("since_last")

    def told(*options, stdout=subprocess.PIPE, status=0):
        done = subprocess.run([lib.EXEUNT, "report", "--json", "--quiet", "--by", "ppid", *options, directory], stdout=stdout,
                              stderr=subprocess.DEVNULL, check=False)
        lib.check(done.returncode == status, f"exit status {done.returncode}")
        rows = lib.parse_lines(done.stdout) if done.stdout else []
        return {r["process"]["parent_pid"]: r["exits"] for r in rows if r["type"] == "report" and "process" in r}

    loads, seen = [], {}
    for n in range(3):
        daemon = Daemon(directory, "--keep-bytes", "64M")
        loads.append(lib.finish(lib.loader("--count", 1000 + n)))
        sources.wait_until(lambda: len(exits_of(directory, loads[-1]["pid"])) == loads[-1]["exits"], "the rows")
        for pid, exits in told("--since-last").items():
            seen[pid] = seen.get(pid, 0) + exits
        loads.append(lib.finish(lib.loader("--count", 10)))
        daemon.stop()
    with open("/dev/full", "wb") as full_disk:
        told("--since-last", stdout=full_disk, status=1)
    for pid, exits in told("--since-last").items():
        seen[pid] = seen.get(pid, 0) + exits
    for load in loads:
        lib.check(seen.get(load["pid"]) == load["exits"], f"{seen.get(load['pid'])} told of {load['exits']}")
    lib.check(not told("--since-last"), "something is told twice")
    lib.check(told("--since-last=other").get(loads[0]["pid"]) == loads[0]["exits"], "another name is not another reader")


lib.main(whole, since_last, followed, killed, full, damaged, kept, readers)
