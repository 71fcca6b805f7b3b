#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run --to=socket: many readers at once, slow ones, hostile ones, and a daemon that dies."""
import os
import socket
import stat
import subprocess
import threading
import time

import daemon
import lib

CLIENTS_MAX = 64
N = 300


class Reader:
    """Connected; reads everything in a thread of its own. join() waits for the end, and has the records then."""

    def __init__(self, path, line=None, start=True, pause=0):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(daemon.TIMEOUT)
        self.socket.connect(path)
        if line is not None:
            self.socket.sendall(line)
        self.raw = bytearray()
        self.pause = pause
        self.records = []
        self.thread = threading.Thread(target=self.read, daemon=True)
        if start:
            self.thread.start()

    def read(self):
        try:
            while chunk := self.socket.recv(16384 if self.pause else 1 << 20):
                self.raw += chunk
                time.sleep(self.pause)
        except ConnectionResetError:
            pass  # what we sent and nobody read; all that was for us came before

    def await_starts(self, n=1):
        """Until the daemon answered: once by itself, once more for a filter."""
        return daemon.wait_until(lambda: self.raw.count(b'"type":"start"') >= n or b'"type":"error"' in self.raw,
                                 f"{n} start records: {self.raw[:300]!r}")

    def join(self):
        if self.thread.ident is None:
            self.thread.start()
        self.thread.join(daemon.TIMEOUT)
        lib.check(not self.thread.is_alive(), "a reader got no end")
        self.socket.close()
        self.records = lib.parse_lines(bytes(self.raw))
        return self.records

    def last_stream(self):
        """The records from the last start on: a filter makes the stream begin anew."""
        starts = [i for i, r in enumerate(self.records) if r["type"] == "start"]
        return self.records[starts[-1]:] if starts else []


def run(*options, **more):
    """A daemon with a socket; the path is its .socket."""
    path = daemon.scratch(f"s{daemon.count}")
    process = daemon.Daemon("--to", f"socket:{path}", *options, **more)
    process.place = path
    return process


def check_balance(records):
    """A stream that began while others were there: gaps are told, and what its two ends tell balances."""
    lost = daemon.check_gaps(records)
    if not lib.check(records and records[-1]["type"] == "stop", "a stream without a stop record"):
        return lost
    first, last = records[0]["balance"], records[-1]["balance"]
    exits = sum(r["type"] == "exit" for r in records)
    lib.check(last["lost_output"] == lost, f"the balance has {last['lost_output']} lost, the stream tells {lost}")
    # amends and the like may be among the lost
    lib.check(last["exits"] - first["exits"] <= exits + last["filtered"] + lost,
              f"{last['exits']} - {first['exits']} exits are not {exits} records + {last['filtered']} + {lost} lost")
    if not lost:
        lib.check(last["exits"] - first["exits"] == exits + last["filtered"],
                  f"{last['exits']} - {first['exits']} exits are not {exits} records + {last['filtered']}")
    return lost


def load(count, *options):
    """A loader that waits for its go()."""
    return daemon.Held(lib.helper("loader"), "--count", count, *options)


def only(*helds):
    """Options: what these make, as other things end on this host too."""
    return "--filter", f"ppid in ({', '.join(str(h.pid) for h in helds)})"


def ten_at_once():
    """ten readers get every exit once, in a numbered stream"""
    loader, mkexit = load(N), daemon.Held(lib.helper("mkexit"), "exit-0", "exit-255", *daemon.odd_cases())
    pid = loader.pid
    d = run(*only(loader, mkexit))
    mode = os.stat(d.place)
    lib.check(stat.S_IMODE(mode.st_mode) == 0o660 and mode.st_uid == 0, f"the socket has mode {mode.st_mode:o}")
    readers = [Reader(d.place) for _ in range(10)]
    for r in readers:
        r.await_starts()
    truths = mkexit.truths()
    loader.go()
    d.stop()
    lib.check(not os.path.exists(d.place), "the socket is still there")
    for r in readers:
        records = r.join()
        lib.check(check_balance(records) == 0, "a reader lost some")
        lib.check([x["seq"] for x in records] == list(range(1, len(records) + 1)), "seq does not count 1, 2, 3 ...")
        lib.check(len(daemon.exits_of(records, pid)) == N, f"{len(daemon.exits_of(records, pid))} of {N} exits")
        for truth, record in lib.match([x for x in records if x["type"] == "exit"], truths):
            lib.check_status(truth, record)
            lib.check_identity(truth, record)


