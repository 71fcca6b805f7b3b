#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Somebody's accounting, followed on the running kernel: each exit once through every change, and told when not."""
import gzip
import os
import shutil
import subprocess
import time

import lib
from accounting import NOTICED, Dump, Place, acct, child, expect_once, fill, noticed, recovered, require_off, room_asked


def accounting_is_off():
    """nobody accounts: the source says so and how to mend it"""
    require_off()


def a_file():
    """a named file: every end is there, and it says nothing of a loss"""
    with Place() as place:
        acct(place.create("pacct"))
        dump = Dump(place.path("pacct"))
        lib.check(dump.opened["open"] == 0 and dump.opened["state"] == 1, f"{dump.opened}")
        children = [child(code % 256) for code in range(2000)]
        dump.await_child(children[-1])
        dump.stop()
        expect_once(dump.numbers, children, "named file")
        lib.check(not dump.lost and not dump.messages, f"{dump.lost} {dump.messages}")
        lib.check(all(dump.status.get(p) == (c % 256) << 8 for c, p in enumerate(children)), "a wrong status")


def latency():
    """ends far apart, and 1,000 a second: how long until their record is out"""
    with Place() as place:
        acct(place.create("pacct"))
        dump = Dump(place.path("pacct"))
        for pause, count in ((0.05, 40), (0.001, 2000)):
            ends = []
            for _ in range(count):
                ends.append((child(), time.monotonic()))
                time.sleep(pause)
            dump.await_child(ends[-1][0])
            late = sorted(dump.when[p] - t for p, t in ends)
            lib.say(f"every {pause * 1000:.0f} ms: p50 {late[len(late) // 2] * 1000:.2f} ms, "
                    f"p99 {late[len(late) * 99 // 100] * 1000:.2f} ms")
        dump.stop()


def rotations():
    """renamed, told late, cut off with a copy, removed, packed: each end once"""
    children = []

    def some():
        children.extend(child() for _ in range(50))

    with Place() as place:
        path = place.create("pacct")
        acct(path)
        dump = Dump(path)
        some()
        os.rename(path, place.path("pacct.1"))
        some()
        place.create("pacct")
        some()
        acct(path)
        some()
        dump.await_child(children[-1])
        shutil.copyfile(path, place.path("pacct.2"))
        os.truncate(path, 0)
        some()
        dump.await_child(children[-1])
        os.unlink(path)
        some()
        place.create("pacct")
        acct(path)
        some()
        with open(place.path("pacct.1"), "rb") as f, gzip.open(place.path("pacct.1.gz"), "wb") as to:
            to.write(f.read())
        os.unlink(place.path("pacct.1"))
        some()
        dump.await_child(children[-1])
        dump.stop()
        expect_once(dump.numbers, children, "rotations")


def not_told():
    """a rotation that the kernel was not told of is said"""
    with Place() as place:
        path = place.create("pacct")
        acct(path)
        dump = Dump(path)
        os.rename(path, place.path("pacct.1"))
        place.create("pacct")
        end = time.monotonic() + 10
        while not dump.messages and time.monotonic() < end:
            child()
            time.sleep(0.05)
        lib.check(any("rotated" in m["message"] and "accton" in m["message"] for m in dump.messages),
                  f"{dump.messages}")
        dump.stop()


def killed(rotate):
    """kill -9 and a start again, with and without a rotation in between"""
    children = []

    with Place() as place:
        path = place.create("pacct")
        acct(path)
        state = place.path("state")
        dump = Dump(path, "--state", state)
        children += [child() for _ in range(100)]
        dump.await_child(children[-1])
        lib.check(dump.save("first") == 0, "the state cannot be saved")
        saved = len(dump.numbers)
        more = [child() for _ in range(100)]
        dump.await_child(more[-1])
        dump.kill()
        before = dump.numbers[:saved]
        children += more + [child() for _ in range(100)]
        if rotate:
            os.rename(path, place.path("pacct.0"))
            children.append(child())
            place.create("pacct")
            acct(path)
            children += [child() for _ in range(100)]
            with open(place.path("pacct.0"), "rb") as f, gzip.open(place.path("pacct.0.gz"), "wb") as to:
                to.write(f.read())
            shutil.copystat(place.path("pacct.0"), place.path("pacct.0.gz"))
            os.unlink(place.path("pacct.0"))
        dump = Dump(path, "--state", state)
        lib.check(dump.opened["note"] == "first", f"{dump.opened}")
        children.append(child())
        dump.await_child(children[-1])
        dump.stop()
        expect_once(before + dump.numbers, children, f"killed, rotated {rotate}")
        lib.check(not dump.lost, f"{dump.lost}")


def killed_and_started():
    """kill -9 and a start again, with and without a rotation in between"""
    killed(False)
    killed(True)


