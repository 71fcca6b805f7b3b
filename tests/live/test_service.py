#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run as a service: what it tells the manager and when, as whom it goes on, and that its unit allows enough."""
import glob
import os
import re
import signal
import socket
import time

import lib
from accounting import acct, require_off
from daemon import Daemon, exits_of, read, scratch

UNIT = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "exeunt.service")
NOBODY = 65534


def status_of(pid, key):
    """of each thread"""
    values = set()
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path) as f:
            values.add(re.search(rf"^{key}:\s*(\S+)", f.read(), re.M).group(1))
    return values


def told(d, text):
    return [i for i, message in enumerate(d.told) if text in message.split("\n")]


def life():
    """ready behind the start record, status, reload, and the end"""
    out = scratch("life.json")
    d = Daemon("--to", f"json:{out}", "--status", 1)
    ready_ns = time.time_ns()
    lib.check(told(d, "READY=1") == [0], f"the first word is {d.told}")
    _, truths = lib.mkexit("exit-7")
    d.await_told("STATUS=")
    before = len(d.told)
    d.reload()
    lib.check(re.search(r"^MONOTONIC_USEC=\d+$", "\n".join(d.told[before:]), re.M), f"a reload told {d.told[before:]}")
    d.process.send_signal(signal.SIGTERM)
    d.await_told("STOPPING=1")
    d.wait()
    lib.check(not told(d, "WATCHDOG=1"), "a watchdog that nobody asked for")
    records = lib.parse_lines(read(out))
    lib.check_stream(records)
    lib.check(lib.nanoseconds(records[0]["time"]) <= ready_ns, "it was ready before the start record")
    lib.check(len(exits_of(records, truths[0]["parent_pid"])) == 1, "what ended when it was ready is missing")


def watchdog():
    """its loop tells that it turns, if it is this process that is asked"""
    os.environ["WATCHDOG_USEC"] = "200000"
    try:
        d = Daemon("--to", f"json:{scratch('dog.json')}")
        for _ in range(3):
            d.await_told("WATCHDOG=1")
        d.process.send_signal(signal.SIGSTOP)
        time.sleep(0.3)
        n = len(d.told)
        drain(d)
        time.sleep(0.7)
        lib.check(drain(d) == 0, f"it stands still, and tells {d.told[n:]}")
        d.process.send_signal(signal.SIGCONT)
        d.await_told("WATCHDOG=1")
        d.stop()
        os.environ["WATCHDOG_PID"] = "1"
        d = Daemon("--to", f"json:{scratch('nodog.json')}", "--duration", 1)
        d.process.wait(lib.STOP_TIMEOUT)
        drain(d)
        d.wait()
        lib.check(told(d, "STOPPING=1") and not told(d, "WATCHDOG=1"), f"asked of another process, it told {d.told}")
    finally:
        os.environ.pop("WATCHDOG_USEC", None)
        os.environ.pop("WATCHDOG_PID", None)


def drain(d):
    """What was told meanwhile; returns how much."""
    n = len(d.told)
    d.socket.setblocking(False)
    try:
        while True:
            d.told.append(d.socket.recv(4096).decode())
    except BlockingIOError:
        return len(d.told) - n


def not_ready():
    """a sink that cannot begin: never ready"""
    d = Daemon("--to", f"metrics:{scratch('no/such/folder.prom')}", wait=False)
    d.process.wait(lib.STOP_TIMEOUT)
    drain(d)
    d.wait(1)
    lib.check(not told(d, "READY=1"), f"it told {d.told}")


