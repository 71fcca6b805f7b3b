#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The audit source: beside an owner, as the owner, from standard input; what it says of loss and of changes."""
import errno
import os
import re
import signal
import socket
import subprocess

import audit
import lib
import sources


def numbers(dump, word):
    """The n= of our own messages that came, in order."""
    found = []
    for message in dump.data(0):
        kind, text = sources.audit_record(message)
        m = re.search(rf"n={word}(\d+) ", text)
        if kind == audit.TRUSTED_APP and m:
            found.append(int(m.group(1)))
    return found


def exits(dump, key):
    """pid -> a0 of the exit_group(2) records with this key."""
    found = {}
    for message in dump.data(0):
        kind, text = sources.audit_record(message)
        if kind == audit.SYSCALL and f'key="{key}"' in text:
            found[int(re.search(r" pid=(\d+)", text).group(1))] = int(re.search(r" a0=([0-9a-f]+)", text).group(1), 16)
    return found


def test_multicast():
    """with a rule loaded every exit is there, read without any privilege"""
    key = "exeunt-test-multicast"
    with audit.preserved():
        lib.check(audit.rule(audit.ADD_RULE, audit.exit_rule(key)) == 0, "the rule was not taken")
        dump = sources.Dump("audit", "--audit", "multicast", "--drop")
        lib.check(dump.opened["open"] == 0 and dump.opened["state"] == 1, f"opened: {dump.opened}")
        lib.check("reason" not in dump.opened, f"something is in the way: {dump.opened}")
        children = {}
        for code in range(50):
            with subprocess.Popen(["/bin/sh", "-c", f"exit {code}"]) as child:
                pass
            children[child.pid] = code
        dump.wait(lambda: children.items() <= exits(dump, key).items(), "the exits of 50 children")
        dump.stop()
        lib.check(dump.lost() == 0, f"{dump.lost()} lost")


def test_multicast_loss():
    """a small buffer that nobody reads: what was dropped is counted exactly, and the kernel's counter stays"""
    with audit.preserved(backlog_limit=8192):
        before = audit.status()["lost"]
        dump = sources.Dump("audit", "--audit", "multicast", "--rcvbuf", 32768, "--sleep-until-input")
        audit.say("loss", count=500)
        lib.check(audit.status()["lost"] == before, "the kernel's own counter moved")
        # the kernel hands records on in its own time
        sources.wait_until(lambda: audit.status()["backlog"] == 0, "the kernel's queue to be empty")
        sources.wait_until(lambda: dump.ask() or len(numbers(dump, "loss")) + dump.lost(0) >= 500, "the end of 500 messages")
        audit.say("end")
        sources.wait_until(lambda: dump.ask() or numbers(dump, "end"), "the last message")
        ended = dump.stop()
    serials = [int(re.match(r"audit\(\d+\.\d+:(\d+)\)", sources.audit_record(m)[1]).group(1)) for m in dump.data(0)]
    seen = len(numbers(dump, "loss"))
    lib.say(f"500 messages: {seen} seen, {dump.lost(0)} records lost")
    lib.check(dump.lost(0) > 0 and seen < 500, "nothing was lost in a buffer of 32 KiB")
    # each of our messages is an event of one record; others that fell into the gap are in the count as well
    missing = max(serials) - min(serials) + 1 - len(set(serials))
    lib.check(500 - seen <= dump.lost(0), f"{500 - seen} missing, {dump.lost(0)} said to be lost")
    lib.check(missing <= dump.lost(0), f"{missing} serial numbers missing, {dump.lost(0)} said to be lost")
    lib.check(dump.lost(2) == 0 and ended["lost"] == dump.lost(0), f"the status says {ended['lost']} lost")


class Owner:
    """Owns audit in the place of auditd, and reads nothing."""

    def __init__(self, receive_buffer=None):
        self.audit = audit.Socket()
        if receive_buffer:
            self.audit.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.error = audit.change(self.audit, pid=os.getpid())

    def close(self):
        self.audit.close()
        audit.change(pid=0)


def fill(processes=4, count=400):
    """Processes that send messages, each until it has to wait."""
    children = []
    for _ in range(processes):
        pid = os.fork()
        if not pid:
            try:
                audit.say("fill", audit.Socket(), count)
            finally:
                os._exit(0)
        children.append(pid)
    return children


def reap(children):
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)


def lose_by_rate():
    """Makes the kernel give up records before it queues any."""
    audit.change(rate_limit=1)
    audit.say("rate", count=100)
    audit.change(rate_limit=0)


