#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every named way to die: one exit record each, and its status, names, ids and times are those of wait4."""
import lib


def every_case():
    """all cases of mkexit, one after another"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit("all")
    exeunt.stop()
    pairs = lib.match(exeunt.exits(), truths)
    lib.say(f"{len(pairs)} deaths")
    lib.check(len(pairs) == len(truths) >= 100, f"{len(truths)} deaths, {len(pairs)} compared")
    lib.check_all_times(pairs)
    for truth, record in pairs:
        lib.check_status(truth, record)
        lib.check_identity(truth, record)
        lib.check("taskstats" in record["sources"], f"{lib.title(truth)}: sources {record['sources']}")
        # The kernel's mark is of the leader's record alone; a thread that execs takes over from the leader.
        if truth["threads"] == 1:
            lib.same(truth, record, "process.forked_not_execed", not truth["execed"])
            lib.same(truth, record, "process.threads", 1)
        elif not truth["execed"]:
            lib.same(truth, record, "process.threads", truth["threads"])


def every_code():
    """exit codes 0 to 255"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit(*[f"exit-{code}" for code in range(256)])
    exeunt.stop()
    for truth, record in lib.match(exeunt.exits(), truths):
        lib.check_status(truth, record)


def repeated():
    """the ends that race, many times"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit("threads-race", "threads-sysexit", "leader-first-raw", "exec-worker", "--count", 200,
                           "--parallel", 2)
    exeunt.stop()
    wrong = unsure = 0
    for truth, record in lib.match(exeunt.exits(), truths):
        unsure += lib.get(record, "process.exit.certain") is False
        if lib.get(record, "process.exit.status") != truth["status"]:
            wrong += 1
            lib.same(truth, record, "process.exit.certain", False)
    lib.say(f"{wrong} of {len(truths)} differ from wait4, {unsure} are marked as not certain")


lib.main(every_case, every_code, repeated)