def switched_off():
    """switched off and on again: noticed within two seconds, with the window"""
    with Place() as place:
        path = place.create("pacct")
        acct(path)
        dump = Dump(path)
        dump.await_child(child())
        off = time.monotonic()
        acct(None)
        noticed(dump, off, "switched off")
        child()
        time.sleep(0.5)
        acct(path)
        back = time.monotonic()
        recovered(dump, off, back)
        dump.stop()


def read_only():
    """the file system becomes read-only, which switches accounting off"""
    with Place("4m") as place:
        path = place.create("pacct")
        acct(path)
        dump = Dump(path)
        dump.await_child(child())
        off = time.monotonic()
        subprocess.run(["mount", "-o", "remount,ro", place.dir], check=True)
        noticed(dump, off, "read-only")
        subprocess.run(["mount", "-o", "remount,rw", place.dir], check=True)
        acct(path)
        recovered(dump, off, time.monotonic())
        dump.stop()


def no_room():
    """the kernel pauses for lack of space, and goes on when there is some"""
    with room_asked():
        with Place("4m") as place:
            path = place.create("pacct")
            acct(path)
            dump = Dump(path)
            dump.await_child(child())
            full = time.monotonic()
            fill(place)
            while not dump.lost and time.monotonic() < full + 10:
                child()
                time.sleep(0.02)
            lib.check(dump.lost and dump.lost[0]["at"] - full < NOTICED + 1.1, f"{dump.lost}")
            dump.wait(lambda: dump.changes, "the state")
            lib.check("full" in dump.changes[-1].get("reason", ""), f"{dump.changes}")
            os.unlink(place.path("filler"))
            end = time.monotonic() + 10
            while dump.changes[-1]["state"] != 1 and time.monotonic() < end:
                child()
                time.sleep(0.02)
            lib.check(dump.changes[-1]["state"] == 1, f"{dump.changes}")
            dump.stop()


def anywhere():
    """auto finds accounting in a place that is not usual, with its rotated name"""
    with Place() as place:
        path = place.create("somewhere")
        acct(path)
        dump = Dump("auto")
        lib.check(dump.opened["open"] == 0, f"{dump.opened}")
        n = child()
        dump.await_child(n)
        dump.stop()


def elsewhere():
    """auto goes along when accounting is switched to another file, and says what it may have missed"""
    with Place() as place:
        acct(place.create("here"))
        dump = Dump("auto", "--privileged")
        before = child()
        dump.await_child(before)
        acct(place.create("there"))
        dump.wait(lambda: len(dump.changes) == 2, "the change of the file")
        lib.check([c["state"] for c in dump.changes] == [3, 1] and len(dump.lost) == 2, f"{dump.changes} {dump.lost}")
        after = [child() for _ in range(10)]
        dump.await_child(after[-1])
        dump.stop()
        expect_once(dump.numbers, [before, *after], "elsewhere")


def refusals():
    """no such file, no right to read it, no capability: each with its reason"""
    with Place() as place:
        dump = Dump(place.path("nothing"))
        dump.gone()
        lib.check(dump.opened["error"] == 2 and place.path("nothing") in dump.opened.get("reason", ""),
                  f"{dump.opened}")
        path = place.create("pacct")
        os.chmod(path, 0o600)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                  "--bounding-set=-all"]
        for mode, word in ((path, "may not be read"), ("own", "CAP_SYS_PACCT"), ("auto", "off")):
            dump = Dump(mode, prefix=nobody)
            if dump.opened["open"] is None:
                lib.say("the helper cannot be run by another user here")
                dump.process.kill()
                break
            dump.gone()
            lib.check(dump.opened["open"] < 0 and word in dump.opened.get("reason", ""), f"{mode}: {dump.opened}")
            lib.check(dump.opened.get("remedy"), f"{mode}: no remedy")
        dump = Dump(path)
        lib.check(dump.opened["open"] == 0 and dump.opened["state"] == 3, f"a file nobody writes to: {dump.opened}")
        acct(path)
        dump.await_child(child())
        dump.wait(lambda: dump.changes and dump.changes[-1]["state"] == 1, "the state")
        dump.stop()


def rubbish_for_a_state():
    """a state file of rubbish: it starts, sets it aside, and tells of the gap"""
    with Place() as place:
        path = place.create("pacct")
        acct(path)
        with open(place.path("state"), "wb") as f:
            f.write(b"rubbish" * 5 + b"xx")
        dump = Dump(path, "--state", place.path("state"))
        lib.check(dump.opened["open"] == 0, f"{dump.opened}")
        dump.await_child(child())
        dump.stop()
        lib.check(len(dump.lost) == 1 and any("state.bad" in m["message"] for m in dump.messages),
                  f"{dump.lost} {dump.messages}")
        lib.check(os.path.exists(place.path("state.bad")), "it was not set aside")


lib.main(accounting_is_off, a_file, latency, rotations, not_told, killed_and_started, switched_off, read_only, no_room,
         anywhere, elsewhere, refusals, rubbish_for_a_state)
