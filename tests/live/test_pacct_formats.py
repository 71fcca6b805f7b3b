#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The same processes written by the kernel and by a writer of our own in every format and byte order: equal records."""
import os
import signal
import subprocess
import time

import lib
from accounting import Place, acct, require_off

COUNT = 10000
UID_BASE = 20000  # version 0 has 16 bits for it
FORMATS = ("v0", "v0-be", "v0-m68k", "v1", "v1-be", "v2", "v2-be", "v3", "v3-be")
EQUAL = ("process.exit.status", "process.exit.code", "process.exit.signal", "process.exit.core_dumped",
         "process.exit.cause", "process.user.id", "process.group.id", "process.comm", "process.forked_not_execed",
         "process.used_privilege", "process.tty", "usage.elapsed_us", "usage.cpu.user_us", "usage.cpu.system_us",
         "usage.memory.vm_at_exit_bytes", "usage.faults.minor", "usage.faults.major", "sources")
PIDS = ("process.pid", "process.parent_pid")


def lives():
    """Processes that take a while, work, and are killed; (pid, wait status, ns of life)."""
    begun, told = {}, []
    for i in range(40):
        at = time.monotonic_ns()
        pid = os.fork()
        if not pid:
            end = time.process_time() + (i % 8) * 0.02
            while time.process_time() < end:
                pass
            time.sleep((i % 7) * 0.3)
            if i % 5 == 4:
                os.kill(os.getpid(), signal.SIGKILL if i % 2 else signal.SIGUSR1)
            os._exit(i)
        begun[pid] = at
    while begun:
        pid, status = os.wait()
        told.append((pid, status, time.monotonic_ns() - begun.pop(pid)))
    return told


