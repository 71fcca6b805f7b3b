#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""metrics: what the file tells is what the records tell, and a parser that is not ours can read it."""
import os
import re
import signal
import stat
import sys

import lib
from daemon import Daemon, exits_of, read, scratch, wait_until

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian has it, whichever python this is
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402 pylint: disable=wrong-import-position

LEDGER = {"exits_total": "exits", "lost_total": "lost", "backfilled_total": "backfilled", "tasks_total": "threads_seen",
          "amends_total": "amends", "unparsable_total": "unparsable", "evicted_total": "evicted",
          "unmatched_total": "unmatched", "pending": "pending", "unfinished": "unfinished"}


def parse(path):
    """(name without exeunt_, labels) -> value; each family has a type and a help, and each sample comes once."""
    text = read(path).decode()
    samples = {}
    for family in text_string_to_metric_families(text):
        lib.check(family.type in ("counter", "gauge", "histogram"), f"{family.name} has type {family.type}")
        lib.check(family.documentation, f"{family.name} has no help")
        for s in family.samples:
            lib.check(s.name.startswith("exeunt_"), f"{s.name} does not begin with exeunt_")
            key = (s.name[7:], frozenset(s.labels.items()))
            lib.check(key not in samples, f"{key} comes twice")
            samples[key] = s.value
    lib.check(len(samples) == len(re.findall(r"^[^#]", text, re.M)), "the parser has not seen each line")
    return samples


def value(samples, name, **labels):
    return samples.get((name, frozenset(labels.items())))


def same(samples, want, name, **labels):
    found = value(samples, name, **labels)
    lib.check(found == want, f"{name} {labels} is {found}, not {want}")


def count(exits):
    """by cause, and the failed ones"""
    causes = {c: sum(lib.get(r, "process.exit.cause") == c for r in exits)
              for c in ("exited", "signaled", "core_dumped")}
    return causes, sum((lib.get(r, "process.exit.code") or 0) != 0 for r in exits)


def check_exits(samples, exits):
    causes, failed = count(exits)
    for cause, want in causes.items():
        same(samples, want, "exits_total", cause=cause)
    same(samples, len(exits) - sum(causes.values()), "exits_total", cause="unknown")
    same(samples, failed, "exits_failed_total")


def equal_to_the_records():
    """failures, kills and cores, with two sinks and a filter"""
    out, path, some = scratch("out.json"), scratch("all.prom"), scratch("some.prom")
    name = 'odd "name"\\\n\xe9'
    d = Daemon("--to", f"json:{out}", "--name", name, "--to", f"metrics:{path}",
               "--to", f"metrics:{some}", "--filter", "exit.code > 0", "--status", 1)
    mkexit_pid, truths = lib.mkexit("exit-0", "exit-1", "exit-255", "signal-KILL", "signal-TERM", "core-SEGV",
                                    "--count", 20)
    load = lib.finish(lib.loader("--count", 2000, "--exit-codes"))
    d.stop()
    records = lib.parse_lines(read(out))
    lib.check_stream(records)
    exits = [r for r in records if r["type"] == "exit"]
    stop, samples, filtered = records[-1], parse(path), parse(some)
    lib.check(len(exits_of(records, load["pid"])) == load["exits"], "the loader's exits are not all there")
    lib.check(len(exits_of(records, mkexit_pid)) == len(truths), "mkexit's exits are not all there")
    check_exits(samples, exits)
    cores = sum(t.get("core", False) for t in truths)
    lib.check(cores and value(samples, "exits_total", cause="core_dumped") >= cores, f"{cores} cores")
    failed = [r for r in exits if (lib.get(r, "process.exit.code") or 0) > 0]
    lib.check(len(failed) >= 40, f"only {len(failed)} failures")
    check_exits(filtered, failed)
    same(filtered, len(exits) - len(failed), "sink_filtered_total", sink="metrics2")
    for metric, key in LEDGER.items():
        same(samples, stop["balance"][key], f"ledger_{metric}")
    for source in stop["exeunt"]["sources"]:
        if source["state"] == "off":
            continue
        for metric, key in {"messages_total": "messages", "bytes_total": "bytes", "lost_total": "lost"}.items():
            same(samples, source[key], f"source_{metric}", source=source["name"])
        same(samples, source["state"] == "open", "source_up", source=source["name"])
    same(samples, len(records), "sink_records_total", sink=name)
    same(samples, os.path.getsize(out), "sink_written_bytes_total", sink=name)
    same(samples, 0, "sink_errno", sink="metrics")
    same(samples, 0, "up")
    same(samples, 1, "build_info", version=stop["exeunt"]["version"], kernel=stop["kernel"]["release"])
    same(samples, 0, "lost_total", source="taskstats", cause="socket_overflow")
    check_lag(samples, len(exits))
    lib.check(value(samples, "resident_memory_bytes") > 1 << 20, "the daemon needs less than a MiB")
    used = sum(value(samples, "cpu_seconds_total", mode=m) for m in ("user", "system"))
    lib.check(used > 0, "the daemon used no CPU")


