# SPDX-License-Identifier: MIT
"""What the live tests share: start exeunt, make processes die, stop it, and compare record by record.

A test is a program: it exits 0 when all its checks passed, 1 when one failed, and 77 when it may not run here;
with EXEUNT_MUST_RUN=1 that is a failure too. It touches only processes that it started.
Environment: EXEUNT, the program under test; HELPERS, the folder of mkexit, loader and floor.
"""
import calendar
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

EXEUNT = os.environ.get("EXEUNT", "exeunt")
HELPERS = os.environ.get("HELPERS") or os.path.join(os.path.dirname(EXEUNT), "..", "tests", "helpers")
CAP_NET_ADMIN = 12
START_TIMEOUT = 20
STOP_TIMEOUT = 60
LATE_NS = 50_000_000
TICK_US = round(time.clock_getres(6) * 1e6)  # CLOCK_MONOTONIC_COARSE: its resolution is the tick

failures = []
scratch = tempfile.mkdtemp(prefix="exeunt-live.")


def check(good, text):
    """One expectation; the test goes on, so that one run tells all that is wrong."""
    if not good:
        failures.append(text)
        print("not ok -", text, flush=True)
    return bool(good)


def say(text):
    print("#", text, flush=True)


def skip(reason):
    """Leaves the test: it cannot run here."""
    must = os.environ.get("EXEUNT_MUST_RUN") == "1"
    print(("not ok - must run, and cannot: " if must else "skipped: ") + reason, flush=True)
    leave(1 if must else 77)


def leave(code):
    shutil.rmtree(scratch, ignore_errors=True)
    sys.stdout.flush()
    os._exit(code)


def main(*tests):
    """Runs the functions of a test program in order and leaves with the right exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        require_taskstats()
        for test in tests:
            say(f"{test.__name__}: {(test.__doc__ or '').strip().splitlines()[0]}")
            test()
    except BaseException:  # pylint: disable=broad-except
        traceback.print_exc(file=sys.stdout)
        failures.append("exception")
    finally:
        for process in list(started):
            process.kill()
    print(f"{len(failures)} failed" if failures else "ok", flush=True)
    leave(1 if failures else 0)


def require_taskstats():
    """taskstats wants CAP_NET_ADMIN in the initial user, pid and network namespace."""
    with open("/proc/self/status") as f:
        caps = int(re.search(r"^CapEff:\s*([0-9a-f]+)", f.read(), re.M).group(1), 16)
    if not caps >> CAP_NET_ADMIN & 1:
        skip("no CAP_NET_ADMIN")
    with open("/proc/self/uid_map") as f:
        if f.read().split() != ["0", "0", "4294967295"]:
            skip("not in the initial user namespace")
    if os.readlink("/proc/self") != str(os.getpid()):
        skip("not in the initial pid namespace")
    try:
        if os.readlink("/proc/self/ns/net") != os.readlink("/proc/1/ns/net"):
            skip("not in the initial network namespace")
    except PermissionError:
        pass  # some inits do not let even root look


# ---- helpers that die ----------------------------------------------------------------------------------------

def helper(name):
    return os.path.join(HELPERS, name)


def mkexit(*args):
    """Runs mkexit; returns (its pid, its truths)."""
    with subprocess.Popen([helper("mkexit"), *map(str, args)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as p:
        text = p.stdout.read()
    truths = [json.loads(line) for line in text.splitlines()]
    check(p.returncode == 0, f"mkexit {args}: exit status {p.returncode}")
    for t in truths:
        t["mkexit_pid"] = p.pid
    return p.pid, truths


def loader(*args, log=None):
    """Starts the loader; finish() gives its result."""
    argv = [helper("loader"), *map(str, args)] + (["--log", log] if log else [])
    return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)


def finish(process):
    """The result that a loader prints."""
    out = process.communicate()[0]
    check(process.returncode == 0, f"loader: exit status {process.returncode}")
    return json.loads(out)


def read_log(path):
    """A log of loader, floor or linetime: tuples (pid, word, CLOCK_REALTIME ns)."""
    with open(path, "rb") as f:
        return list(struct.iter_unpack("=IIq", f.read()))


# ---- exeunt --------------------------------------------------------------------------------------------------

started = []


class Exeunt:
    """exeunt live, with its output in a file. `lines` has the records once stop() was called."""

    def __init__(self, *options, source="taskstats", json_lines=True, wait=True):
        self.path = os.path.join(scratch, f"out.{len(started)}")
        argv = [EXEUNT, "live", *(["--json"] if json_lines else []), "--source", source, *map(str, options)]
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        started.append(self.process)
        self.lines = []
        self.raw = b""
        if wait:
            self.wait_start(json_lines)

    def wait_start(self, json_lines):
        """Until the start record is there; in text, until the first exit of our own shows."""
        end = time.monotonic() + START_TIMEOUT
        while time.monotonic() < end:
            if os.path.getsize(self.path) > 0 and (not json_lines or b"\n" in self.read()):
                return
            if self.process.poll() is not None:
                break
            if not json_lines:
                subprocess.run(["/bin/true"], check=True)
            time.sleep(0.02)
        raise RuntimeError(f"exeunt did not start: {self.errors()}")

    def read(self):
        with open(self.path, "rb") as f:
            return f.read()

    def errors(self):
        with open(self.path + ".err", errors="replace") as f:
            return f.read()

    def interrupt(self):
        """SIGINT and wait; for one that ends by itself, only the wait."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            check(False, f"exeunt did not stop within {STOP_TIMEOUT} s of SIGINT")
        started.remove(self.process)
        self.raw = self.read()
        return self.process.returncode

    def stop(self):
        """Ends it and reads what it wrote; checks all that must hold of any stream."""
        code = self.interrupt()
        check(code == 0, f"exeunt: exit status {code}: {self.errors()}")
        self.lines = parse_lines(self.raw)
        check_stream(self.lines)
        return self.lines

    def exits(self):
        return [r for r in self.lines if r["type"] == "exit"]

    def lost(self):
        """Messages of taskstats that the stream says were lost."""
        return sum(r["loss"]["count"] for r in self.lines
                   if r["type"] == "loss" and r["loss"]["source"] == "taskstats"
                   and r["loss"]["cause"] != "table_full")