def test_kernel_loss():
    """what the kernel itself gave up is told at the end at the latest, also without an owner"""
    with audit.preserved():
        dump = sources.Dump("audit", "--audit", "multicast", "--drop")
        before = audit.status()["lost"]
        lose_by_rate()
        lost = audit.status()["lost"] - before
        dump.wait(lambda: dump.data(0), "a record of the changes")
        ended = dump.stop()
    lib.say(f"{lost} lost by the kernel")
    lib.check(lost > 0, "the kernel lost nothing")
    lib.check(dump.lost(2) == lost, f"the kernel lost {lost}, told were {dump.lost(2)}")
    lib.check(ended["lost"] == lost, f"the status says {ended['lost']}")


def test_full_queue():
    """while audit makes everybody wait who asks, for a minute, we do not wait"""
    with audit.preserved(backlog_limit=64, backlog_wait_time=15000):
        dump = sources.Dump("audit", "--audit", "multicast", "--drop")
        owner = Owner(receive_buffer=4096)
        children = fill()
        try:
            for _ in range(5):
                dump.ask()
            waiting = [pid for pid in children if os.waitpid(pid, os.WNOHANG) == (0, 0)]
            lib.check(len(waiting) == len(children), "the queue was not full: a process got through")
        finally:
            owner.close()
            reap(children)
        dump.ask()
        dump.stop()


def test_unicast():
    """the owner's socket: every record, and nobody waits; afterwards all is as it was"""
    with audit.preserved(backlog_limit=64, backlog_wait_time=15000):
        audit.change(enabled=0)
        dump = sources.Dump("audit", "--audit", "unicast", "--drop")
        lib.check(dump.opened["open"] == 0, f"opened: {dump.opened}")
        now = audit.status()
        lib.check(now["pid"] == dump.process.pid, f"owned by {now['pid']}")
        lib.check((now["enabled"], now["backlog_limit"], now["backlog_wait_time"]) == (1, 8192, 0), f"{now}")
        audit.say("owned", count=2000)
        dump.wait(lambda: len(numbers(dump, "owned")) == 2000, "2000 messages")
        dump.stop()
        now = audit.status()
        lib.check((now["pid"], now["enabled"], now["backlog_limit"], now["backlog_wait_time"]) == (0, 0, 64, 15000),
                  f"not put back: {now}")
        lib.check(numbers(dump, "owned") == list(range(2000)), "not each of the messages once, in order")
        lib.check(dump.lost() == 0 and not dump.messages, f"lost {dump.lost()}, said {dump.messages}")


def test_unicast_congested():
    """a full buffer of the owner is no loss: the kernel sends again (nor is it told as one)"""
    with audit.preserved(backlog_limit=8192):
        dump = sources.Dump("audit", "--audit", "unicast", "--rcvbuf", 32768, "--sleep-until-input")
        before = audit.status()["lost"]
        audit.say("wait", count=300)
        lib.check(len(numbers(dump, "wait")) == 0, "it read without being asked")
        sources.wait_until(lambda: dump.ask() or len(numbers(dump, "wait")) == 300, "300 messages")
        dump.stop()
        lost = audit.status()["lost"] - before
        lib.check(dump.lost() == lost, f"told as lost: {dump.lost()}, by the kernel: {lost}")


def test_killed_owner():
    """also after SIGKILL everything is put back"""
    with audit.preserved(backlog_limit=64, backlog_wait_time=15000):
        dump = sources.Dump("audit", "--audit", "unicast")
        lib.check(audit.status()["pid"] == dump.process.pid, "not the owner")
        dump.process.kill()
        dump.process.wait()
        sources.wait_until(lambda: audit.status()["backlog_limit"] == 64, "the settings to be put back")
        sources.wait_until(lambda: audit.status()["backlog_wait_time"] == 15000, "the wait time to be put back")
        lib.check(audit.status()["pid"] == 0, "still owned")


def test_unicast_taken():
    """somebody owns it already: they keep it, and we read beside them"""
    with audit.preserved():
        owner = Owner()
        dump = sources.Dump("audit", "--audit", "unicast", "--drop")
        lib.check(dump.opened["open"] == 0, f"opened: {dump.opened}")
        lib.check(audit.status()["pid"] == os.getpid(), "the owner has changed")
        audit.say("beside", count=10)
        dump.wait(lambda: len(numbers(dump, "beside")) == 10, "10 messages by multicast")
        dump.ask()
        lib.check(any("belongs to" in m and str(os.getpid()) in m for m in dump.messages), f"said {dump.messages}")
        owner.close()
        dump.stop()


