#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt rules: sets of audit rules, loaded behind all others and unloaded exactly; nobody else's is touched."""
import os
import re
import subprocess

import audit
import lib
import sources

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules")
NAMES = ["exec", "exits", "failed", "login"]


def rules(*args, status=0, prefix=()):
    """Runs it; returns what it wrote and said."""
    done = subprocess.run([*prefix, lib.EXEUNT, "rules", "--dir", DIR, *args], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    lib.check(done.returncode == status, f"rules {args}: status {done.returncode}, not {status}: {done.stderr}")
    lib.check(status == 0 or done.stderr.startswith("exeunt: "), f"rules {args}: no reason: {done.stderr}")
    return done.stdout, done.stderr


def keys():
    return [audit.key_of(data) for data in audit.rules()]


def states():
    """name -> word of `list`."""
    return {line.split()[0]: line.split()[1] for line in rules("list")[0].splitlines()}


def test_load_and_unload():
    """a set is loaded once, behind what is there, and unloaded without touching anything else"""
    with audit.preserved():
        lib.check(states() == {name: "-" for name in NAMES}, f"{states()}")
        foreign = audit.exit_rule("somebody")
        audit.rule(audit.ADD_RULE, foreign)
        before = audit.rules()
        rules("load", "failed")
        lib.check(audit.rules()[:len(before)] == before, "not behind what was there")
        own = keys()[len(before):]
        lib.check(own and set(own) == {"exeunt-failed"}, f"loaded {own}")
        lib.check(states()["failed"] == "loaded" and states()["exits"] == "-", f"{states()}")
        out, _ = rules("load", "failed", "login")
        lib.check("was loaded already" in out, out)
        lib.check(keys().count("exeunt-failed") == len(own), "loaded twice")
        audit.rule(audit.ADD_RULE, audit.exit_rule("exeunt-of-an-admin"))
        rules("unload", "failed")
        lib.check("exeunt-failed" not in keys() and "exeunt-login" in keys(), f"{keys()}")
        out, _ = rules("unload", "failed")
        lib.check("was not loaded" in out, out)
        rules("unload")
        lib.check(audit.rules() == before, f"left, or gone: {keys()}")


def test_partly():
    """half of a set, because somebody deleted the rest, is said to be that, and made whole"""
    with audit.preserved():
        rules("load", "exits")
        if keys().count("exeunt-exits") < 2:
            lib.say("one rule only on this machine")
            return
        audit.rule(audit.DEL_RULE, audit.rules()[-1])
        lib.check(states()["exits"] == "partly", f"{states()}")
        rules("load", "exits")
        lib.check(states()["exits"] == "loaded", f"{states()}")
        rules("unload", "exits")


def records(run, name):
    """The SYSCALL records with the key of a set that come of run()."""
    rules("load", name)
    dump = sources.Dump("audit", "--audit", "multicast")
    run()
    audit.say("done")
    done = lambda: any("n=done0 " in sources.audit_record(m)[1] for m in dump.data(0))
    dump.wait(done, "the record of the end")
    dump.stop()
    rules("unload", name)
    texts = [text for kind, text in map(sources.audit_record, dump.data(0)) if kind == audit.SYSCALL]
    return [text for text in texts if f'key="exeunt-{name}"' in text]


def shell(code, login=False):
    """Ends with a code; in a login session of its own if asked to."""
    begin = "echo 12345 >/proc/self/loginuid && " if login else ""
    with subprocess.Popen(["/bin/sh", "-c", f"{begin}exit {code}"], stderr=subprocess.DEVNULL) as child:
        pass
    lib.check(child.returncode == code, f"the shell ended with {child.returncode}")
    return child.pid


def test_what_they_tell():
    """each set tells of what its name says, and of nothing else"""
    with audit.preserved(backlog_limit=8192):
        pids = {}

        def run(login=False):
            for code in (0, 7):
                pids[code] = shell(code, login)

        def seen(texts):
            return {code: any(f" pid={pid} " in text for text in texts) for code, pid in pids.items()}

        lib.check(seen(records(run, "exits")) == {0: True, 7: True}, "exits: not both")
        lib.check(seen(records(run, "failed")) == {0: False, 7: True}, "failed: not the one")
        texts = records(run, "exec")
        lib.check(seen(texts) == {0: True, 7: True}, "exec: not both")
        lib.check(all(" success=" in text for text in texts), "exec: something else than an exec")
        with open("/proc/self/loginuid") as f:
            daemon = f.read() == "4294967295"
        if daemon:
            lib.check(seen(records(run, "login")) == {0: False, 7: False}, "login: a process without a session")
            lib.check(seen(records(lambda: run(True), "login")) == {0: True, 7: True}, "login: not both")


def test_bad_files():
    """a file with a line that is not to be had is refused whole, with the number of the line"""
    path = os.path.join(lib.scratch, "50-exeunt-bad.rules")
    good = "-a always,exit -S exit_group -k exeunt-good\n"
    with audit.preserved():
        before = audit.rules()
        for line in ("-D", "-e 2", "-a never,task", "-w /etc/shadow -k exeunt-x", "-a always,exit -S exit_group -k other"):
            with open(path, "w") as f:
                f.write(f"# bad\n{good}{line}\n")
            _, said = rules("load", path, status=1)
            lib.check("line 3" in said, f"{line}: {said}")
            lib.check(audit.rules() == before, f"{line}: something was loaded")
        with open(path, "w") as f:
            f.write(good)
        rules("load", path)
        lib.check(keys() == ["exeunt-good"] or "exeunt-good" in keys(), f"{keys()}")
        rules("unload", path)
        lib.check(audit.rules() == before, f"{keys()}")
        # the kernel takes the first and not the second: then neither stays
        with open(path, "w") as f:
            f.write(good + "-a always,exit -S exit_group -F auid>=unset -k exeunt-good\n")
        _, said = rules("load", path, status=1)
        lib.check(audit.rules() == before, f"half of it is loaded: {keys()}; said {said}")


def test_words():
    """what is typed wrong, what is not there, and who may not"""
    rules("frobnicate", status=2)
    rules(status=2)
    rules("load", status=2)
    rules("load", "nosuchset", status=1)
    rules("list", "exits", status=2)
    rules("load", "exits", status=3, prefix=["setpriv", "--bounding-set=-all", "--"])
    out, said = rules("list", prefix=["setpriv", "--bounding-set=-all", "--"])
    lib.check([line.split()[1] for line in out.splitlines()] == ["?"] * len(NAMES) and said, f"{out}{said}")


def test_status():
    """the state of audit, in words"""
    with audit.preserved():
        rules("load", "exits")
        out, _ = rules("status")
        lib.check(re.search(r"^audit +on$", out, re.M) and "of exeunt" in out, out)
        lib.check("no auditd runs" in out, out)
        audit.change(enabled=0)
        out, _ = rules("status")
        lib.check("in the way" in out and "auditctl -e 1" in out, out)
        _, said = rules("load", "failed")
        lib.check("switched off" in said, f"load does not warn: {said}")
        rules("unload")


audit.require()
lib.main(test_load_and_unload, test_partly, test_what_they_tell, test_bad_files, test_words, test_status)