def as_another_user():
    """files opened again as a user without a privilege, and one that it may not open"""
    folder = scratch("nobody")
    os.mkdir(folder)
    os.chown(folder, NOBODY, NOBODY)
    os.chmod(lib.scratch, 0o755)
    may, not_his = f"{folder}/may.json", scratch("root.json")
    d = Daemon("--to", f"json:{may}", "--to", f"json:{not_his}", "--user", str(NOBODY))
    pid = d.process.pid
    lib.check(status_of(pid, "Uid") == {str(NOBODY)}, f"it is user {status_of(pid, 'Uid')}")
    lib.check(status_of(pid, "CapEff") == {"0" * 16}, f"it can {status_of(pid, 'CapEff')}")
    lib.check(status_of(pid, "NoNewPrivs") == {"1"}, "it could get privileges")
    first = lib.mkexit("exit-1")[1]
    os.rename(may, may + ".1")
    os.rename(not_his, not_his + ".1")
    d.reload()
    second = lib.mkexit("exit-2")[1]
    d.stop()
    lib.check(os.stat(may).st_uid == NOBODY, "the new file is not of the user")
    lib.check("cannot open" in d.errors() and "stays in use" in d.errors(), f"it says {d.errors()}")
    old, new = lib.parse_lines(read(may + ".1")), lib.parse_lines(read(may))
    lib.check_stream(old + new)
    lib.check(len(exits_of(old + new, first[0]["parent_pid"])) == 1, "the first exit is not there once")
    lib.check(len(exits_of(new, second[0]["parent_pid"])) == 1, "the second exit is not in the new file")
    lib.check_stream(lib.parse_lines(read(not_his + ".1")))
    lib.check(not os.path.exists(not_his), "a file in a folder that is not his")


def unit_capabilities():
    """names such as net_admin"""
    with open(UNIT) as f:
        text = f.read()
    names = " ".join(re.findall(r"^CapabilityBoundingSet=(.*)$", text, re.M)).split()
    return [name.lower().removeprefix("cap_") for name in names]


def within_the_unit():
    """with no capability but those of the unit: every source, sinks that need some; confined, and still at work"""
    require_off()
    names = unit_capabilities()
    lib.check("net_admin" in names and "sys_admin" not in names, f"the unit has {names}")
    exeunt, lib.EXEUNT = lib.EXEUNT, scratch("within")
    with open(lib.EXEUNT, "w") as f:
        f.write("#!/bin/sh\nexec setpriv --inh-caps=-all --bounding-set=-all,+" + ",+".join(names) +
                f" {exeunt} \"$@\"\n")
    os.chmod(lib.EXEUNT, 0o755)
    try:
        at_work()
    finally:
        lib.EXEUNT = exeunt
        acct(None)


def at_work():
    out, sock, prom = scratch("unit.json"), scratch("unit.sock"), scratch("unit.prom")
    d = Daemon("--to", f"json:{out}", "--to", f"socket:{sock}", "--to", f"metrics:{prom}", "--interval", 1,
               "--to", "plugin:/usr/bin/cat", "--pacct", "own", "--status", 1, source=None)
    pid = d.process.pid
    lib.check(status_of(pid, "Seccomp") == {"2"}, "a thread is not confined")
    lib.check(status_of(pid, "NoNewPrivs") == {"1"}, "it could get privileges")
    kept = 1 << 19 | 1 << 20  # to read who a process was, and to switch accounting
    lib.check({int(v, 16) & ~kept for v in status_of(pid, "CapPrm")} == {0}, f"it kept {status_of(pid, 'CapPrm')}")
    with socket.socket(socket.AF_UNIX) as reader:
        reader.connect(sock)
        lib.check(b'"type":"start"' in reader.recv(65536), "the socket does not answer")
        _, truths = lib.mkexit("exit-9", "--count", 50)
        lib.subprocess.run(["setpriv", "--reuid=4321", "--clear-groups", "true"], check=True)
        os.rename(out, out + ".1")
        d.reload()
        d.await_told("STATUS=")
    _, after = lib.mkexit("exit-9", "--count", 50)
    d.stop()
    records = lib.parse_lines(read(out + ".1")) + lib.parse_lines(read(out))
    lib.check_stream(records)
    names = [s["name"] for s in records[0]["exeunt"]["sources"] if s["state"] == "open"]
    lib.check({"taskstats", "procevents", "pacct"} <= set(names), f"only {names} are open")
    mine = exits_of(records, truths[0]["parent_pid"]) + exits_of(records, after[0]["parent_pid"])
    lib.check(len(mine) == 100, f"{len(mine)} of 100 ends")
    lib.check(all("pacct" in r["sources"] for r in mine), "accounting was not read")
    lib.check(all(lib.get(r, "process.executable.path") for r in mine), "an executable is not known")
    users = {lib.get(r, "process.user.name") for r in mine}
    lib.check(users == {"root"}, f"names are looked up: {users}")
    lib.check(os.path.getsize(prom) > 0, "no metrics")


lib.main(life, watchdog, not_ready, as_another_user, within_the_unit)
