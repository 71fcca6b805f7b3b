#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reports of golden files: compared byte for byte with report/NAME, and each sum with what replay tells of every exit.

report.py EXEUNT            compare
report.py --bless EXEUNT    write what is expected anew; the difference is then for review
"""
import collections
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# name in report/, arguments, files
REPORTS = [
    ("pacct.txt", [], ["pacct/v3.pacct"]),
    ("pacct.jsonl", ["--json"], ["pacct/v3.pacct"]),
    ("pacct-interval.txt", ["--utc", "--interval", "1h", "--top", "2", "--sort", "failed"], ["pacct/v3.pacct"]),
    ("pacct-interval.jsonl", ["--json", "--interval", "1h", "--top", "2", "--sort", "failed"], ["pacct/v3.pacct"]),
    ("pacct-several.txt", ["--numeric", "--by", "user,tty,cause", "--sort", "name"],
     ["pacct/v3-be.pacct", "pacct/v2.pacct", "pacct/v0.pacct"]),
    ("pacct-linux.txt", ["--sort", "name"], ["pacct/linux-6.18.pacct"]),
    ("none.txt", ["--filter", "comm == 'nobody'"], ["pacct/v3.pacct"]),
    ("audit.txt", ["--by", "exe,args"], ["audit/file.log"]),
    ("audit.jsonl", ["--json", "--numeric", "--by", "exe,args,uid", "--sort", "exits"], ["audit/file.log"]),
    ("audit-pacct.jsonl", ["--json", "--by", "sources"], ["audit/file.log", "pacct/v3.pacct"]),
    ("names.txt", ["--sort", "name"], ["taskstats/names.cap"]),
    ("names.jsonl", ["--json", "--sort", "name"], ["taskstats/names.cap"]),
    ("losses.txt", ["--utc"], ["taskstats/losses.cap"]),
    ("losses.jsonl", ["--json"], ["taskstats/losses.cap"]),
    ("threads.jsonl", ["--json", "--by", "status,threads", "--filter", "elapsed > 1us"], ["taskstats/threads.cap"]),
]

# files whose reports by these fields must agree with their records
AGREE = ["audit/file.log", "audit/plugin.log", "pacct/linux-6.18.pacct", "pacct/v0.pacct", "pacct/v2.pacct",
         "pacct/v3.pacct", "taskstats/names.cap", "taskstats/statuses.cap", "taskstats/threads.cap",
         "taskstats/versions.cap"]
BY = ["process.comm", "process.user.id", "process.exit.status", "process.parent_pid", "process.executable.path",
      "process.tty", "sources"]
SUMS = ["usage.cpu.user_us", "usage.cpu.system_us", "usage.io.read_bytes", "usage.io.write_bytes"]


def run(exeunt, *arguments):
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run([exeunt, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False, cwd=HERE, env=env)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")
        raise SystemExit(f"not ok - {arguments}: exit status {done.returncode}: {said}")
    return done.stdout


def get(record, path):
    """The value at a dotted path, or None."""
    for key in path.split("."):
        if not isinstance(record, dict) or key not in record:
            return None
        record = record[key]
    return record


def lines(data):
    return [json.loads(line) for line in data.decode().splitlines()]


def final(records):
    """One record of each process: the latest, for an amend has all that its exit had."""
    last = {}
    for number, record in enumerate(records):
        if record["type"] in ("exit", "amend"):
            last[get(record, "process.entity_id") if record["type"] == "amend" else number] = record
    return list(last.values())


def expected(records, field):
    """The rows that the records add up to, by the value that they are grouped by."""
    groups = collections.defaultdict(list)
    for record in records:
        groups[json.dumps(get(record, field))].append(record)
    rows = {}
    for value, members in groups.items():
        row = {"exits": len(members)}
        if any(get(r, "process.exit.cause") for r in members):
            row["failed"] = sum(1 for r in members if get(r, "process.exit.code"))
            row["killed"] = sum(1 for r in members if get(r, "process.exit.signal"))
            row["core_dumped"] = sum(1 for r in members if get(r, "process.exit.core_dumped"))
            row["uncertain"] = sum(1 for r in members if get(r, "process.exit.certain") is False)
        for path in SUMS:
            told = [get(r, path) for r in members if get(r, path) is not None]
            if told:
                row[path] = sum(told)
        elapsed = [get(r, "usage.elapsed_us") for r in members if get(r, "usage.elapsed_us") is not None]
        if elapsed:
            row["usage.elapsed_us"] = {"sum": sum(elapsed), "mean": sum(elapsed) // len(elapsed), "max": max(elapsed)}
        rss = [get(r, "usage.memory.rss_peak_bytes") for r in members if get(r, "usage.memory.rss_peak_bytes")]
        if rss:
            row["usage.memory.rss_peak_bytes.max"] = max(rss)
        times = [get(r, "process.exit.time") for r in members if get(r, "process.exit.time")]
        if times:
            row["first_exit"], row["last_exit"] = min(times), max(times)
        rows[value] = row
    return rows


def agrees(exeunt, path):
    records = final(lines(run(exeunt, "replay", "--json", "--numeric", path)))
    good = bool(records)
    for field in BY:
        report = [r for r in lines(run(exeunt, "report", "--json", "--numeric", "--by", field, path))
                  if r["type"] == "report"]
        want = expected(records, field)
        got = {json.dumps(get(row, field)): row for row in report}
        # Two names that are no UTF-8 may look the same.
        if len(got) == len(report) and got.keys() != want.keys():
            print(f"not ok - {path} by {field}: groups {sorted(got)} instead of {sorted(want)}")
            good = False
        for value, row in want.items():
            for key, number in row.items():
                if len(got) == len(report) and get(got[value], key) != number:
                    print(f"not ok - {path} by {field}, {value}: {key} is {get(got[value], key)} instead of {number}")
                    good = False
        if sum(row["exits"] for row in report) != len(records):
            print(f"not ok - {path} by {field}: {sum(r['exits'] for r in report)} exits instead of {len(records)}")
            good = False
    return good


def check(exeunt, name, arguments, files, bless):
    path = os.path.join(HERE, "report", name)
    got = run(exeunt, "report", *arguments, *files)
    if name.endswith(".jsonl"):
        lines(got)
    if bless:
        with open(path, "wb") as file:
            file.write(got)
        return True
    with open(path, "rb") as file:
        want = file.read()
    if want != got:
        print(f"not ok - {name}: expected\n{want.decode(errors='replace')}got\n{got.decode(errors='replace')}")
    return want == got


def main():
    """The command line."""
    bless = "--bless" in sys.argv
    exeunt = os.path.abspath([word for word in sys.argv[1:] if word != "--bless"][0])
    results = [check(exeunt, *report, bless) for report in REPORTS] + [agrees(exeunt, path) for path in AGREE]
    print(f"{sum(results)} of {len(results)} as expected")
    sys.exit(0 if all(results) else 1)


main()