def reject(word):
    raise ValueError(f"{word} is no JSON")


def parse_lines(raw):
    """JSON Lines, strictly: whole lines, UTF-8, no NaN, no lone surrogate, no control character."""
    check(raw.endswith(b"\n") or not raw, "the last line has no newline")
    records = []
    control = re.compile(rb"[\x00-\x1f\x7f]")
    for number, line in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            if control.search(line):
                raise ValueError("a raw control character")
            record = json.loads(line.decode("utf-8"), parse_constant=reject)
            if b"\\u" in line:
                json.dumps(record, ensure_ascii=False).encode("utf-8")
            records.append(record)
        except (ValueError, UnicodeError) as e:
            check(False, f"line {number} is not valid: {e}: {line[:200]!r}")
    return records


def check_stream(records):
    """What holds of every stream, whatever happened."""
    if not check(records, "no record at all"):
        return
    check(all(r.get("schema") == "exeunt/1" for r in records), "a record without schema exeunt/1")
    check(records[0]["type"] == "start", f"the first record is {records[0]['type']}, not start")
    check(records[-1]["type"] == "stop", f"the last record is {records[-1]['type']}, not stop")
    seqs = [r.get("seq") for r in records]
    check(seqs == list(range(1, len(seqs) + 1)), "seq does not count 1, 2, 3 ...")
    hosts = {(r.get("host", {}).get("name"), r.get("host", {}).get("boot_id")) for r in records}
    check(len(hosts) == 1 and None not in hosts.pop(), "host.name and host.boot_id are not on every line")
    exits = [r for r in records if r["type"] == "exit"]
    entities = [r["process"].get("entity_id") for r in exits]
    check(None not in entities, "an exit record without process.entity_id")
    check(len(set(entities)) == len(entities), "two exit records with one process.entity_id")
    balance = records[-1].get("balance", {})
    shown = balance.get("exits", 0) - balance.get("filtered", 0) - balance.get("lost_output", 0)
    check(shown == len(exits), f"the stop record's balance is {balance}, the stream has {len(exits)} exits")
    works = [s["name"] for s in records[0]["exeunt"]["sources"] if s["state"] == "open"]
    leading = next((s for s in ("taskstats", "pacct") if s in works), "audit")
    lost = sum(r["loss"]["count"] for r in records if r["type"] == "loss" and r["loss"]["source"] == leading
               and r["loss"]["cause"] != "table_full")  # parts of processes: balance.evicted
    check(balance.get("lost") == lost, f"the stop record says {balance.get('lost')} lost, the loss records {lost}")


# ---- comparing -----------------------------------------------------------------------------------------------

def nanoseconds(text):
    """RFC 3339 in UTC to ns since 1970."""
    m = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z", text or "")
    if not m:
        raise ValueError(f"not a UTC time: {text!r}")
    days = calendar.timegm(tuple(map(int, m.groups()[:6])) + (0, 0, 0))
    return days * 10**9 + int((m.group(7) or "0").ljust(9, "0"))