def replay(path):
    """The exit records of a file, in their order."""
    out = subprocess.run([lib.EXEUNT, "replay", "--json", "-n", path], stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    lib.check(out.returncode == 0 and not out.stderr, f"replay {path}: {out.returncode}, {out.stderr}")
    lines = lib.parse_lines(out.stdout)
    lib.check(not [r for r in lines if r["type"] == "loss"], f"{path}: a loss")
    return [r for r in lines if r["type"] == "exit"]


def replay_raw(raw):
    path = os.path.join(lib.scratch, "raw")
    with open(path, "wb") as f:
        f.write(raw)
    return replay(path)


def check_truth(records, parent, log, told):
    """What the kernel wrote, against what we know of the processes."""
    by_uid = {lib.get(r, "process.user.id"): r for r in records if lib.get(r, "process.parent_pid") == parent}
    true = lib.read_log(log)
    lib.check(len(true) == COUNT == len(by_uid), f"{len(true)} ended, {len(by_uid)} records")
    wrong = 0
    for number, (pid, code, real_ns) in enumerate(true):
        r = by_uid.get(UID_BASE + number, {})
        at = lib.nanoseconds(lib.get(r, "process.exit.time")) if r else 0
        wrong += (lib.get(r, "process.pid"), lib.get(r, "process.exit.status")) != (pid, code << 8) or \
            abs(at - real_ns) > lib.get(r, "process.exit.precision_ns") + lib.LATE_NS
    lib.check(not wrong, f"{wrong} of {COUNT} with another pid, status or time")
    by_pid = {lib.get(r, "process.pid"): r for r in records if lib.get(r, "process.parent_pid") == os.getpid()}
    for pid, status, life_ns in told:
        r = by_pid.get(pid, {})
        lib.check(lib.get(r, "process.exit.status") == status, f"{pid}: status {status}: {r}")
        elapsed = lib.get(r, "usage.elapsed_us") or 0
        lib.check(elapsed * 1000 <= life_ns, f"{pid}: lived {life_ns} ns: {r}")


def same(name, path, a, b):
    """Elapsed ticks have a mantissa of 13 bits in version 0, of 20 in 1 and 2, of 24 in 3; rounded, and cut off in 3."""
    if path != "usage.elapsed_us" or a is None or b is None:
        return a == b
    base, most = {"v0": (8, 1 << 13), "v1": (2, 1 << 20), "v2": (2, 1 << 20), "v3": (2, 1 << 24)}[name[:2]]
    step = 1
    while a / 10000 >= most * step:
        step *= base
    return abs(a - b) <= (step / 2) * 10000 if step > 1 else a == b


def compare(name, reference, records):
    """`records` of another format: all that this format can say is the same."""
    if not lib.check(len(records) == len(reference), f"{name}: {len(records)} records, {len(reference)} in v3"):
        return
    wrong = {}
    for a, b in zip(reference, records):
        for path in EQUAL + (PIDS if name.startswith("v3") else ()):
            if not same(name, path, lib.get(a, path), lib.get(b, path)):
                wrong.setdefault(path, []).append((lib.get(a, path), lib.get(b, path)))
        for path in ("process.creation", "process.exit"):
            x, y = lib.get(a, path), lib.get(b, path)
            off = abs(lib.nanoseconds(x["time"]) - lib.nanoseconds(y["time"]))
            if off > y["precision_ns"]:
                wrong.setdefault(path + ".time", []).append((x, y))
        if not name.startswith("v3") and (lib.get(b, "process.pid") is not None or
                                          lib.get(b, "process.parent_pid") is not None):
            wrong.setdefault("a pid", []).append(b)
    for path, cases in wrong.items():
        lib.check(False, f"{name}: {len(cases)} with another {path}: {cases[:3]}")


def lastcomm(path, records):
    """Name, user, controlling terminal and CPU time, as lastcomm has them; it goes backwards."""
    text = subprocess.run(["lastcomm", "-f", path], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout.decode()
    lines = text.splitlines()[::-1]
    lib.check(len(lines) == len(records), f"lastcomm: {len(lines)} lines, {len(records)} records")
    wrong = []
    for line, r in zip(lines, records):
        words = line.split()
        cpu = sum(lib.get(r, f"usage.cpu.{k}_us") for k in ("user", "system")) / 1e6
        user = lib.get(r, "process.user.id")
        secs = float(words[words.index("secs") - 1])
        name = "root" if user == 0 else str(user)
        flags = "".join(words[1:words.index(name)]) if name in words else None
        if words[0] != lib.get(r, "process.comm") or abs(secs - cpu) > 0.006 or flags is None or \
                ("F" in flags) != lib.get(r, "process.forked_not_execed"):
            wrong.append((line, r))
    lib.check(not wrong, f"lastcomm disagrees on {len(wrong)}: {wrong[:2]}")


def dump_acct(path, records):
    """Name, CPU and elapsed ticks, uid, gid, memory, begin, and with v3 pid and ppid, as dump-acct has them."""
    text = subprocess.run(["dump-acct", path], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "LC_ALL": "C", "TZ": "UTC"}).stdout.decode()
    lines = text.splitlines()
    lib.check(len(lines) == len(records), f"dump-acct: {len(lines)} lines, {len(records)} records")
    wrong = []
    for line, r in zip(lines, records):
        words = [w.strip() for w in line.split("|")]
        ticks = [round(lib.get(r, f"usage.{k}") / 10000) for k in ("cpu.user_us", "cpu.system_us", "elapsed_us")]
        mine = [lib.get(r, "process.comm"), *map(str, ticks), str(lib.get(r, "process.user.id")),
                str(lib.get(r, "process.group.id"))]
        theirs = [words[0], *[str(round(float(w))) for w in words[2:5]], words[5], words[6]]
        if lib.get(r, "process.pid") is not None:
            mine += [str(lib.get(r, "process.pid")), str(lib.get(r, "process.parent_pid"))]
            theirs += words[9:11]
        if mine != theirs:
            wrong.append((mine, theirs, line))
    lib.check(not wrong, f"dump-acct disagrees on {len(wrong)}: {wrong[:2]}")


def every_format():
    """10,000 processes, every version, either byte order"""
    log = os.path.join(lib.scratch, "log")
    with Place() as place:
        path = place.create("pacct")
        acct(path)
        load = lib.finish(lib.loader("--count", COUNT, "--exit-codes", "--uid-encode", "--uid-base", UID_BASE, log=log))
        told = lives()
        acct(None)
        with open(path, "rb") as f:
            raw = f.read()
        records = [raw[i:i + 64] for i in range(0, len(raw), 64)]
        with open(path, "wb") as f:  # without what accton(8) leaves of itself, which has not ended (no memory, no AFORK)
            f.write(b"".join(r for r in records if r[0] & 1 or r[36:38] != b"\0\0"))
        reference = replay(path)
        lib.check(len(replay_raw(raw)) == len(reference), "what has not ended is told as an end")
        check_truth(reference, load["pid"], log, told)
        dump_acct(path, reference)
        lastcomm(path, reference)
        for name in FORMATS:
            other = place.path(name)
            with open(path, "rb") as f, open(other, "wb") as to:
                subprocess.run([lib.helper("mkpacct"), name, "-"], stdin=f, stdout=to, check=True)
            began = time.monotonic()
            compare(name, reference, replay(other))
            lib.say(f"{name}: {os.path.getsize(other)} bytes, {time.monotonic() - began:.2f} s")


lib.main(require_off, every_format)
