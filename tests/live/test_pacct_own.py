#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Accounting of our own on the running kernel: bounded, never taken from anybody unasked, and put back as it was."""
import os
import time

import lib
from accounting import Dump, Place, acct, child, expect_once, fill, noticed, numbers_in, require_off, room_asked
from sources import wait_until


def accounting_is_off():
    """nobody accounts, so that it may be switched here"""
    require_off()


def own():
    """accounting of our own, which is switched between two files and ends with us"""
    with Place() as place:
        dump = Dump("own", "--dir", place.dir, "--bound", 65536, "--keep")
        lib.check(dump.opened["open"] == 0 and dump.opened["keep"] == 1 << 20, f"{dump.opened}")
        children, most = [], 0
        for n in range(20):
            children += [child() for _ in range(500)]
            dump.await_child(children[-1])
            dump.save(f"round {n}")
            most = max(most, sum(os.path.getsize(place.path(f)) for f in ("pacct-a", "pacct-b")))
        lib.say(f"{len(children) * 64} bytes, at most {most} at a time, {len(dump.files)} times a file begun")
        lib.check(most <= 4 * 65536, f"{most} bytes at a time")
        lib.check(len(dump.files) > 5, f"{dump.files}")
        dump.stop()
        expect_once(dump.numbers, children, "own")
        lib.check(not dump.lost and not dump.messages, f"{dump.lost} {dump.messages}")
        child()
        left = numbers_in(place.path("pacct-a")) + numbers_in(place.path("pacct-b"))
        lib.check(not left, f"it goes on behind us: {left}")


def own_killed():
    """what a kill -9 left on is found, drained and ended, by own and by auto"""
    for mode in ("own", "auto"):
        with Place() as place:
            dump = Dump("own", "--dir", place.dir, "--bound", 65536, "--keep")
            children = [child() for _ in range(1500)]
            dump.await_child(children[-1])
            dump.save("x")
            before = dump.numbers
            dump.kill()
            children += [child() for _ in range(3000)]
            dump = Dump(mode, "--dir", place.dir, "--bound", 65536, "--keep")
            lib.check(dump.opened["open"] == 0, f"{dump.opened}")
            lib.check(any("earlier run" in m["message"] for m in dump.messages) or
                      dump.wait(lambda: dump.messages, "a message"), f"{dump.messages}")
            for n in range(6):
                children += [child() for _ in range(500)]
                dump.await_child(children[-1])
                dump.save(f"{n}")
            size = sum(os.path.getsize(place.path(f)) for f in ("pacct-a", "pacct-b"))
            lib.check(size <= 4 * 65536, f"{size} bytes are left")
            dump.stop()
            expect_once(before + dump.numbers, children, f"own, killed, {mode}")
            lib.check(not dump.lost, f"{dump.lost}")
            child()
            lib.check(not numbers_in(place.path("pacct-a")) and not numbers_in(place.path("pacct-b")), "not ended")


def someone_elses():
    """accounting of somebody else is not taken without --force, and with it given back"""
    with Place() as place:
        path = place.create("theirs")
        acct(path)
        dump = Dump("own", "--dir", place.path("own"), "--keep")
        dump.gone()
        lib.check(dump.opened["open"] < 0 and dump.opened["error"] == 16, f"{dump.opened}")
        lib.check(path in dump.opened.get("reason", "") and "--force" in dump.opened.get("remedy", ""),
                  f"{dump.opened}")
        n = child()
        lib.check(n in numbers_in(path), "a refusal changed something")
        dump = Dump("own", "--dir", place.path("own"), "--keep", "--force")
        lib.check(dump.opened["open"] == 0, f"{dump.opened}")
        children = [child() for _ in range(10)]
        dump.await_child(children[-1])
        lib.check(not set(children) & set(numbers_in(path)), "both have it")
        dump.kill()
        dump = Dump("own", "--dir", place.path("own"), "--keep")
        lib.check(dump.opened["open"] == 0, f"{dump.opened}")
        dump.stop()
        n = child()
        lib.check(n in numbers_in(path), "it was not put back, over a crash")


def taken_from_us():
    """somebody takes accounting from us: noticed, said, and left alone"""
    with Place() as place:
        path = place.create("theirs")
        dump = Dump("own", "--dir", place.path("own"), "--keep")
        dump.await_child(child())
        taken = time.monotonic()
        acct(path)
        noticed(dump, taken, "someone else")
        dump.stop()
        n = child()
        lib.check(n in numbers_in(path), "theirs was ended by us")


def two_of_us():
    """a second owner is refused"""
    with Place() as place:
        first = Dump("own", "--dir", place.dir, "--keep")
        second = Dump("own", "--dir", place.dir, "--keep")
        second.gone()
        lib.check(second.opened["open"] < 0 and "another exeunt" in second.opened.get("reason", ""),
                  f"{second.opened}")
        first.await_child(child())
        first.stop()


def full_at_the_end():
    """our own accounting ends with us, even when it is paused just then"""
    with room_asked():
        with Place("4m") as place:
            dump = Dump("own", "--dir", place.dir, "--keep")
            dump.await_child(child())
            fill(place)
            wait_until(lambda: child() and dump.changes, "the state")  # which shows by the ends that are not written
            dump.stop()
            os.unlink(place.path("filler"))
            before = numbers_in(place.path("pacct-a"))
            time.sleep(1.2)
            lib.check(not {child(), child()} & set(numbers_in(place.path("pacct-a"))), "it goes on behind us")
            lib.check(before == numbers_in(place.path("pacct-a")), "what could not be saved was thrown away")


lib.main(accounting_is_off, own, own_killed, someone_elses, taken_from_us, two_of_us, full_at_the_end)
