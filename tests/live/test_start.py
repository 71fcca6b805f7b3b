#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Started by others: with descriptors closed, signals ignored, few files; stopped for a while; files that are both ends."""
import json
import os
import resource
import shutil
import signal
import subprocess
import time

import lib


def run(*options, before=None, **more):
    """exeunt with these options; returns (exit status, stdout, stderr)."""
    done = subprocess.run([lib.EXEUNT, *map(str, options)], preexec_fn=before, timeout=30, check=False,
                          **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more})
    return done.returncode, done.stdout or b"", done.stderr or b""


def live(*options, **more):
    return run("live", "--json", "--source", "taskstats", "--duration", "0.3s", *options, **more)


def is_whole(text):
    """JSON Lines from start to stop."""
    types = [json.loads(line)["type"] for line in text.splitlines()]
    return len(types) > 1 and types[0] == "start" and types[-1] == "stop"


def closed_descriptors():
    """no file takes the place of a descriptor that was closed"""
    out = os.path.join(lib.scratch, "closed.json")
    for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
        def close(closed=closed):
            for fd in closed:
                os.close(fd)
        status, _, _ = live("--output", out, before=close)
        with open(out, "rb") as f:
            text = f.read()
        lib.check(status == 0 and is_whole(text), f"{closed} closed: status {status}, {text[:100]}")
        if 1 in closed:
            status, _, err = live(before=close)
            lib.check(status == 1, f"{closed} closed, and output to it: status {status}")
            lib.check(2 in closed or b"standard output" in err, f"{closed} closed: {err}")


def signals_ignored():
    """SIGCHLD ignored, as some daemons leave it to their children: the test children are still known to end"""
    status, out, err = live(before=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    lib.check(status == 0 and is_whole(out), f"status {status}: {err}")


def few_files():
    """without descriptors it says what is missing, and leaves nothing that cannot be stopped"""
    told = set()
    for most in range(4, 16):
        status, out, err = live(before=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
        lib.check(status in (0, 1, 3), f"{most} files: status {status}")
        lib.check(is_whole(out) if status == 0 else err, f"{most} files: {err}")
        told |= {line for line in err.splitlines() if status == 3}
    lib.check(told and all(b"file descriptors" in line for line in told), f"few files: {told}")
    status, out, err = live(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (6, 4096)))
    lib.check(status == 0 and is_whole(out), f"a limit that may be raised: status {status}, {err}")


def both_ends():
    """a file is not replayed into itself"""
    capture, link = os.path.join(lib.scratch, "a.cap"), os.path.join(lib.scratch, "b.cap")
    status, _, err = run("capture", "--source", "taskstats", "--duration", "0.3s", capture)
    lib.check(status == 0, f"capture: {err}")
    shutil.copy(capture, capture + ".copy")
    os.link(capture, link)
    for options in ((capture, "--output", capture), (link, "--output", capture)):
        status, _, err = run("replay", "--json", *options)
        lib.check(status == 2 and b"output" in err, f"{options}: status {status}, {err}")
    with open(capture, "ab") as f:
        status, _, err = run("replay", "--json", capture, stdout=f)
    lib.check(status == 2, f"appended to itself: status {status}, {err}")
    with open(capture, "rb") as a, open(capture + ".copy", "rb") as b:
        lib.check(a.read() == b.read(), "the input was changed")
    status, out, err = run("replay", "--json", capture, capture)
    lib.check(status == 0 and is_whole(out), f"the same twice is allowed: {err}")


def full_device():
    """a batch that cannot be written ends, and says so"""
    capture = os.path.join(lib.scratch, "a.cap")
    with open("/dev/full", "wb") as full:
        status, _, err = run("replay", "--json", capture, stdout=full)
    lib.check(status == 1 and b"No space left" in err, f"status {status}: {err}")
    lib.check(err.count(b"\n") <= 3, f"told again and again: {err}")


def stopped():
    """stopped while nothing happens, and one process ends meanwhile: its time is told as well as it can be known"""
    exeunt = lib.Exeunt()
    time.sleep(0.5)
    exeunt.process.send_signal(signal.SIGSTOP)
    time.sleep(0.2)
    child = subprocess.Popen(["true"])
    child.wait()
    ended = time.time_ns()
    time.sleep(4)
    exeunt.process.send_signal(signal.SIGCONT)
    time.sleep(0.5)
    exeunt.stop()
    records = [r for r in exeunt.exits()
               if lib.get(r, "process.pid") == child.pid and lib.get(r, "process.parent_pid") == os.getpid()]
    lib.check(len(records) == 1, f"{len(records)} records")
    for r in records:
        at = lib.nanoseconds(lib.get(r, "process.exit.time"))
        precision = lib.get(r, "process.exit.precision_ns")
        lib.check(at - precision - lib.LATE_NS <= ended <= at + lib.LATE_NS,
                  f"ended {(at - ended) / 1e9:.3f} s before the time told, which claims {precision / 1e9:.3f} s")


if __name__ == "__main__":
    lib.main(closed_descriptors, signals_ignored, few_files, both_ends, full_device, stopped)