def filters():
    """each reader has a filter of its own, also one that closes its writing side"""
    loader = load(256, "--exit-codes")
    pid = loader.pid
    d = run(*only(loader))
    wanted = {b"code == 3\n": 1, b"code < 10": 10, b"\n": 256, b"comm == 'loader' and code in (1, 2)\r\n": 2,
              b"uid == 'root' and code == 255\nand this is not read\n": 1}
    readers = [(Reader(d.place, line), line) for line in wanted]
    for r, line in readers:
        if not line.endswith(b"\n"):
            r.socket.shutdown(socket.SHUT_WR)
        r.await_starts(2)
    subprocess.run(["/bin/true"], check=True)
    loader.go()
    d.stop()
    for r, line in readers:
        r.join()
        stream = r.last_stream()
        lib.check(check_balance(stream) == 0, f"{line!r}: some lost")
        found = len(daemon.exits_of(stream, pid))
        lib.check(found == wanted[line], f"{line!r}: {found} exits, not {wanted[line]}")
        lib.check(all(lib.get(x, "process.parent_pid") == pid for x in stream if x["type"] == "exit"),
                  f"{line!r}: more than the sink's filter lets through")


def refused():
    """filters that are none are answered, and the collector goes on"""
    loader = load(10)
    d = run(*only(loader))
    bad = {b"pid == \n": "a value is missing", b"nonsense\n": "unknown field", b"\xff\xfe\x00\n": "NUL",
           b"x" * 4096: "longer than 4095", b"(" * 3000 + b"\n": "nested", b"comm ~ '[ab]*a[ab]{20}c'\n": "only plain text",
           b"uid == 'no such user'\n": "no such user", b'comm == "\x1b]0;\xff"x\n': "", b"x" * 500000: "longer than 4095"}
    readers = []
    for line, why in bad.items():
        r = Reader(d.place, start=True)
        r.await_starts()
        try:
            r.socket.sendall(line)
        except (BrokenPipeError, ConnectionResetError):
            lib.check(len(line) > 4096, "the daemon left before a short line was sent")
        readers.append((r, line, why))
    for r, line, why in readers:
        last = r.join()[-1]
        lib.check(last["type"] == "error" and why in lib.get(last, "error.message"), f"{line[:40]!r}: {last}")
        lib.check([x["seq"] for x in r.records] == list(range(1, len(r.records) + 1)), f"{line[:40]!r}: seq")
    good = Reader(d.place)
    good.await_starts()
    loader.go()
    d.stop()
    lib.check(len(daemon.exits_of(good.join(), loader.pid)) == 10, "a good reader beside bad ones")


def slow():
    """a reader that never reads, and one that is slow, lose their own, told exactly; the others have all"""
    loader = load(20000, "--exit-codes")
    d = run("--buffer", "128K", *only(loader))
    never = Reader(d.place, start=False)
    lazy = Reader(d.place, pause=0.1)
    good = [Reader(d.place, b"code == 7\n"), Reader(d.place, b"pid == 1\n")]
    for r in good:
        r.await_starts(2)
    loader.go()
    lib.say(f"resident {d.rss()} KiB")
    lazy.pause = 0
    # it catches up, and is told
    daemon.wait_until(lambda: b'"slow_sink"' in lazy.raw, "the loss of the slow reader")
    d.stop()
    lost = check_balance(lazy.join())
    lib.check(lost > 0, "the slow reader lost nothing")
    lib.say(f"the slow reader lost {lost}, the other got {len(never.join())} records when it read at last")
    lib.check([r["seq"] for r in never.records[:5]] == [1, 2, 3, 4, 5], "what the one that never reads got at last")
    for r in good:
        r.join()
        lib.check(check_balance(r.last_stream()) == 0, "a good reader lost some")
    found = len(daemon.exits_of(good[0].last_stream(), loader.pid))
    lib.check(found == len(range(7, 20000, 256)), f"{found} exits with code 7")


