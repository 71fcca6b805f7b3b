# SPDX-License-Identifier: MIT
"""Programs that read a file and end: what CPU they take for it, ours and the peers in turn."""
import json
import os
import shutil
import subprocess
import time

import measure
from collectors import CannotRun

RECORDS = 1_000_000
EVENTS = 200_000

# What they need to be given, with the file behind it.
PEERS = {
    "lastcomm": ["lastcomm", "-f"],
    "dump-acct": ["dump-acct"],
    "sa": ["sa"],
    "ausearch": ["ausearch", "--raw", "-if"],
    "aureport": ["aureport", "-if"],
}
# Once is enough to know.
SLOW = {"aureport"}


def cpu_seconds(argv):
    """CPU and elapsed seconds of a program whose output goes nowhere."""
    start = time.monotonic()
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise CannotRun(f"{argv[0]} ended with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - start


class Runs:
    """Several programs over one file, in turn in each round."""

    def __init__(self, bench, what, commands):
        self.bench, self.what, self.commands = bench, what, commands
        self.found = {name: [] for name in commands}

    def run(self):
        for number in range(self.bench.rounds):
            self.bench.progress(f"{self.what}, round {number + 1} of {self.bench.rounds}")
            for name, argv in list(self.commands.items()):
                if name in SLOW and number:
                    continue
                try:
                    self.found[name].append(cpu_seconds(argv))
                except CannotRun as reason:
                    self.bench.table.note(f"{name}: {reason}")
                    del self.commands[name], self.found[name]
        for name, pairs in self.found.items():
            cpu, elapsed = (measure.median(column) for column in zip(*pairs))
            self.bench.table.figures([(name, f"{cpu:.3f} s of CPU, {elapsed:.3f} s in all")])

    def ratio(self, name, other):
        """The median of the ratios of CPU within each round."""
        pairs = zip(self.found.get(name, []), self.found.get(other, []))
        return measure.median([a[0] / b[0] for a, b in pairs if b[0]])


def with_peers(bench, ours, peers, path):
    """Our commands and those of the peers that are installed."""
    commands = dict(ours)
    for name in peers:
        if name not in bench.peers:
            continue
        if shutil.which(PEERS[name][0]):
            commands[name] = [*PEERS[name], path]
        else:
            bench.table.note(f"{name}: not installed")
    return commands


def count(path, mark):
    with open(path, "rb") as f:
        return sum(1 for line in f if mark in line)


def pacct_file(bench):
    """An accounting file with what a busy host has in it, and how many processes ended in it."""
    if "pacct" not in bench.cache:
        path = os.path.join(bench.scratch, "pacct")
        with open(path, "wb") as f:
            subprocess.run([bench.helper("mkpacct"), "v3", str(RECORDS)], stdin=subprocess.DEVNULL, stdout=f,
                           check=True)
        with open(path, "rb") as f:
            data = f.read()
        # ac_mem 0 without AFORK: what the kernel writes of a process that closes the file, and lives on
        phantoms = sum(1 for p in range(0, len(data), 64) if not data[p] & 1 and data[p + 36:p + 38] == b"\0\0")
        bench.cache["pacct"] = path, len(data) // 64 - phantoms
    return bench.cache["pacct"]


def pacct_replay(bench):
    path, exits = pacct_file(bench)
    out = os.path.join(bench.scratch, "replay.jsonl")
    replay = [bench.exeunt, "replay", "--quiet", "--json"]
    runs = Runs(bench, "accounting records", with_peers(bench, {
        "exeunt": [*replay, "-o", "/dev/null", path], "exeunt, to a file": [*replay, "-o", out, path],
    }, ("lastcomm", "dump-acct"), path))
    runs.run()
    told = count(out, b'"type":"exit"')
    bench.table.verdict("exits told", f"{told} ({RECORDS - exits} records of no exit)", f"{exits}", told == exits)
    os.unlink(out)
    bench.table.target("exeunt / lastcomm", runs.ratio("exeunt", "lastcomm"), 0.3)


def report(bench):
    path, exits = pacct_file(bench)
    argv = [bench.exeunt, "report", "--quiet", path]
    runs = Runs(bench, "report", with_peers(bench, {"exeunt": argv}, ("sa",), path))
    runs.run()
    rows = subprocess.run([*argv, "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
    told = sum(json.loads(line).get("exits", 0) for line in rows.splitlines())
    bench.table.verdict("exits told", str(told), f"{exits}", told == exits)
    bench.table.target("exeunt / sa", runs.ratio("exeunt", "sa"), 1.0)


def audit_events():
    """Exits as auditd writes them with log_format = ENRICHED, two records each."""
    names = ("sh", "make", "cc1", "sed", "python3.11", "gcc-12", "cat", "rm")
    for n in range(EVENTS):
        stamp = f"{1700000000 + n // 1000}.{n % 1000:03d}:{n + 100}"
        name, uid, pid = names[n * 7 % 8], 1000 + n % 50, 1000 + n % 30000
        ids = f"uid={uid} gid=100 euid={uid} suid={uid} fsuid={uid} egid=100 sgid=100 fsgid=100"
        who = (f'AUID="u{uid}" UID="u{uid}" GID="users" EUID="u{uid}" SUID="u{uid}" FSUID="u{uid}" EGID="users" '
               f'SGID="users" FSGID="users"')
        yield (f"type=SYSCALL msg=audit({stamp}): arch=c000003e syscall=231 a0={n % 3:x} a1=e7 a2=3c "
               f"a3=7ffd4f1a{n % 65536:04x} items=0 ppid={pid - 1} pid={pid} auid={uid} {ids} tty=pts{n % 9} "
               f'ses={n % 300} comm="{name}" '
               f'exe="/usr/bin/{name}" subj=unconfined key="exits"\x1dARCH=x86_64 SYSCALL=exit_group {who}\n'
               f"type=PROCTITLE msg=audit({stamp}): proctitle={name.encode().hex()}002D6F002F746D702F{n % 65536:04X}\n")


def audit_replay(bench):
    path, out = (os.path.join(bench.scratch, name) for name in ("audit.log", "audit.jsonl"))
    with open(path, "w", encoding="ascii") as f:
        f.writelines(audit_events())
    replay = [bench.exeunt, "replay", "--quiet", "--json"]
    runs = Runs(bench, "audit log", with_peers(bench, {"exeunt": [*replay, "-o", "/dev/null", path]},
                                               ("ausearch", "aureport"), path))
    runs.run()
    cpu_seconds([*replay, "-o", out, path])
    told = count(out, b'"type":"exit"')
    bench.table.verdict("exits told", f"{told}, from {os.path.getsize(path) / 1e6:.0f} MB", f"{EVENTS}", told == EVENTS)
    bench.table.target("exeunt / ausearch", runs.ratio("exeunt", "ausearch"), 0.15)
    for name in (path, out):
        os.unlink(name)
