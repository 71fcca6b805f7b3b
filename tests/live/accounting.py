# SPDX-License-Identifier: MIT
"""Accounting for the live tests: acct(2) itself, and the source of its records by itself (pacctdump)."""
import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import threading
import time

import lib

TIMEOUT = 20
NOTICED = 2.0  # seconds in which it is noticed that records do not arrive
libc = ctypes.CDLL(None, use_errno=True)


def acct(path):
    """acct(2); None switches it off."""
    if libc.acct(None if path is None else path.encode()):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), path)


count = 0


def child(code=0):
    """A process that ends; its number, which is its name too, for pids are soon used again. Its record is in the file
    when this returns."""
    global count  # pylint: disable=global-statement
    count += 1
    pid = os.fork()
    if not pid:
        libc.prctl(15, f"n{count}".encode())
        os._exit(code)
    os.waitpid(pid, 0)
    return count


def number(ppid, comm):
    """The number of a child of ours, else None."""
    return int(comm[1:]) if ppid == os.getpid() and comm[:1] == "n" and comm[1:].isdigit() else None


def numbers_in(path):
    """The children of ours in an accounting file of version 3."""
    with open(path, "rb") as f:
        data = f.read()
    records = [data[i:i + 64] for i in range(0, len(data), 64)]
    numbers = [number(int.from_bytes(r[20:24], "little"), r[48:].split(b"\0")[0].decode(errors="replace"))
               for r in records]
    return [n for n in numbers if n is not None]


class Dump:
    """pacctdump MODE ...; .opened is its first line; records and the rest as they come."""

    def __init__(self, *options, prefix=()):
        self.process = subprocess.Popen([*prefix, lib.helper("pacctdump"), *map(str, options)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lib.started.append(self.process)
        self.opened = self.ended = None
        self.records, self.lost, self.messages, self.changes, self.files, self.saved = [], [], [], [], [], []
        self.numbers, self.when, self.status = [], {}, {}  # of our children: in order, when read, how ended
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        self.wait(lambda: self.opened, "the first line")

    def read(self):
        kinds = {"pid": self.records, "lost": self.lost, "message": self.messages, "changed": self.changes,
                 "file": self.files, "saved": self.saved}
        for line in self.process.stdout:
            value = json.loads(line)
            now = time.monotonic()
            with self.changed:
                if "open" in value:
                    self.opened = value
                elif "end" in value:
                    self.ended = value
                for key, values in kinds.items():
                    if key in value:
                        values.append(value)
                        value["at"] = now
                n = number(value["ppid"], value["comm"]) if "pid" in value else None
                if n is not None:
                    self.numbers.append(n)
                    self.when[n] = now
                    self.status[n] = value["status"]
                self.changed.notify_all()
        with self.changed:
            self.opened = self.opened or {"open": None}
            self.changed.notify_all()

    def wait(self, condition, what, timeout=TIMEOUT):
        """Until the condition holds."""
        with self.changed:
            return lib.check(self.changed.wait_for(condition, timeout), f"waited {timeout} s for {what}")

    def save(self, note):
        """Has the position saved with a note."""
        before = len(self.saved)
        self.process.stdin.write(note.encode() + b"\n")
        self.process.stdin.flush()
        self.wait(lambda: len(self.saved) > before, "the answer of pacctdump")
        return self.saved[-1]["saved"]

    def await_child(self, n):
        return self.wait(lambda: n in self.when, f"the record of child {n}")

    def stop(self):
        self.process.stdin.close()
        return self.gone()

    def kill(self):
        self.process.kill()
        return self.gone()

    def gone(self):
        self.process.wait(TIMEOUT)
        self.thread.join(TIMEOUT)
        lib.started.remove(self.process)
        error = self.process.stderr.read().decode(errors="replace")
        lib.check(not error, f"pacctdump said: {error}")
        return self.ended


def expect_once(seen, wanted, what):
    """Every number of `wanted` once."""
    missing = set(wanted) - set(seen)
    lib.check(not missing, f"{what}: {len(missing)} of {len(wanted)} never came, such as {sorted(missing)[:5]}")
    seen = [n for n in seen if n in set(wanted)]
    lib.check(len(seen) == len(set(seen)), f"{what}: {len(seen) - len(set(seen))} came twice")


def noticed(dump, since, word):
    """A loss with a window that begins before `since`, in time, and the state with its reason."""
    end = since + 10
    while not dump.lost and time.monotonic() < end:
        child()
        time.sleep(0.02)
    if not lib.check(dump.lost, f"{word}: no loss was told"):
        return
    took = dump.lost[0]["at"] - since
    lib.say(f"{word}: noticed after {took:.3f} s")
    lib.check(took <= NOTICED, f"{word}: noticed after {took:.3f} s")
    lib.check(dump.lost[0]["at"] - dump.lost[0]["lost"] <= since + 0.05, f"{word}: the window begins too late")
    dump.wait(lambda: dump.changes, "the state")
    lib.check(dump.changes[-1]["state"] == 3 and word in dump.changes[-1].get("reason", ""), f"{dump.changes}")
    lib.check(dump.changes[-1].get("remedy"), f"{dump.changes}")


def recovered(dump, off, back):
    """A second window up to now, without a hole between the two, and the state again."""
    n = child()
    dump.await_child(n)
    dump.wait(lambda: dump.changes[-1]["state"] == 1, "the state to be open again")
    if not lib.check(len(dump.lost) == 2, f"{dump.lost}"):
        return
    first, second = dump.lost
    lib.check(second["at"] - second["lost"] <= first["at"] + 0.01, "a hole between the windows")
    lib.check(back - 0.01 <= second["at"] <= back + NOTICED, f"back after {second['at'] - back:.3f} s")
    lib.check(off < back, "the clock")


def require_off():
    """These tests switch accounting; they do so only where nobody uses it."""
    dump = Dump("auto")
    if dump.opened["open"] is None:
        lib.skip("pacctdump does not run")
    if dump.opened["open"] == 0:
        dump.stop()
        lib.skip("somebody uses accounting on this host")
    dump.gone()
    if os.geteuid() or dump.opened["error"] == 95:
        lib.skip(dump.opened.get("reason", "not root"))
    lib.check(dump.opened["error"] == 61, f"off: {dump.opened}")
    lib.check("accton" in dump.opened.get("remedy", ""), f"off: {dump.opened}")


class Place:
    """A directory for accounting files, on its own file system if `size` is given; accounting is off behind it."""

    def __init__(self, size=None):
        self.mounted = size is not None
        self.dir = os.path.join(lib.scratch, f"place.{time.monotonic_ns()}")
        os.mkdir(self.dir)
        if self.mounted:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", self.dir], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        acct(None)
        if self.mounted:
            subprocess.run(["umount", "-l", self.dir], check=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def create(self, name):
        with open(self.path(name), "wb"):
            pass
        return self.path(name)


def fill(place):
    """Leaves no room on its file system."""
    filler = os.open(place.path("filler"), os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(filler, bytes(4096))
    except OSError:
        os.close(filler)


@contextlib.contextmanager
def room_asked():
    """Accounting asks each second whether there is room, as long as this lasts."""
    path = "/proc/sys/kernel/acct"
    with open(path, encoding="ascii") as f:
        before = f.read()
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write("4 2 1")
        yield
    finally:
        with open(path, "w", encoding="ascii") as f:
            f.write(before)