def get(record, path):
    """The value at a dotted path, or None."""
    for key in path.split("."):
        if not isinstance(record, dict) or key not in record:
            return None
        record = record[key]
    return record


def raw_bytes(record, path):
    """The bytes of a text field: those of its _hex sibling where there is one."""
    spelled = get(record, path + "_hex")
    text = get(record, path)
    if spelled is not None:
        return bytes.fromhex(spelled)
    return None if text is None else text.encode("utf-8")


def match(exits, truths):
    """Pairs (truth, record): by pid, and for a pid used again in the order of the ends. Foreign ones that had a pid
    of ours are told apart by their parent. Checks that each process has exactly one record."""
    by_pid = {}
    for record in exits:
        by_pid.setdefault(get(record, "process.pid"), []).append(record)
    by_truth = {}
    for t in truths:
        by_truth.setdefault(t["pid"], []).append(t)
    pairs = []
    for pid, wanted in by_truth.items():
        found = by_pid.get(pid, [])
        if len(found) > len(wanted):
            parents = {t["parent_pid"] for t in wanted}
            found = [r for r in found if get(r, "process.parent_pid") in parents]
        check(len(found) == len(wanted),
              f"pid {pid} ({', '.join(t['case'] for t in wanted)}): {len(wanted)} ends, {len(found)} exit records")
        wanted.sort(key=lambda t: t["real_after_ns"])
        pairs += zip(wanted, found)
    return pairs


def title(truth):
    kind = f" {truth['kind']}" if "kind" in truth else ""
    return f"{truth['case']}{kind} ({truth['role']}, pid {truth['pid']})"


def same(truth, record, path, want):
    return check(get(record, path) == want, f"{title(truth)}: {path} is {get(record, path)!r}, not {want!r}")


def status_fields(truth):
    """All fields that tell how a process ended, from its wait status."""
    if "signal" in truth:
        return {"process.exit.status": truth["status"], "process.exit.code": None,
                "process.exit.signal": truth["signal"], "process.exit.core_dumped": truth["core"],
                "process.exit.cause": "core_dumped" if truth["core"] else "signaled"}
    return {"process.exit.status": truth["status"], "process.exit.code": truth["code"],
            "process.exit.signal": None, "process.exit.signal_name": None, "process.exit.core_dumped": None,
            "process.exit.cause": "exited"}


def check_status(truth, record):
    for path, want in status_fields(truth).items():
        same(truth, record, path, want)


def check_identity(truth, record):
    same(truth, record, "process.parent_pid", truth["parent_pid"])
    same(truth, record, "process.user.id", truth["uid"])
    same(truth, record, "process.group.id", truth["gid"])
    comm = bytes.fromhex(truth["comm_hex"])
    check(raw_bytes(record, "process.comm") == comm,
          f"{title(truth)}: process.comm is {raw_bytes(record, 'process.comm')!r}, not {comm!r}")


def check_times(truth, record):
    """The end lies between what the child and the parent noted, and so does the start. Returns whether that holds
    within what the record itself claims; a reader that the scheduler woke late may miss that, but not by much."""
    precision = get(record, "process.exit.precision_ns") or 0
    end = nanoseconds(get(record, "process.exit.time"))
    first, last = truth["real_end_ns"] or truth["real_before_ns"], truth["real_after_ns"]
    off = max(first - end, end - last, 0)
    check(off <= precision + LATE_NS, f"{title(truth)}: exit.time is {off / 1e6:.3f} ms outside of the true bounds, "
                                      f"and claims {precision / 1e6:.3f} ms")
    elapsed = get(record, "usage.elapsed_us")
    longest = (truth["mono_after_ns"] - truth["mono_before_ns"]) / 1000 + 1
    check(elapsed is not None and 0 <= elapsed <= longest,
          f"{title(truth)}: usage.elapsed_us is {elapsed}, at most {longest:.0f} is possible")
    start = nanoseconds(get(record, "process.creation.time"))
    allowed = (get(record, "process.creation.precision_ns") or 0) + LATE_NS
    check(truth["real_before_ns"] - allowed <= start <= truth["real_after_ns"] + allowed,
          f"{title(truth)}: creation.time is {(start - truth['real_before_ns']) / 1e6:.3f} ms after the fork")
    return off <= precision


def check_all_times(pairs):
    """Every time is near; nine in ten hold what they claim."""
    held = sum(check_times(truth, record) for truth, record in pairs)
    say(f"exit.time within its own precision: {held} of {len(pairs)}")
    check(held >= 0.9 * len(pairs), f"exit.time is within its own precision in {held} of {len(pairs)} only")
