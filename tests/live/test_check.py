#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt check: what it says of each source is how it is, with what mends it; as text and as JSON from the same rows."""
import json
import os
import subprocess

import audit
import lib
from accounting import Place, acct

ARRIVED = "the exit of a test process arrived"


def run(*options, prefix=()):
    done = subprocess.run([*prefix, lib.EXEUNT, "check", *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=30, check=False, cwd="/")
    lib.check(not done.stderr, f"check said: {done.stderr}")
    return done.returncode, done.stdout


def source(name, prefix=()):
    """The row of one source, from JSON, after a look at the text for the same."""
    code, text = run(prefix=prefix)
    again, line = run("--json", prefix=prefix)
    found = json.loads(line)
    lib.check(line.count("\n") == 1 and found["type"] == "check" and found["schema"] == "exeunt/1", f"JSON: {line}")
    lib.check(code == again == (0 if found["collects"] else 3), f"status {code} and {again}, collects {found['collects']}")
    row = next((r for r in found["sources"] if r["name"] == name), {})
    lines = text.splitlines()
    mine = next((i for i, t in enumerate(lines) if t.split()[0] == name), None)
    if not lib.check(row and mine is not None, f"no row for {name}: {text} {line}"):
        return row
    lib.check(lines[mine].split()[1] == row["state"], f"{name}: JSON says {row['state']}, text {lines[mine]!r}")
    lib.check(("remedy" in row) == (lines[mine + 1].strip().startswith("mend: ")), f"{name}: {lines[mine:mine + 2]}")
    for note in row.get("notes", []):
        lib.check(note["reason"] in text, f"{name}: the text lacks {note['reason']!r}")
    lib.check(row["works"] == (row["state"] in ("works", "partly")), f"{name}: {row}")
    lib.check(row["tested"] == (ARRIVED in row["text"]), f"{name}: {row}")
    return row


def notes(row, words):
    return [note for note in row.get("notes", []) if words in note["reason"]]


def taskstats():
    """taskstats, proven on every CPU; delay accounting as the kernel has it"""
    row = source("taskstats")
    lib.check(row["state"] == "works" and row["tested"] and row["version"] >= 8, f"{row}")
    lib.check(row["sockets"] >= os.cpu_count() and row["receive_buffer_bytes"] > 0, f"{row}")
    with open("/proc/sys/kernel/task_delayacct", encoding="ascii") as f:
        on = f.read().strip() != "0"
    code, line = run("--json")
    lib.check(json.loads(line)["delay_accounting"] == on and code == 0, f"delay accounting is {on}: {line}")
    code, text = run()
    lib.check(("sysctl kernel.task_delayacct=1" in text) != on, f"delay accounting is {on}: {text}")
    lib.check(source("procevents")["state"] == "works", "procevents does not work")


def nothing():
    """without privileges it says so of each source, with what mends it, and ends with 3"""
    prefix = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]
    for name in ("taskstats", "audit"):
        row = source(name, prefix=prefix)
        lib.check(row["state"] == "no" and "CAP_" in row["text"] and row.get("remedy"), f"{row}")
    code, text = run(prefix=prefix)
    lib.check(code == 3 and "cannot be collected here" in text, f"status {code}: {text}")


def accounting():
    """accounting: off, with the command; on, with its file and proof, whoever has it"""
    row = source("pacct")
    if row["state"] != "off":
        lib.skip("somebody uses accounting on this host")
    lib.check("accton" in row.get("remedy", ""), f"{row}")
    with Place() as place:
        path = place.create("an odd\tname")
        acct(path)
        row = source("pacct")
        lib.check(row["state"] == "works" and row["tested"], f"{row}")
        lib.check(place.dir in row.get("detail", "") and "an odd" in row["text"] and "\t" not in row["text"], f"{row}")
        lib.check(row["version"] == 3, f"{row}")


def audit_states():
    """audit: off, under rules, without, with an owner, slowed down: each is told, with what mends it"""
    with audit.preserved():
        audit.change(enabled=0)
        row = source("audit")
        lib.check(row["state"] == "off" and row["text"] == "audit is switched off", f"off: {row}")
        lib.check(row.get("remedy") == "auditctl -e 1", f"off: {row}")
    with audit.preserved():
        row = source("audit")
        lib.check(row["state"] == "works" and not row["tested"] and "owned by nobody" in row["text"], f"no rule: {row}")
        none = notes(row, "no rule tells of exits")
        lib.check(none and "exeunt rules" in none[0].get("remedy", "") and not none[0]["in_the_way"], f"no rule: {row}")
        lib.check(notes(row, "no auditd runs"), f"no owner: {row}")
    with audit.preserved():
        audit.rule(audit.ADD_RULE, audit.exit_rule("exeunt-test-check"))
        row = source("audit")
        lib.check(row["state"] == "works" and row["tested"] and "which tell of exits" in row["text"], f"a rule: {row}")
        lib.check(not notes(row, "no rule"), f"a rule: {row}")
        before = audit.rules()
        run()
        lib.check(audit.rules() == before, "check has changed the rules")
        audit.change(enabled=0)
        lib.check(source("audit")["state"] == "off", "off, with a rule")
    with audit.preserved():
        audit.rule(audit.ADD_RULE, audit.never_task())
        row = source("audit")
        never = notes(row, "never,task")
        lib.check(row["state"] == "partly" and never and never[0]["in_the_way"], f"never,task: {row}")
        lib.check("augenrules" in never[0].get("remedy", ""), f"never,task: {row}")
    with audit.preserved():
        audit.change(rate_limit=100000)
        row = source("audit")
        lib.check(row["state"] == "partly" and notes(row, "100000 records a second"), f"rate limit: {row}")
        audit.change(rate_limit=0)


def audit_owner():
    """audit that belongs to somebody: who it is"""
    with audit.preserved():
        owner = audit.Socket()
        lib.check(audit.change(owner, pid=os.getpid()) == 0, "cannot own audit")
        row = source("audit")
        lib.check(f"(pid {os.getpid()})" in row["text"] and not notes(row, "no auditd"), f"owned: {row}")
        lib.check(audit.status()["pid"] == os.getpid(), "the owner has changed")
        owner.close()
        audit.change(pid=0)


audit.require()
lib.main(taskstats, nothing, accounting, audit_states, audit_owner)
