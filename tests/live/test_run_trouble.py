#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt run in trouble: full disks, readers that are slow, stuck or gone, files that cannot be opened again."""
import os
import signal
import subprocess
import time

import lib
from daemon import Daemon, check_whole, count_exits, exits_of, read, scratch, wait_until


def mount(*args):
    subprocess.run(["mount", *args], check=True, stdin=subprocess.DEVNULL)


def full_disk():
    """a disk that fills and has room again: what the buffer did not hold is told exactly; told to people once"""
    place = scratch("disk")
    os.mkdir(place)
    mount("-t", "tmpfs", "-o", "size=1m,mode=755", "exeunt-test", place)
    try:
        path = os.path.join(place, "out")
        d = Daemon("--to", f"json:{path}", "--buffer", "64K", "--to", f"json:{scratch('beside')}")
        loads = [lib.finish(lib.loader("--count", 5000))]
        d.await_error("No space left on device")
        d.reload()  # nothing to be opened again, and no line to be torn
        loads.append(lib.finish(lib.loader("--count", 5000)))
        mount("-o", "remount,size=64m", place)
        d.await_error("works again")
        loads.append(lib.finish(lib.loader("--count", 1000)))
        d.stop()
        records = lib.parse_lines(read(path))
        beside = lib.parse_lines(read(scratch("beside")))
    finally:
        subprocess.run(["umount", place], check=True)
    lost = check_whole(records)
    lib.check(lost > 5000, f"only {lost} lost on a full disk")
    lib.check(sum(r["type"] == "loss" for r in records) < 20, "a gap for every few records")
    lib.check(len(exits_of(records, loads[2]["pid"])) == 1000, "an end is missing after there was room")
    lib.check(check_whole(beside) == 0, "the sink beside it lost something")
    got = [len(exits_of(beside, load["pid"])) for load in loads]
    lib.check(got == [5000, 5000, 1000], f"the sink beside it has {got}")
    lib.check(d.errors().count("No space left") == 1, f"told more than once: {d.errors()}")


def full_to_the_end():
    """a disk that stays full: the status tells, and the file ends with a whole line"""
    place = scratch("full")
    os.mkdir(place)
    mount("-t", "tmpfs", "-o", "size=64k,mode=755", "exeunt-test", place)
    try:
        path = os.path.join(place, "out")
        d = Daemon("--to", f"json:{path}")
        lib.finish(lib.loader("--count", 300))
        d.await_error("No space left on device")
        d.stop(want=1)
        lib.check("did not take all" in d.errors(), d.errors())
        records = lib.parse_lines(read(path))
    finally:
        subprocess.run(["umount", place], check=True)
    lib.check([r["seq"] for r in records] == list(range(1, len(records) + 1)), "seq does not count 1, 2, 3 ...")
    lib.check(len(records) > 10, f"only {len(records)} records")


def slow_reader():
    """a pipe that nobody reads for a while: everything else goes on, and the gap is told in its place"""
    reader, writer = os.pipe()
    d = Daemon("--to", "json:-", "--buffer", "64K", "--to", f"json:{scratch('quick')}", stdout=writer)
    os.close(writer)
    load = lib.finish(lib.loader("--count", 5000))
    wait_until(lambda: count_exits(scratch("quick"), load["pid"]) == 5000, "all in the other sink")
    d.process.send_signal(signal.SIGTERM)
    d.await_told("STOPPING=1")
    with os.fdopen(reader, "rb") as f:
        records = lib.parse_lines(f.read())
    d.wait()
    lost = check_whole(records)
    lib.check(lost > 3000, f"{lost} lost")
    lib.check(check_whole(lib.parse_lines(read(scratch("quick")))) == 0, "the quick sink lost something")


def reader_leaves():
    """the only reader: the end, and a quiet one; one of two: the other goes on"""
    reader, writer = os.pipe()
    d = Daemon("--to", "json:-", "--filter", "exit.code == 77 or uid == 0", stdout=writer)
    os.close(reader)
    os.close(writer)
    subprocess.run(["/bin/true"], check=True)
    d.wait(0)
    reader, writer = os.pipe()
    d = Daemon("--to", "json:-", "--to", f"json:{scratch('stays')}", stdout=writer)
    os.close(reader)
    os.close(writer)
    load = lib.finish(lib.loader("--count", 100))
    d.await_error("the reader of standard output went away")
    d.stop()
    records = lib.parse_lines(read(scratch("stays")))
    lib.check(len(exits_of(records, load["pid"])) == 100, "the other sink has not all")


