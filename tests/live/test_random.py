#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""3,000 random processes of several threads: one exit record each, the status right or marked as not certain."""
import collections
import os

import lib

COUNT = int(os.environ.get("EXEUNT_RANDOM_COUNT", "3000"))
SEED = int(os.environ.get("EXEUNT_RANDOM_SEED", "1"))


def random_ends():
    """random ends, four at once"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit("random", "--count", COUNT, "--seed", SEED, "--max-threads", 8, "--parallel", 4)
    exeunt.stop()
    pairs = lib.match(exeunt.exits(), truths)
    wrong = collections.Counter()
    unsure = 0
    for truth, record in pairs:
        certain = lib.get(record, "process.exit.certain")
        unsure += certain is False
        if lib.get(record, "process.exit.status") != truth["status"]:
            wrong[truth["kind"]] += 1
            lib.check(certain is False, f"{lib.title(truth)}: status {lib.get(record, 'process.exit.status')} is not "
                                        f"{truth['status']}, and is not marked")
        lib.check_identity(truth, record)
        if not truth["execed"]:
            lib.same(truth, record, "process.threads", truth["threads"])
    # Ends that race are there to be marked: which of two threads set the status, taskstats cannot tell. The others
    # are what programs do.
    total = sum(count for kind, count in wrong.items() if kind not in ("race", "all-sysexit"))
    lib.say(f"seed {SEED}: {len(pairs)} compared, differ: {dict(wrong)}, {unsure} marked as not certain")
    lib.check(len(pairs) == COUNT, f"{len(pairs)} of {COUNT} compared")
    lib.check(total <= COUNT / 1000, f"{total} of {COUNT} differ: more than 0.1 %")


lib.main(random_ends)