def too_many():
    """the 65th reader is told so; when one leaves there is room again"""
    loader = load(50)
    d = run(*only(loader))
    readers = [Reader(d.place) for _ in range(CLIENTS_MAX)]
    for r in readers:
        r.await_starts()
    one = Reader(d.place)
    last = one.join()[-1]
    lib.check(len(one.records) == 1 and last["type"] == "error" and "64 readers" in lib.get(last, "error.message"),
              f"the 65th got {one.records}")
    done = subprocess.run([lib.EXEUNT, "live", "--socket", d.place], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    lib.check(done.returncode == 1 and b"64 readers" in done.stderr and not done.stdout, f"live as the 65th: {done}")
    for r in readers[:10]:
        r.socket.shutdown(socket.SHUT_RDWR)
        r.thread.join(daemon.TIMEOUT)
        r.socket.close()
    for _ in range(10):
        again = Reader(d.place)
        daemon.wait_until(lambda r=again: r.raw or not r.thread.is_alive(), "an answer")
        lib.check(b'"type":"start"' in again.raw, f"no room after one left: {again.raw!r}")
        readers.append(again)
    loader.go()
    d.stop()
    for r in readers[10:]:
        lib.check(len(daemon.exits_of(r.join(), loader.pid)) == 50, "one of 64 readers has not all")


def coming_and_going():
    """readers that come and vanish all the time"""
    loads = [load(100) for _ in range(4)]
    d = run(*only(*loads))
    good = Reader(d.place)
    good.await_starts()
    for i in range(300):
        s = socket.socket(socket.AF_UNIX)
        s.connect(d.place)
        if i % 3 == 1:
            s.sendall(b"code == ")
        if i % 3 == 2:
            s.sendall(b"code == 1\n")
            s.recv(10)
        s.close()
        if i % 100 == 0:
            loads[i // 100].go()
    last = Reader(d.place)
    last.await_starts()
    lib.check(len(os.listdir(f"/proc/{d.process.pid}/fd")) < 40, "descriptors are left open")
    loads[3].go()
    d.stop()
    for r in (good, last):
        lib.check(len(daemon.exits_of(r.join(), loads[3].pid)) == 100 and check_balance(r.records) == 0, "one that stayed")


def places():
    """what is at the path: left by a dead daemon, a living one's, a file, a link"""
    first, second_load = load(10), load(10)
    d = run()
    second = subprocess.run([lib.EXEUNT, "run", "--source", "taskstats", "--to", f"socket:{d.place}", "--pid-file",
                             daemon.scratch("second.pid")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    lib.check(second.returncode == 1 and b"in use" in second.stderr and d.place.encode() in second.stderr,
              f"a second daemon: {second}")
    reader = Reader(d.place)
    reader.await_starts()
    live = subprocess.Popen([lib.EXEUNT, "live", "--socket", d.place, "--quiet"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lib.started.append(live)
    first.go()
    live.stdout.read1(10)
    d.kill()
    said = live.communicate(timeout=daemon.TIMEOUT)[1]
    lib.started.remove(live)
    lib.check(live.returncode == 1 and b"went away" in said, f"live, when its daemon was killed: {live.returncode} {said}")
    reader.thread.join(daemon.TIMEOUT)
    lib.check(stat.S_ISSOCK(os.lstat(d.place).st_mode), "a daemon that was killed left no socket")
    again = daemon.Daemon("--to", f"socket:{d.place}", *only(second_load))
    reader = Reader(d.place)
    reader.await_starts()
    second_load.go()
    os.rename(d.place, d.place + ".moved")
    with open(d.place, "wb"):
        pass
    again.stop()
    lib.check(len(daemon.exits_of(reader.join(), second_load.pid)) == 10, "after the restart")
    lib.check(os.path.isfile(d.place), "what somebody else put in the place of the socket is gone")
    os.unlink(d.place)
    os.symlink(daemon.scratch("target"), d.place)
    bad = subprocess.run([lib.EXEUNT, "run", "--source", "taskstats", "--to", f"socket:{d.place}", "--pid-file",
                          daemon.scratch("bad.pid")], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    lib.check(bad.returncode == 1 and b"is no socket" in bad.stderr and os.path.islink(d.place), f"a link: {bad}")


lib.main(ten_at_once, filters, refused, slow, too_many, coming_and_going, places)
