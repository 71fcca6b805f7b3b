#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Audit changes while exeunt runs: rules wiped, switched off and on, owners that come and go; told once, and mended."""
import errno
import os
import subprocess

import audit
import auditd
import lib
import sources

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules", "10-exeunt-exits.rules")
KEY = "exeunt-exits"
SOURCES = "taskstats,procevents,audit"
GONE, AGAIN = "removed by somebody else", "loaded again"


def keys():
    """Of the rules that are ours and the test's; others may load theirs on the same host."""
    return [key for key in map(audit.key_of, audit.rules()) if key in (KEY, "somebody")]


def wipe():
    """As `auditctl -D` does, with which augenrules begins; but the rules of others stay."""
    for data in audit.rules():
        if audit.key_of(data) in (KEY, "somebody"):
            audit.rule(audit.DEL_RULE, data)


def other_rule(key):
    """A rule that tells of nothing that happens here: swapon(2)."""
    words = list(audit.RULE.unpack_from(audit.exit_rule(key)))
    number = {"x86_64": 167, "aarch64": 224}[os.uname().machine]
    words[3:67] = [1 << number % 32 if i == number // 32 else 0 for i in range(64)]
    return audit.RULE.pack(*words) + key.encode()


def said(exeunt, words):
    return [line for line in exeunt.errors().splitlines() if words in line]


def wait_said(exeunt, words):
    sources.wait_until(lambda: said(exeunt, words), f"a line with {words!r}")


def said_once(exeunt, words):
    lib.check(len(said(exeunt, words)) == 1, f"{words!r} was said {len(said(exeunt, words))} times: {exeunt.errors()}")


def ends(count, code):
    """So many processes that end by themselves, with a code of their own."""
    log = os.path.join(lib.scratch, f"ends.{code}")
    lib.finish(lib.loader("--count", count, "--uid-encode", "--uid-base", 1_000_000_000 + 100_000 * code, log=log))
    return range(1_000_000_000 + 100_000 * code, 1_000_000_000 + 100_000 * code + count)


def told(exeunt, uids):
    """How many of these ends have a record, and how many of those are audit's too."""
    found = {}
    for r in exeunt.lines:
        if r["type"] in ("exit", "amend") and lib.get(r, "process.user.id") in uids:
            found[lib.get(r, "process.user.id")] = "audit" in r["sources"]
    return len(found), sum(found.values())


def audit_losses(exeunt):
    return [r["loss"] for r in exeunt.lines if r["type"] == "loss" and r["loss"]["source"] == "audit"]


def caught_up(exeunt):
    """Everything that ended before is in the output."""
    with subprocess.Popen(["/bin/true"]) as last:
        pass
    sources.wait_until(lambda: b'"process":{"pid":%d,' % last.pid in exeunt.read(), "the last process")


def test_rules_while_it_runs():
    """--audit-rules: loaded at the start, again behind what came instead of them, and gone at the end"""
    with audit.preserved(backlog_limit=8192):
        theirs = other_rule("somebody")
        exeunt = lib.Exeunt("--audit-rules", RULES, source=SOURCES)
        ours = keys()
        lib.check(ours and set(ours) == {KEY}, f"loaded: {ours}")
        first = ends(500, 1)
        caught_up(exeunt)
        wipe()
        audit.rule(audit.ADD_RULE, theirs)
        without = ends(200, 2)
        wait_said(exeunt, AGAIN)
        lib.check(keys() == ["somebody", *ours], f"loaded again: {keys()}")
        again = ends(500, 3)
        caught_up(exeunt)
        wipe()
        wait_said(exeunt, "removed again")
        sources.wait_until(lambda: keys() == ours, "the rules for the third time")
        last = ends(500, 4)
        caught_up(exeunt)
        exeunt.stop()
        lib.check(not keys(), f"left: {keys()}")
        lib.check(len(said(exeunt, AGAIN)) == 2 and len(said(exeunt, "removed again")) == 1, exeunt.errors())
        for uids in (first, again, last):
            lib.check(told(exeunt, uids) == (500, 500), f"{told(exeunt, uids)} of 500")
        lib.check(told(exeunt, without)[0] == 200, f"{told(exeunt, without)} of 200")
        check_loss(exeunt, 200 - told(exeunt, without)[1])


def check_loss(exeunt, least):
    """What audit did not tell of is a loss of its own, with the time in which it was; the exits themselves are not lost."""
    losses = audit_losses(exeunt)
    count = sum(loss["count"] for loss in losses)
    lib.say(f"{least} not told of, {losses}")
    lib.check(count >= least, f"{least} exits were not told of by audit, {count} are said to be")
    for loss in losses:
        lib.check(loss["cause"] == "not_running" and not loss["exact"], f"{loss}")
        lib.check(lib.nanoseconds(loss["window"]["start"]) < lib.nanoseconds(loss["window"]["end"]), f"{loss}")
    lib.check(exeunt.lines[-1]["balance"]["unmatched"] == 0, f"{exeunt.lines[-1]['balance']}")
    lib.check(exeunt.lost() == 0, "taskstats lost something")


def test_rules_of_others():
    """what was loaded already stays at the end; and after SIGKILL ours are gone as well"""
    with audit.preserved():
        subprocess.run([lib.EXEUNT, "rules", "load", RULES], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = keys()
        exeunt = lib.Exeunt("--audit-rules", RULES, source=SOURCES)
        exeunt.stop()
        lib.check(before and keys() == before, f"{keys()}")
        wipe()
        exeunt = lib.Exeunt("--audit-rules", RULES, source=SOURCES)
        lib.check(KEY in keys(), f"{keys()}")
        exeunt.process.kill()
        exeunt.process.wait()
        lib.started.remove(exeunt.process)
        sources.wait_until(lambda: not keys(), "the rules to be unloaded")


def test_refused():
    """rules that are not to be had are an error, before anything is put out"""
    with audit.preserved():
        for prefix, options, status, words in ((["setpriv", "--bounding-set=-audit_control", "--"], [RULES], 3, "CAP_AUDIT_CONTROL"),
                                               ([], ["nosuchset"], 1, "rules"),
                                               ([], ["/nowhere/x.rules"], 1, "No such file"),
                                               ([], [RULES, "--audit", "off"], 2, "off")):
            done = subprocess.run([*prefix, lib.EXEUNT, "live", "--duration", "1", "--audit-rules", *options], check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            lib.check(done.returncode == status and words in done.stderr, f"{options}: {done.returncode}, {done.stderr}")
        lib.check(not keys(), f"left: {keys()}")


def test_switched_off_and_on():
    """switched off it is blind, which is a loss; the exits go on"""
    with audit.preserved(backlog_limit=8192):
        exeunt = lib.Exeunt("--audit-rules", RULES, source=SOURCES)
        before = ends(500, 5)
        caught_up(exeunt)
        audit.change(enabled=0)
        off = ends(500, 6)
        wait_said(exeunt, "switched off")
        audit.change(enabled=1)
        # of that the kernel makes no record: it is seen by the next one
        sources.wait_until(lambda: not subprocess.run(["/bin/true"], check=True).returncode and said(exeunt, "switched on"),
                           "a line about the switch")
        after = ends(500, 7)
        caught_up(exeunt)
        exeunt.stop()
        for words in ("switched off", "switched on"):
            said_once(exeunt, words)
        lib.check(told(exeunt, before) == (500, 500) and told(exeunt, after) == (500, 500),
                  f"{told(exeunt, before)}, {told(exeunt, after)} of 500")
        lib.check(told(exeunt, off) == (500, 0), f"while it was off: {told(exeunt, off)}")
        check_loss(exeunt, 500)


def test_never_task():
    """a rule that hides what begins: told when it comes and when it goes"""
    with audit.preserved():
        exeunt = lib.Exeunt(source=SOURCES)
        audit.rule(audit.ADD_RULE, audit.never_task())
        wait_said(exeunt, "never,task was loaded")
        audit.rule(audit.DEL_RULE, audit.never_task())
        wait_said(exeunt, "never,task was removed")
        exeunt.stop()
        said_once(exeunt, "never,task was loaded")
        said_once(exeunt, "never,task was removed")


def test_owner_comes_and_goes():
    """somebody takes audit and leaves it: each told once, and nothing is lost beside it"""
    with audit.preserved(backlog_limit=8192):
        exeunt = lib.Exeunt("--audit-rules", RULES, source=SOURCES)
        owner = audit.Socket()
        owner.socket.settimeout(0.01)
        audit.change(owner, pid=os.getpid())
        wait_said(exeunt, "now belongs to")
        during = ends(50, 8)
        owner.close()
        audit.change(pid=0)
        wait_said(exeunt, "no longer reads audit")
        after = ends(200, 9)
        caught_up(exeunt)
        exeunt.stop()
        for words in ("now belongs to", "no longer reads audit"):
            said_once(exeunt, words)
        lib.check(told(exeunt, during) == (50, 50) and told(exeunt, after) == (200, 200),
                  f"{told(exeunt, during)}, {told(exeunt, after)}")
        lib.check(not audit_losses(exeunt), f"{audit_losses(exeunt)}")


def test_auditd_comes():
    """exeunt owns audit, and auditd is started: its first try fails, then it has it, and no exit lacks its record"""
    if not auditd.is_there():
        lib.say("auditd is not installed: another program in its place")
    with audit.preserved(backlog_limit=8192), auditd.Auditd() as daemon:
        exeunt = lib.Exeunt("--audit", "unicast", "--audit-rules", RULES, source=SOURCES)
        lib.check(audit.status()["pid"] == exeunt.process.pid, "exeunt does not own audit")
        before = ends(500, 10)
        late = audit.Socket()
        lib.check(audit.change(late, pid=os.getpid()) == -errno.EEXIST, "the first try was not refused")
        late.close()
        wait_said(exeunt, "leaves it to it")
        sources.wait_until(lambda: audit.status()["pid"] == 0, "exeunt to let go")
        if auditd.is_there():
            daemon.start()
            wait_said(exeunt, "now belongs to auditd")
        beside = ends(500, 11)
        caught_up(exeunt)
        daemon.stop()
        alone = ends(500, 12)
        caught_up(exeunt)
        exeunt.stop()
        said_once(exeunt, "leaves it to it")
        for uids in (before, beside, alone):
            lib.check(told(exeunt, uids) == (500, 500), f"{told(exeunt, uids)} of 500")
        lib.check(not audit_losses(exeunt), f"{audit_losses(exeunt)}")


audit.require()
lib.main(test_rules_while_it_runs, test_rules_of_others, test_refused, test_switched_off_and_on, test_never_task,
         test_owner_comes_and_goes, test_auditd_comes)
