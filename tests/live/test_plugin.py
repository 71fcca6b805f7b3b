#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt plugin, as auditd runs it: its signals, its end, what it joins, and an output that nobody reads."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import audit
import lib
import sources
from plugin import (FIRST_START, RATE, STARTED_AGAIN, TIMEOUT, Auditd, Feed, Plugin, drain, event, exits, memory_kib,
                    send)

HUNG_SECONDS = 30


def alone():
    """without any privilege audit alone is the source: each of its exits comes, with who and how"""
    program = os.path.join(lib.scratch, "exeunt")
    shutil.copy(lib.EXEUNT, program)
    os.chmod(program, 0o755)
    os.chmod(lib.scratch, 0o777)
    plugin = Plugin("--numeric", program=[program, "plugin"], prefix=[
        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
    plugin.wait_for("listening to audit.*\n.*without taskstats: ")
    send(plugin, [event(n + 1, n, 100000 + n) for n in range(256)])
    plugin.close()
    found = exits(plugin.records())
    lib.check(len(found) == 256, f"{len(found)} exits of 256")
    for n in range(256):
        record = found.get(100000 + n, {})
        for path, want in (("process.exit.code", n), ("audit.login_uid", 1000), ("audit.session", 3),
                           ("audit.serial", n + 1), ("process.command_args", ["demo", "-x"]), ("sources", ["audit"])):
            lib.check(lib.get(record, path) == want, f"exit {n}: {path} is {lib.get(record, path)!r}")


def joined():
    """with the kernel's sources each exit is one record of all that is known"""
    plugin = Plugin()
    plugin.wait_for("listening to taskstats")
    # that audit tells of exits at all shows by the first; a rule that the kernel has would say so at once
    send(plugin, [event(1000, 0, 100000)])
    time.sleep(0.5)
    children = {}
    for code in range(20):
        with subprocess.Popen(["/bin/sh", "-c", f"exit {code}"]) as child:
            pass
        children[child.pid] = code
        send(plugin, [event(code + 1, code, child.pid, os.getuid())])
    plugin.close()
    records = plugin.records()
    found = exits(records)
    for r in records:
        if r["type"] == "amend" and lib.get(r, "process.pid") in found:
            found[lib.get(r, "process.pid")] = r
    for pid, code in children.items():
        r = found.get(pid, {})
        lib.check(lib.get(r, "process.exit.code") == code, f"{pid}: code {lib.get(r, 'process.exit.code')}, not {code}")
        lib.check({"taskstats", "audit"} <= set(r.get("sources", [])), f"{pid}: sources {r.get('sources')}")
        lib.check(lib.get(r, "audit.serial") == code + 1, f"{pid}: serial {lib.get(r, 'audit.serial')}")
        lib.check(lib.get(r, "usage.elapsed_us"), f"{pid}: no usage.elapsed_us")


def signals():
    """SIGTERM counts from auditd alone; SIGHUP and others do no harm; all of that however it was started"""
    for name, before in (("first start", FIRST_START), ("started again", STARTED_AGAIN)):
        plugin = Plugin("--source", "audit", before=before)
        plugin.wait_for("listening to audit")
        for word in ("HUP", "USR1", "USR2", "CONT", "INT", "TERM"):
            subprocess.run(["kill", f"-{word}", str(plugin.process.pid)], check=True)
        plugin.wait_for("passed over")
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT):
            plugin.process.send_signal(number)
        send(plugin, [event(1, 0, 100000)])
        plugin.wait_for(r"100000", where=lambda p=plugin: p.read().decode())
        # what is in its input when it is told to end still comes out
        plugin.process.send_signal(signal.SIGSTOP)
        send(plugin, [event(2, 0, 100001)])
        plugin.process.send_signal(signal.SIGTERM)
        plugin.process.send_signal(signal.SIGCONT)
        plugin.ended(f"{name}: SIGTERM of its parent")
        lib.check(set(exits(plugin.records())) == {100000, 100001}, f"{name}: {exits(plugin.records()).keys()}")


def again():
    """started again it adds to its file, also behind half a line"""
    path = os.path.join(lib.scratch, "again.jsonl")
    with open(path, "w", encoding="ascii") as f:
        f.write('{"schema":"exeunt/1","ty')
    for n in range(2):
        plugin = Plugin("--source", "audit", output=path)
        send(plugin, [event(1, n, 100000)])
        plugin.close()
    lines = plugin.read().split(b"\n")
    lib.check(lines[0] == b'{"schema":"exeunt/1","ty', f"the half line is now {lines[0]!r}")
    records = lib.parse_lines(b"\n".join(lines[1:]))
    kinds = [r["type"] for r in records]
    lib.check(kinds == ["start", "exit", "stop"] * 2, f"{kinds}")


def two_words():
    """by a link called exeunt-plugin both words that auditd passes on can be options"""
    link = os.path.join(lib.scratch, "exeunt-plugin")
    os.symlink(os.path.abspath(lib.EXEUNT), link)
    plugin = Plugin("--source=audit", program=[link])
    send(plugin, [event(1, 5, 100000)])
    plugin.close()
    lib.check(len(exits(plugin.records())) == 1, "not one exit")


def refusals():
    """without a place to write to it says so"""
    plugin = Plugin(output="")
    plugin.process.wait(TIMEOUT)
    lib.started.remove(plugin.process)
    lib.check(plugin.process.returncode == 2 and "--output" in plugin.errors(), f"no output: {plugin.errors()}")


def log():
    """under auditd its messages go to the system's log, and it does not wait for that"""
    if os.path.exists("/dev/log"):
        lib.say("there is a logger here: left out")
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as logger:
        logger.bind("/dev/log")
        try:
            for options, words in ((["--source", "audit"], "<30>.* exeunt.PID.: plugin of auditd: listening to audit$"),
                                   (["--nonsense"], "<27>.* exeunt.PID.: its options are not understood"),
                                   (["-o", "/nowhere/x"], "<27>.* exeunt.PID.: cannot open '/nowhere/x'")):
                process = subprocess.Popen([lib.EXEUNT, "plugin", "-o", "/dev/null", *options], stdin=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={})
                process.stdin.close()
                process.wait(TIMEOUT)
                logger.setblocking(False)
                told = []
                try:
                    while True:
                        told.append(logger.recv(4096).decode())
                except BlockingIOError:
                    pass
                words = words.replace("PID", str(process.pid))
                lib.check(any(re.match(words, line) for line in told), f"{words!r} is not in {told}")
        finally:
            os.unlink("/dev/log")


def check_told(records, what):
    """Every record that is missing is in a loss record, and none is told that is not."""
    seqs = [r["seq"] for r in records]
    lib.check(seqs == sorted(set(seqs)), f"{what}: seq does not go up")
    missing = seqs[-1] - len(seqs)
    told = [r["loss"] for r in records if r["type"] == "loss" and r["loss"]["cause"] == "slow_sink"]
    count = sum(loss["count"] for loss in told)
    lib.check(count == missing, f"{what}: {missing} records missing, {count} told")
    lib.check(all(loss["exact"] and loss["source"] == "output" for loss in told), f"{what}: {told}")
    lib.check(records[-1]["type"] == "stop" and records[-1]["balance"]["lost_output"] == missing,
              f"{what}: the balance is {records[-1].get('balance')}")
    return missing


class Hung:
    """The feed of hung_output(), which goes on while other tests run."""
    plugin = feed = None


def begin_hung_output():
    """nobody reads the output of this one, from now on for half a minute"""
    path = os.path.join(lib.scratch, "hung.fifo")
    os.mkfifo(path)
    Hung.plugin = Plugin("--source", "audit", output=path)
    Hung.feed = Feed(Hung.plugin, HUNG_SECONDS)
    Hung.feed.start()


def hung_output():
    """nobody read our output for half a minute: the writer went on, memory stays, the loss is told exactly"""
    plugin, feed, path = Hung.plugin, Hung.feed, Hung.plugin.path
    feed.join()
    peak = memory_kib(plugin.process)
    thread, data = drain(path)
    # the reader is back: what comes now is not lost
    end = time.monotonic() + TIMEOUT
    while b"slow_sink" not in data and time.monotonic() < end:
        time.sleep(0.01)
    send(plugin, [event(feed.events + n, 0, 900000 + n) for n in range(100)])
    plugin.close()
    thread.join()
    records = lib.parse_lines(bytes(data))
    missing = check_told(records, "hung")
    lib.say(f"{RATE} records a second for {HUNG_SECONDS} s: the longest write took {feed.longest * 1000:.1f} ms, at most "
            f"{feed.late * 1000:.0f} ms late; {missing} of {records[-1]['seq']} lines lost and told; peak {peak} KiB")
    lib.check(feed.longest < 1, f"a write took {feed.longest:.3f} s")
    lib.check(peak < 64 * 1024, f"resident memory had a peak of {peak} KiB")
    lib.check(missing > feed.events // 2, f"only {missing} lost: was the output not hung?")
    lib.check(records[-1]["balance"]["exits"] == feed.events + 100, f"the balance is {records[-1]['balance']}")
    found = exits(records)
    lib.check(all(900000 + n in found for n in range(100)), "exits from after the reader came back are missing")


def slow_output():
    """a reader that is slower than what comes, but reads: what it costs is told while it goes on"""
    path = os.path.join(lib.scratch, "slow.fifo")
    os.mkfifo(path)
    plugin = Plugin("--source", "audit", "--buffer", "256K", output=path)
    feed, data, told = Feed(plugin, 3), bytearray(), False
    with open(path, "rb", buffering=0) as f:
        feed.start()
        while feed.is_alive():
            data += f.read(1 << 13)
            time.sleep(0.02)
            told |= b"slow_sink" in data
        thread = threading.Thread(target=plugin.close)
        thread.start()
        while chunk := f.read(1 << 16):
            data += chunk
    thread.join()
    missing = check_told(lib.parse_lines(bytes(data)), "slow")
    lib.say(f"{missing} lost")
    lib.check(missing > 0, "nothing was lost")
    lib.check(told, "the loss was told at the end only")


def real_auditd():
    """a real auditd, and nobody reads our output: what is audited does not wait, and the loss is told exactly"""
    program = os.environ.get("AUDITD") or shutil.which("auditd")
    if not program:
        lib.say("no auditd here: left out")
        return
    if audit.status()["pid"] or audit.status()["enabled"] == 2:
        lib.say("audit is in use, or locked: left out")
        return
    path = os.path.join(lib.scratch, "auditd.fifo")
    os.mkfifo(path)
    with audit.preserved(backlog_limit=8192):
        audit.rule(audit.ADD_RULE, audit.exit_rule("exeunt-test-plugin"))
        auditd = Auditd(program, path)
        plugin = auditd.plugins()[0]
        before = audit.status()
        load = lib.finish(lib.loader("--seconds", 8, "--rate", RATE // 3))
        with open(f"/proc/{plugin}/status", encoding="ascii") as f:
            peak = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
        after = audit.status()
        auditd.process.send_signal(signal.SIGHUP)
        thread, data = drain(path)
        sources.wait_until(lambda: b"slow_sink" in data, "the loss to be told")
        for code in range(10):
            subprocess.run(["/bin/sh", "-c", f"exit {code}"], check=False)
        sources.wait_until(lambda: audit.status()["backlog"] == 0, "the queue to be empty")
        lib.check(auditd.plugins() == [plugin], f"the plugin is now {auditd.plugins()}")
        auditd.stop()
        sources.wait_until(lambda: not os.path.exists(f"/proc/{plugin}"), "the plugin to end")
        thread.join()
    records = lib.parse_lines(bytes(data))
    missing = check_told(records, "auditd")
    balance = records[-1]["balance"]
    lib.say(f"{load['exits']} exits at {load['rate']:.0f}/s; backlog {after['backlog']}, {after['lost'] - before['lost']} lost by "
            f"the kernel; {missing} of {records[-1]['seq']} lines lost and told; peak {peak} KiB; {balance}")
    # with a plugin that does not read, about 50 exits a second are left
    if balance["exits"] > 2 * load["exits"]:
        lib.say("so much else ended on this host that the pace of the load says nothing")
    else:
        lib.check(load["rate"] > 0.5 * (RATE // 3), f"the load came to {load['rate']} exits a second: it was held up")
        lib.check(after["backlog"] < 1000, f"audit is held up: {after}")
    lib.check(after["lost"] == before["lost"], f"records were lost: {after}")
    lib.check(peak < 64 * 1024, f"resident memory had a peak of {peak} KiB")
    lib.check(missing > 0 and balance["lost"] == 0, f"lost: {missing}, {balance}")
    both = [r for r in records if r["type"] == "exit" and {"taskstats", "audit"} <= set(r["sources"])]
    lib.check(both, "no record has both taskstats and audit")


def killed():
    """killed under auditd it is started again, and goes on in the same file"""
    program = os.environ.get("AUDITD") or shutil.which("auditd")
    if not program or audit.status()["pid"] or audit.status()["enabled"] == 2:
        lib.say("no auditd to be had: left out")
        return
    path = os.path.join(lib.scratch, "killed.jsonl")
    shutil.rmtree(os.path.join(lib.scratch, "auditd"), ignore_errors=True)

    def starts():
        with open(path, "rb") as f:
            return f.read().count(b'"type":"start"')

    with audit.preserved(backlog_limit=8192):
        auditd = Auditd(program, path)
        sources.wait_until(lambda: os.path.exists(path) and starts() == 1, "its start")
        first = auditd.plugins()[0]
        os.kill(first, signal.SIGKILL)
        sources.wait_until(lambda: audit.say("killed") or starts() == 2, "its second start")
        again = auditd.plugins()
        lib.check(len(again) == 1 and again != [first], f"plugins: {again}, the first was {first}")
        auditd.stop()
        sources.wait_until(lambda: not os.path.exists(f"/proc/{again[0]}"), "the plugin to end")
    with open(path, "rb") as f:
        kinds = [r["type"] for r in lib.parse_lines(f.read())]
    lib.check(kinds.count("stop") == 1 and kinds[-1] == "stop", f"the end is {kinds[-3:]}")


lib.main(begin_hung_output, alone, joined, signals, again, two_words, refusals, log, slow_output, real_auditd,
         killed, hung_output)