def check_lag(samples, n):
    buckets = sorted((float(dict(labels)["le"]), v) for (name, labels), v in samples.items()
                     if name == "exit_lag_seconds_bucket")
    counts = [v for _, v in buckets]
    lib.check(counts == sorted(counts), f"the buckets do not add up: {buckets}")
    lib.check(counts[-1] == value(samples, "exit_lag_seconds_count") == n, f"{counts[-1]} lags of {n} exits")


def losses():
    """a buffer that is too small: the file tells what the records tell"""
    out, path = scratch("lost.json"), scratch("lost.prom")
    d = Daemon("--to", f"json:{out}", "--to", f"metrics:{path}", "--rcvbuf", "1M")
    d.process.send_signal(signal.SIGSTOP)
    lib.finish(lib.loader("--count", 20000))
    d.process.send_signal(signal.SIGCONT)
    d.stop()
    records, samples = lib.parse_lines(read(out)), parse(path)
    lost = {}
    for r in records:
        if r["type"] == "loss":
            key = r["loss"]["source"], r["loss"]["cause"]
            lost[key] = lost.get(key, 0) + r["loss"]["count"]
    lib.check(lost.get(("taskstats", "socket_overflow"), 0) > 0, "nothing was lost")
    for (source, cause), n in lost.items():
        same(samples, n, "lost_total", source=source, cause=cause)
    same(samples, records[-1]["balance"]["lost"], "ledger_lost_total")


def while_it_runs():
    """written at once, each second, and on SIGHUP; as another user, and never in part"""
    folder, path = scratch("prom"), scratch("prom/exeunt.prom")
    os.mkdir(folder)
    os.chown(folder, 65534, 65534)
    os.chmod(lib.scratch, 0o755)
    d = Daemon("--to", f"metrics:{path}", "--interval", 1, "--user", "65534")
    wait_until(lambda: os.path.exists(path), "the first file")
    lib.check(stat.S_IMODE(os.stat(path).st_mode) == 0o644, f"its mode is {os.stat(path).st_mode:o}")
    lib.check(os.stat(path).st_uid == 65534, "it is not of the user")
    same(parse(path), 1, "up")
    first = os.stat(path).st_ino
    lib.mkexit("exit-3")
    wait_until(lambda: value(parse(path), "exits_failed_total") >= 1, "the exit in the file")
    lib.check(os.stat(path).st_ino != first, "the file was written in its place")
    d.stop()
    lib.check(os.listdir(folder) == ["exeunt.prom"], f"left behind: {os.listdir(folder)}")
    os.chown(folder, 0, 0)
    d = Daemon("--to", f"metrics:{path}", "--interval", "1h")
    wait_until(lambda: value(parse(path), "up") == 1, "the first file")
    before = os.stat(path).st_ino
    lib.mkexit("exit-3")
    d.reload()
    lib.check(os.stat(path).st_ino != before, "a reload does not write")
    d.stop()


def in_the_way():
    """a folder that only root with all its privileges could write to; a name that nobody reads"""
    folder = scratch("foreign")
    os.mkdir(folder)
    os.chown(folder, 65534, 65534)
    d = Daemon("--to", f"metrics:{folder}/a.prom", wait=False)
    d.wait(1)
    lib.check("without privileges" in d.errors(), f"it says {d.errors()}")
    d = Daemon("--to", f"metrics:{folder}/a.txt", wait=False)
    d.wait(1)
    lib.check(".prom" in d.errors(), f"it says {d.errors()}")


lib.main(equal_to_the_records, losses, while_it_runs, in_the_way)
