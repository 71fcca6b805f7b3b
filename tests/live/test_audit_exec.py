#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Executable and arguments from audit's execve records: without the proc connector, and beside it."""
import json
import os
import subprocess

import audit
import lib

EXECVE = {"x86_64": (0xc000003e, 59), "aarch64": (0xc00000b7, 221)}
PROGRAM = "/bin/true"
KEY = "exeunt-test-exec"


def exec_rule():
    """-a always,exit -F arch=b64 -S execve -k KEY"""
    arch, number = EXECVE[os.uname().machine]
    mask, fields, values, flags = ([0] * 64 for _ in range(4))
    mask[number // 32] |= 1 << number % 32
    fields[:2], values[:2] = (audit.ARCH, audit.FILTERKEY), (arch, len(KEY))
    flags[:2] = (audit.EQUAL, audit.EQUAL)
    return audit.RULE.pack(audit.FILTER_EXIT, audit.ALWAYS, 2, *mask, *fields, *values, *flags, len(KEY)) + KEY.encode()


def run(source, *options, rounds=300):
    """A family under the rule: [(truth, record)], and exeunt."""
    with audit.preserved(backlog_limit=8192, rate_limit=0):
        lib.check(audit.rule(audit.ADD_RULE, exec_rule()) == 0, "the rule was not taken")
        exeunt = lib.Exeunt("--audit=multicast", *options, source=source)
        argv = [lib.helper("descend"), str(rounds), "200", "-", "-", PROGRAM]
        out = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
        exeunt.stop()
    truths = [json.loads(line) for line in out.splitlines()[:-1]]
    return lib.match(exeunt.exits(), truths), exeunt


def program(pairs, exeunt):
    """What was told is right; all of it is there, unless records were lost, which is said."""
    lost = sum(r["loss"]["count"] for r in exeunt.lines if r["type"] == "loss" and r["loss"]["source"] == "audit")
    missing = 0
    for truth, record in pairs:
        wanted = {"process.executable.path": os.path.realpath(PROGRAM),
                  "process.command_args": ["true", "--n", str(truth["n"]), f"token=secret{truth['n']}"]}
        for path, want in wanted.items():
            if truth["case"] == "exec" and lib.get(record, path) is not None:
                lib.same(truth, record, path, want)
                lib.check(path not in record.get("inherited", []), f"{lib.title(truth)}: {path} is marked")
            elif truth["case"] == "exec":
                missing += 1
    lib.say(f"{len(pairs)} ended, {missing} values missing, {lost} records of audit lost")
    lib.check(missing <= 2 * lost, f"{missing} values are missing, and {lost} records were lost")


def without_events():
    """taskstats and audit alone: each exec'ed process has its own, and one that only forked has nobody's"""
    pairs, exeunt = run("taskstats,audit")
    program(pairs, exeunt)
    for truth, record in pairs:
        if truth["case"] != "exec" and "audit" not in record["sources"]:
            for path in ("process.executable.path", "process.command_args"):
                lib.same(truth, record, path, None)
        elif truth["case"] == "exec":
            lib.same(truth, record, "process.working_directory", os.getcwd())


def beside_events():
    """with the proc connector: what /proc told too late is told by audit"""
    pairs, exeunt = run("taskstats,procevents,audit")
    program(pairs, exeunt)


def secrets():
    """what must not be told is not told by audit either"""
    _, exeunt = run("taskstats,audit", "--redact=token=[^ ]*", rounds=50)
    lib.check(b"secret" not in exeunt.raw and b'"***"' in exeunt.raw, "a secret is in the stream")
    _, exeunt = run("taskstats,audit", "--no-args", rounds=50)
    lib.check(b"command_args" not in exeunt.raw, "arguments with --no-args")


audit.require()
lib.main(without_events, beside_events, secrets)