def stuck_at_the_end():
    """a reader that never reads costs some seconds at the end; a second signal spares them"""
    for again in (False, True):
        reader, writer = os.pipe()
        d = Daemon("--to", "json:-", "--to", f"json:{scratch(f'stuck{again}')}", stdout=writer)
        load = lib.finish(lib.loader("--count", 500))
        d.process.send_signal(signal.SIGTERM)
        d.await_told("STOPPING=1")
        wait_until(lambda: b'"type":"stop"' in read(scratch(f"stuck{again}")), "the stop record of the other sink")
        if again:
            d.process.send_signal(signal.SIGTERM)
        d.wait(1)
        lib.check("sink json did not take all in time" in d.errors(), d.errors())
        records = lib.parse_lines(read(scratch(f"stuck{again}")))
        lib.check(len(exits_of(records, load["pid"])) == 500 and not check_whole(records), "the other sink has not all")
        os.close(reader)
        os.close(writer)


def fifo():
    """a FIFO without a reader is no reason not to begin; its reader gets all, and may come again"""
    path = scratch("fifo")
    os.mkfifo(path)
    d = Daemon("--to", f"json:{path}")
    load = lib.finish(lib.loader("--count", 300))
    d.reload()
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    raw = b""

    def drain():
        nonlocal raw
        try:
            raw += os.read(reader, 1 << 20)
        except BlockingIOError:
            pass
        return raw

    wait_until(lambda: drain().count(b'"parent_pid":%d,' % load["pid"]) == 300, "all in the FIFO")
    d.process.send_signal(signal.SIGTERM)
    wait_until(lambda: b'"type":"stop"' in drain(), "the stop record")
    d.wait()
    drain()
    os.close(reader)
    lib.check_stream(lib.parse_lines(raw))


def reopen_refused():
    """as another user the new file cannot be made: told, and the old one stays in use"""
    place = scratch("rootonly")
    os.mkdir(place, 0o755)
    path = os.path.join(place, "out")
    d = Daemon("--to", f"json:{path}", "--user", "nobody")
    first = lib.finish(lib.loader("--count", 100))
    os.rename(path, path + ".1")
    d.reload()
    lib.check("cannot open" in d.errors() and "stays in use" in d.errors(), d.errors())
    second = lib.finish(lib.loader("--count", 100))
    wait_until(lambda: count_exits(path + ".1", second["pid"]) == 100, "all in the old file")
    os.chmod(place, 0o777)
    os.chmod(lib.scratch, 0o755)
    d.reload()
    third = lib.finish(lib.loader("--count", 100))
    d.stop()
    old = lib.parse_lines(read(path + ".1"))
    lib.check([len(exits_of(old, p["pid"])) for p in (first, second, third)] == [100, 100, 0], "the old file has others")
    new = lib.parse_lines(read(path))
    lib.check(len(exits_of(new, third["pid"])) == 100, "the new file has not all")
    lib.check_stream(old + new)


def two_become_one():
    """a reload that would have two sinks write to one file"""
    one, two = scratch("one"), scratch("two")
    d = Daemon("--to", f"json:{one}", "--to", f"json:{two}")
    os.unlink(two)
    os.symlink(one, two)
    d.reload()
    lib.check("each needs a file of its own" in d.errors(), d.errors())
    d.stop()
    lib.check_stream(lib.parse_lines(read(one)))


def closed_descriptors():
    """started without some of the three"""
    path = scratch("closed")
    d = Daemon("--to", f"json:{path}", preexec_fn=lambda: [os.close(fd) for fd in (0, 1, 2)])
    load = lib.finish(lib.loader("--count", 100))
    d.reload()
    d.stop()
    records = lib.parse_lines(read(path))
    lib.check_stream(records)
    lib.check(len(exits_of(records, load["pid"])) == 100, "an end is missing")
    d = Daemon("--to", "json:-", wait=False, preexec_fn=lambda: os.close(1))
    d.wait(1)


def messages_that_nobody_reads():
    """stderr is a pipe that is full: the daemon goes on, and ends"""
    reader, writer = os.pipe()
    place = scratch("moved")
    os.mkdir(place)
    path = os.path.join(place, "out")
    d = Daemon("--to", f"json:{path}", "--to", f"json:{scratch('still')}", stderr=writer)
    os.close(writer)
    os.rename(place, place + ".1")
    for _ in range(700):
        d.reload()  # each with a message that the file cannot be opened
    load = lib.finish(lib.loader("--count", 100))
    d.stop()
    with os.fdopen(reader, "rb") as f:
        lib.check(len(f.read()) > 50000, "the pipe was not full")
    lib.check(len(exits_of(lib.parse_lines(read(scratch("still"))), load["pid"])) == 100, "an end is missing")


def ends_by_itself():
    """after a time that was given"""
    before = time.monotonic()
    d = Daemon("--to", f"json:{scratch('time')}", "--duration", "1")
    d.wait(0)
    lib.check(time.monotonic() - before >= 1, "it ended before its time")
    lib.check_stream(lib.parse_lines(read(scratch("time"))))


if __name__ == "__main__":
    lib.main(full_disk, full_to_the_end, slow_reader, reader_leaves, stuck_at_the_end, fifo, reopen_refused,
             two_become_one, closed_descriptors, messages_that_nobody_reads, ends_by_itself)
