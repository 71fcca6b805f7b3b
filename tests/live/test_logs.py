#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The journal and syslog sinks, with loggers of our own: each exit once; slow, dead and missing loggers cost what is told."""
import json
import os
import re
import shlex
import socket
import struct
import subprocess
import threading

import lib
from daemon import Daemon, check_whole, read, scratch

GROUP = 4712  # only exits of this real group count: others end meanwhile
HOSTILE = "x\nPRIORITY=0\nMESSAGE=forged\x1d\x1b[2J'\""


class Logger(threading.Thread):
    """Who serves such a socket; reads once it may."""

    def __init__(self, path):
        super().__init__(daemon=True)
        if os.path.exists(path):
            os.unlink(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.socket.settimeout(0.1)
        self.path, self.entries, self.reads, self.ended = path, [], threading.Event(), False
        self.start()

    def run(self):
        self.reads.wait()
        while True:
            try:
                self.entries.append(self.socket.recv(1 << 20))
            except TimeoutError:
                if self.ended:
                    return

    def close(self):
        """What comes is read first; what a logger has not read when it dies nobody knows."""
        self.reads.set()
        self.ended = True
        self.join()
        self.socket.close()
        os.unlink(self.path)


def journal_fields(entry):
    """As systemd.io/JOURNAL_NATIVE_PROTOCOL has it."""
    found, at = {}, 0
    while at < len(entry):
        end = entry.index(b"\n", at)
        name, equals, value = entry[at:end].partition(b"=")
        if not equals:
            size = struct.unpack_from("<Q", entry, end + 1)[0]
            value, end = entry[end + 9:end + 9 + size], end + 9 + size
        lib.check(entry[end:end + 1] == b"\n" and re.fullmatch(rb"[A-Z][A-Z0-9_]{0,63}", name), f"not an entry: {entry!r}")
        lib.check(name not in found, f"{name} twice")
        found[name.decode()] = value
        at = end + 1
    return found


def syslog_fields(line):
    """key=value, with strings in quotes."""
    lib.check(len(line) < 1024 and re.fullmatch(rb"[ -~]*", line), f"not a line for syslog: {line!r}")
    m = re.fullmatch(rb"<(\d+)>\w{3} [ \d]\d \d\d:\d\d:\d\d exeunt\[\d+\]: (.*)", line)
    if not lib.check(m, f"not a line for syslog: {line!r}"):
        return {}
    found = {"PRIORITY": int(m.group(1))}
    for name, text, plain in re.findall(rb'([\w.]+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))', m.group(2)):
        text = re.sub(rb"\\(x[0-9a-f]{2}|.)", lambda e: bytes.fromhex(e.group(1)[1:].decode()) if len(e.group(1)) == 3
                      else e.group(1), text)
        lib.check(name.decode() not in found, f"{name} twice")
        found[name.decode()] = plain.decode() or text
    return found



def as_record(pid, parent, found):
    """What lib.match() needs of one."""
    return {"process": {"pid": int(pid), "parent_pid": int(parent)}, "found": found}


def mkexit(*args):
    return subprocess.Popen([lib.helper("mkexit"), *map(str, args)], group=GROUP, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE)


def truths_of(process):
    with process:
        found = [json.loads(line) for line in process.stdout.read().splitlines()]
    lib.check(process.returncode == 0, f"mkexit: {process.returncode}")
    return found


def odd_cases():
    out = subprocess.run([lib.helper("mkexit"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[0] for line in out.splitlines() if line.startswith("name-")]


def check_journal(entries, truths):
    exits = [f for f in entries if f["EXEUNT_TYPE"] == b"exit"]
    pairs = lib.match([as_record(f["EXEUNT_PROCESS_PID"], f["EXEUNT_PROCESS_PARENT_PID"], f) for f in exits], truths)
    lib.check(len(pairs) == len(truths), f"journal: {len(pairs)} of {len(truths)}")
    for truth, record in pairs:
        f, want = record["found"], bytes.fromhex(truth["comm_hex"])
        lib.check(f["EXEUNT_PROCESS_COMM"] == want, f"{lib.title(truth)}: {f['EXEUNT_PROCESS_COMM']!r}, not {want!r}")
        lib.check(int(f["EXEUNT_PROCESS_EXIT_STATUS"]) == truth["status"], f"{lib.title(truth)}: another status")
        level = b"5" if "signal" in truth or truth["code"] else b"6"
        lib.check(f["PRIORITY"] == level, f"{lib.title(truth)}: priority {f['PRIORITY']}, not {level}")
        lib.check(not re.search(rb"[\x00-\x1f\x7f]", f["MESSAGE"]), f"a raw control byte: {f['MESSAGE']!r}")


def check_syslog(lines, truths):
    exits = [f for f in lines if f["type"] == "exit"]
    pairs = lib.match([as_record(f["pid"], f["ppid"], f) for f in exits], truths)
    lib.check(len(pairs) == len(truths), f"syslog: {len(pairs)} of {len(truths)}")
    for truth, record in pairs:
        f, want = record["found"], bytes.fromhex(truth["comm_hex"])
        lib.check(f["comm"] == want, f"{lib.title(truth)}: {f['comm']!r}, not {want!r}")
        if "signal" in truth:
            lib.check("signal" in f and "code" not in f, f"{lib.title(truth)}: not killed?")
        else:
            lib.check(f.get("code") == str(truth["code"]), f"{lib.title(truth)}: code {f.get('code')}")


def each_once():
    """odd names and hostile arguments, each once and whole"""
    journal, syslog = Logger(scratch("journal")), Logger(scratch("log"))
    journal.reads.set()
    syslog.reads.set()
    roomy = ("--rate", 100000, "--buffer", "32M")  # for all of it, however late our loggers get to read
    d = Daemon("--filter", f"gid == {GROUP}", "--to", f"journal:{journal.path}", *roomy, "--to", f"syslog:{syslog.path}", *roomy,
               source="taskstats,procevents")
    truths = truths_of(mkexit(*odd_cases(), "exit-3", "exit-255", "signal-9", "--count", 50))
    subprocess.run(["/bin/true", HOSTILE, ""], group=GROUP, check=True)
    d.stop()
    journal.close()
    syslog.close()
    entries, lines = list(map(journal_fields, journal.entries)), list(map(syslog_fields, syslog.entries))
    check_journal(entries, truths)
    check_syslog(lines, truths)
    hostile = [f for f in entries if shlex.split(f.get("EXEUNT_PROCESS_COMMAND_ARGS", b"").decode(errors="replace"))
               == ["/bin/true", HOSTILE, ""]]
    lib.check(len(hostile) == 1, f"{len(hostile)} entries with hostile arguments")
    for what, seqs, kinds in (
            ("journal", [int(f["EXEUNT_SEQ"]) for f in entries], [f["EXEUNT_TYPE"].decode() for f in entries]),
            ("syslog", [int(f["seq"]) for f in lines], [f["type"] for f in lines])):
        lib.check(seqs == list(range(1, len(seqs) + 1)), f"{what}: seq does not count 1, 2, 3 ...")
        lib.check(kinds[0] == "start" and kinds[-1] == "stop", f"{what}: from {kinds[0]} to {kinds[-1]}")


def slow_and_gone():
    """a logger that does not read, dies, and comes back; the sink beside it has all"""
    log, out = Logger(scratch("slow")), scratch("beside")
    d = Daemon("--filter", f"gid == {GROUP}", "--to", f"syslog:{log.path}", "--rate", 100000, "--buffer", "64K",
               "--to", f"json:{out}")
    truths = truths_of(mkexit("exit-3", "--count", 3000))
    log.close()
    first = log.entries
    truths += truths_of(mkexit("exit-4", "--count", 20))
    d.await_error(f"cannot write to '{log.path}'")
    log = Logger(scratch("slow"))
    log.reads.set()
    d.await_error("works again")
    d.stop()
    log.close()
    records = lib.parse_lines(read(out))
    check_whole(records)
    lib.check(len(lib.match([r for r in records if r["type"] == "exit"], truths)) == 3020, "not all as JSON")
    lines = list(map(syslog_fields, first + log.entries))
    told = sum(int(f["count"]) for f in lines if f["type"] == "loss" and f["source"] == "output")
    seqs = [int(f["seq"]) for f in lines]
    lib.check(seqs == sorted(set(seqs)), "out of order, or twice")
    lib.check(lines[-1]["type"] == "stop" and seqs[-1] == len(seqs) + told > len(seqs),
              f"{len(seqs)} lines up to {seqs[-1]}, {told} told as lost")
    lib.check(lines[-1]["lost_output"] == str(told), f"the stop record says {lines[-1]['lost_output']} lost, {told} were told")


def rate():
    """the rate cuts, and what it cuts is told"""
    log = Logger(scratch("rate"))
    log.reads.set()
    d = Daemon("--filter", f"gid == {GROUP}", "--to", f"syslog:{log.path}", "--rate", 50)
    truths_of(mkexit("exit-3", "--count", 2000))
    d.stop()
    log.close()
    lines = list(map(syslog_fields, log.entries))
    exits = sum(f["type"] == "exit" for f in lines)
    told = sum(int(f["count"]) for f in lines if f["type"] == "loss" and f["source"] == "output")
    lib.check(50 <= exits < 2001 and exits + told == 2001, f"{exits} exits, {told} told, of 2001")


def nobody():
    """no logger at all: it runs, says so, and ends"""
    d = Daemon("--to", f"journal:{scratch('none')}")
    d.await_error("cannot write to")
    d.stop()
    lib.check("nobody took the last" in d.errors(), d.errors())


lib.main(each_once, slow_and_gone, rate, nobody)