def test_step_aside():
    """auditd comes: the first try fails, then it has it, and we have lost nothing"""
    with audit.preserved(backlog_limit=8192):
        dump = sources.Dump("audit", "--audit", "unicast", "--drop")
        audit.say("a", count=100)
        late = Owner()
        lib.check(late.error == -errno.EEXIST, f"the first try: {late.error}")
        audit.say("b", count=100)
        dump.ask()
        audit.say("c", count=100)
        sources.wait_until(lambda: audit.status()["pid"] == 0, "the owner to step aside")
        lib.check(audit.change(late.audit, pid=os.getpid()) == 0, "the second try")
        audit.say("d", count=100)
        for word in "abcd":
            dump.wait(lambda w=word: len(set(numbers(dump, w))) == 100, f"the messages {word}")
        dump.ask()
        lib.check(any("leaves it" in m for m in dump.messages), f"said {dump.messages}")
        late.close()
        dump.stop()
        lib.check(dump.lost() == 0, f"{dump.lost()} lost")


def test_changes():
    """rules that are wiped, and audit switched off while it runs, are told"""
    key = "exeunt-test-changes"
    with audit.preserved():
        rule = audit.exit_rule(key)
        audit.rule(audit.ADD_RULE, rule)
        dump = sources.Dump("audit", "--drop")

        def told(word):
            audit.say("x")  # a record is what makes it look
            dump.ask()
            return any(word in m for m in dump.messages)

        audit.rule(audit.DEL_RULE, rule)
        sources.wait_until(lambda: told("removed by somebody else"), "the removed rule to be told")
        audit.change(enabled=0)
        sources.wait_until(lambda: told("switched off"), "the switch to be told")
        ended = dump.stop()
        lib.check(ended["reason"] == "audit is switched off", f"the status says {ended.get('reason')}")


def test_obstacles():
    """what keeps exits from being told of is the reason that it gives"""
    with audit.preserved():
        audit.rule(audit.ADD_RULE, audit.never_task())
        dump = sources.Dump("audit")
        dump.stop()
        lib.check("never,task" in dump.opened.get("reason", ""), f"{dump.opened}")
    with audit.preserved():
        audit.change(enabled=0)
        dump = sources.Dump("audit")
        dump.stop()
        lib.check(dump.opened.get("remedy") == "auditctl -e 1", f"{dump.opened}")


def test_stdin():
    """text of auditd: the bytes as they come, and the end of the stream"""
    ours, theirs = socket.socketpair()
    dump = sources.Dump("audit", "--audit", "stdin", "--drop", stdin=theirs)
    theirs.close()
    lib.check(dump.opened["open"] == 0, f"opened: {dump.opened}")
    text = b"".join(b"type=EOE msg=audit(1700000000.100:%d): \n" % n for n in range(100000))
    ours.sendall(text)
    ours.close()
    dump.wait(lambda: sum(len(f["data"]) // 2 for f in dump.frames) == len(text), "all of the text")
    ended = dump.stop()
    lib.check(b"".join(dump.data(1)) == text, "not the bytes that were sent")
    lib.check(ended["state"] == 3 and "ended" in ended["reason"], f"the end: {ended}")
    with open(os.path.join(lib.scratch, "audit.log"), "wb+") as file:
        dump = sources.Dump("audit", "--audit", "stdin", stdin=file)
        lib.check(dump.opened["open"] < 0 and "replay" in dump.opened["remedy"], f"a file: {dump.opened}")


def test_refusals():
    """another namespace or no capability is refused with its name, at once"""
    for mode, prefix, word in (("auto", ["unshare", "--net"], "network namespace"),
                               ("auto", ["unshare", "--user"], "user namespace"),
                               ("unicast", ["unshare", "--pid", "--fork"], "pid namespace"),
                               ("auto", ["setpriv", "--bounding-set=-all"], "CAP_AUDIT_READ"),
                               ("unicast", ["setpriv", "--bounding-set=-all"], "CAP_AUDIT_CONTROL")):
        dump = sources.Dump("audit", "--audit", mode, prefix=[*prefix, "--"])
        if dump.opened["open"] is None:
            lib.say(f"{prefix} is not possible here")
        else:
            lib.check(dump.opened["open"] < 0 and word in dump.opened.get("reason", ""), f"{prefix}: {dump.opened}")
            lib.check(dump.opened.get("remedy"), f"{prefix}: no remedy")


audit.require()
lib.main(test_multicast, test_multicast_loss, test_kernel_loss, test_full_queue, test_unicast, test_unicast_congested,
         test_killed_owner, test_unicast_taken, test_step_aside, test_changes, test_obstacles, test_stdin, test_refusals)
