# SPDX-License-Identifier: MIT
"""Are exit statuses right? mkexit ends processes with threads in every way and knows what wait4 said."""
import json
import os
import subprocess

import collectors


def statuses(bench):
    collector = collectors.Exeunt(bench)
    collector.start()
    done = subprocess.run([bench.helper("mkexit"), "random", "--count", str(bench.processes), "--seed", "11",
                           "--parallel", "4"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    collector.stop()
    truth = [json.loads(line) for line in done.stdout.splitlines()]
    told = {}
    for record in collector.records(b'"type":"exit"'):
        told.setdefault(record["process"]["pid"], []).append(record["process"]["exit"])
    os.unlink(collector.output)

    right = unsure = wrong = absent = 0
    for death in truth:
        if death.get("failed") or not death.get("waited"):
            continue
        exits = told.get(death["pid"])
        if not exits:
            absent += 1
            continue
        # A pid that was used twice: in the order of their ends, on both sides.
        told_exit = exits.pop(0)
        if told_exit.get("status") == death["status"]:
            right += 1
        elif told_exit.get("certain") is False:
            unsure += 1
        else:
            wrong += 1
    total = right + unsure + wrong + absent
    bench.table.figures([("processes", f"{total}"), ("right", f"{right}"), ("marked uncertain", f"{unsure}"),
                         ("wrong", f"{wrong}"), ("absent", f"{absent}")])
    bench.table.target("right", right / total if total else None, 0.999, at_least=True, form="{:.4f}")
    bench.table.verdict("wrong and not marked", str(wrong), "0", wrong == 0)
