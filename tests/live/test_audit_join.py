#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Audit joined: each exit with the identity that audit told of it, nobody else's, once; what is missing is told."""
import collections
import os
import re
import shutil
import subprocess

import audit
import auditd
import lib
import sources

DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules")
EACH = int(os.environ.get("EXEUNT_AUDIT_COUNT", "20000")) // 4
EXECS = EACH // 10
SOURCES = "taskstats,procevents,audit"
UNSET = 4294967295
LOGINS = (5001, None, 5003, 5004)
# what taskstats knows by itself, also where audit told nothing
ALWAYS = ("process.pid", "process.exit.code", "process.comm")
# ends of threads, of which audit has a record, and ends of processes, of which it has none
NO_EXIT_GROUP = {"threads-sysexit", "leader-first-raw", "seccomp-thread"}
KILLED = {"signal-KILL", "signal-TERM", "threads-sigkill"}
CASES = sorted(NO_EXIT_GROUP | KILLED) + ["core-SEGV", "nocore-ABRT", "seccomp-strict", "seccomp-filter", "segv-worker",
                                          "worker-exit", "exec-worker", "exec-leader", "leader-early", "setuid", "exit-77"]


def rules(*args):
    done = subprocess.run([lib.EXEUNT, "rules", "--dir", DIR, *args], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    lib.check(done.returncode == 0, f"rules {args}: {done.stderr}")


class Group:
    """Processes of one program by a name of its own, in a login session of its own."""
    made = 0

    def __init__(self, login, program, count):
        Group.made += 1
        self.name, self.login, self.count = f"aj-{os.getpid()}-{Group.made}", login, count
        self.path = os.path.join(lib.scratch, self.name)
        shutil.copy(program, self.path)
        script = "cat /proc/self/sessionid >$0.session; exec \"$@\""
        if login is not None:
            script = f"echo {login} >/proc/self/loginuid; {script}"
        self.process = subprocess.Popen(["/bin/sh", "-c", script, self.path, *self.arguments()], cwd=lib.scratch,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)

    def identity(self):
        return {"process.comm": self.name[:15], "process.executable.path": self.path,
                "audit.login_uid": UNSET if self.login is None else self.login, "audit.session": self.session}

    def finish(self):
        self.read(self.process)
        with open(self.path + ".session") as f:
            self.session = int(f.read())


class Exits(Group):
    """A loader, whose children tell their number by uid and code."""

    def __init__(self, login, count=EACH):
        self.base = 1_000_000 * (os.getpid() % 2000 + 100) + 100_000 * (Group.made % 10)
        self.log = os.path.join(lib.scratch, f"log.{Group.made}")
        super().__init__(login, lib.helper("loader"), count)

    def arguments(self):
        return [self.path, "--count", str(self.count), "--exit-codes", "--uid-encode", "--uid-base", str(self.base),
                "--log", self.log]

    def read(self, process):
        self.rate = lib.finish(process)["rate"]
        self.truth = [(pid, code) for pid, code, _ in lib.read_log(self.log)]
        lib.check(len(self.truth) == self.count, f"{self.name}: {len(self.truth)} children of {self.count}")

    def number_of(self, record):
        number = (lib.get(record, "process.user.id") or 0) - self.base
        return number if 0 <= number < self.count and lib.get(record, "process.parent_pid") == self.process.pid else None

    def expected(self, number):
        pid, code = self.truth[number]
        uid = self.base + number
        return {"process.pid": pid, "process.user.id": uid, "process.effective_user.id": uid, "process.exit.code": code,
                **self.identity()}


class Execs(Group):
    """A shell that runs itself again and again, with its number as an argument and as its code."""

    def __init__(self, login, count=EXECS):
        super().__init__(login, "/bin/dash", count)

    def arguments(self):
        loop = "i=0; while [ $i -lt $1 ]; do $0 -c 'exit $(($0 & 255))' $i --tail; i=$((i + 1)); done"
        return [self.path, "-c", loop, self.path, str(self.count)]

    def read(self, process):
        process.communicate()

    def number_of(self, record):
        args = lib.get(record, "process.command_args") or []
        good = lib.get(record, "process.parent_pid") == self.process.pid and args[-1:] == ["--tail"]
        return int(args[-2]) if good else None

    def expected(self, number):
        return {"process.command_args": [self.path, "-c", "exit $(($0 & 255))", str(number), "--tail"],
                "process.exit.code": number & 255, "process.working_directory": lib.scratch, **self.identity()}


def overlay(to, amendment):
    for key, value in amendment.items():
        if isinstance(value, dict) and isinstance(to.get(key), dict):
            overlay(to[key], value)
        else:
            to[key] = value


def finals(lines):
    """Each exit record with its amendments laid over it, in order; and how many amendments there were."""
    found, amended = {}, 0
    for r in lines:
        entity = lib.get(r, "process.entity_id")
        if r["type"] == "exit":
            found[entity] = r
        elif r["type"] == "amend":
            amended += 1
            if lib.check(entity in found, f"an amendment of nothing: {r}"):
                overlay(found[entity], {k: v for k, v in r.items() if k not in ("type", "seq", "time")})
    return list(found.values()), amended


def audit_lost(lines):
    return sum(r["loss"]["count"] for r in lines if r["type"] == "loss" and r["loss"]["source"] == "audit")


def check_groups(groups, exits, told):
    """Every child has one record, and the identity that audit knew where it told of it. Returns those not told of."""
    found = collections.defaultdict(list)
    for r in exits:
        for g in groups:
            number = g.number_of(r)
            if number is not None:
                found[g, number].append(r)
    untold, wrong = [], collections.Counter()
    for g in groups:
        for number in range(g.count):
            records = found[g, number]
            if len(records) != 1:
                wrong[f"{type(g).__name__}: {len(records)} records"] += 1
                continue
            if not told(g, records[0]):
                untold.append(records[0])
            for path, value in g.expected(number).items():
                seen = lib.get(records[0], path)
                if seen != value and (told(g, records[0]) or path in ALWAYS):
                    wrong[path] += 1
                    if wrong[path] <= 3:
                        lib.say(f"{g.name} {number}: {path} is {seen!r}, not {value!r}: {records[0]}")
    lib.check(not wrong, f"wrong: {dict(wrong)}")
    return untold


def by_audit(_group, record):
    return "audit" in record["sources"]


def check_cases(exits, truths):
    """Who called exit_group(2) or dumped core was told of; who was killed was not, and that is nothing that is missing."""
    for truth, r in lib.match(exits, truths):
        name = truth["case"]
        if name != "random" and truth["role"] == "child":
            lib.check(by_audit(None, r) == (name not in KILLED) or name in NO_EXIT_GROUP,
                      f"{lib.title(truth)}: sources are {r['sources']}")
        if by_audit(None, r):
            lib.same(truth, r, "process.effective_user.id", truth["euid"])
        lib.check("audit" not in r.get("missing", []), f"{lib.title(truth)}: audit is said to be missing")
        lib.check_status(truth, r) if lib.get(r, "process.exit.certain") is None else None
        lib.check_identity(truth, r)


def catch_up(*outputs):
    """Audit's records come in their order, so what was before a process that is in the output is there too."""
    with subprocess.Popen(["/bin/sh", "-c", "exit 0", "catch-up"]) as last:
        pass
    wanted = re.compile(rb'"type":"exit".*"process":{"pid":%d,' % last.pid)
    for path in outputs:
        def there():
            with open(path, "rb") as f:
                f.seek(max(0, os.path.getsize(path) - (1 << 20)))
                return wanted.search(f.read())
        sources.wait_until(there, f"the last process in {os.path.basename(path)}")


def load(kind, *outputs):
    """20,000 exits, two loads at a time, and some that end in other ways. Returns the groups and the truths of the others."""
    groups = []
    for i in range(0, 4, 2):
        pair = [Exits(login, EACH - EXECS if kind == "exec" else EACH) for login in LOGINS[i:i + 2]]
        if kind == "exec":
            pair += [Execs(login) for login in LOGINS[i:i + 2]]
        for g in pair:
            g.finish()
        groups += pair
    _, truths = lib.mkexit("random", "--count", 300, "--seed", 3, "--max-threads", 4, "--parallel", 2)
    _, cases = lib.mkexit(*CASES)
    sources.wait_until(lambda: audit.status()["backlog"] == 0, "audit's queue to be empty")
    catch_up(*outputs)
    return groups, truths + cases


def check_exits(name, lines, groups, truths, say=""):
    """The exit rule is loaded."""
    exits, amended = finals(lines)
    untold, lost = check_groups(groups, exits, by_audit), audit_lost(lines)
    serials = collections.Counter(lib.get(r, "audit.serial") for r in exits if by_audit(None, r))
    balance = lines[-1]["balance"]
    lib.say(f"{name}: {sum(g.count for g in groups)} exits at {groups[0].rate + groups[1].rate:.0f}/s, {len(untold)} not told "
            f"of, {lost} records lost, {amended} amendments {say}")
    lib.check(len(untold) <= lost, f"{name}: {len(untold)} exits not told of by audit, {lost} records said to be lost")
    lib.check(all(n == 1 for n in serials.values()), f"{name}: one audit record in two exits")
    lib.check(balance["unmatched"] == 0, f"{name}: {balance['unmatched']} unmatched")
    lib.check(not [r for r in lines if r["type"] == "loss" and r["loss"]["source"] != "audit"], f"{name}: others lost")
    check_cases(exits, truths)
    return exits


def test_exits():
    """the exit rule, beside whoever owns audit and in the place of auditd"""
    for mode in ("multicast", "unicast"):
        with audit.preserved(backlog_limit=8192):
            rules("load", "exits")
            exeunt = lib.Exeunt("--audit", mode, source=SOURCES)
            groups, truths = load("exits", exeunt.path)
            exeunt.stop()
        check_exits(f"exits, {mode}", exeunt.lines, groups, truths)


def check_execs(name, lines, groups, truths):
    """The exec rule is loaded, and none for exits."""
    exits, amended = finals(lines)
    untold, lost = check_groups(groups, exits, lambda g, r: isinstance(g, Execs)), audit_lost(lines)
    marked = collections.Counter(path for r in exits for path in r.get("inherited", [])
                                 if any(isinstance(g, Execs) and g.number_of(r) is not None for g in groups))
    lib.say(f"{name}: {sum(g.count for g in groups)} exits, {sum(isinstance(g, Execs) * g.count for g in groups)} after an exec: "
            f"{dict(marked)} marked, {lost} records lost, {amended} amendments")
    own = {"process.executable.path", "process.command_args", "process.working_directory", "audit.login_uid", "audit.session"}
    lib.check(lost or not own & set(marked), f"{name}: marked as inherited or read late: {dict(marked)}")
    lib.check(lines[-1]["balance"]["unmatched"] == 0, f"{name}: {lines[-1]['balance']['unmatched']} unmatched")
    check_cases_alone(exits, truths)


def check_cases_alone(exits, truths):
    for truth, r in lib.match(exits, truths):
        lib.check("audit" not in r.get("missing", []), f"{lib.title(truth)}: audit is said to be missing")
        lib.check_identity(truth, r)


def test_execs():
    """the exec rule: the arguments of each, however short it was, beside whoever owns audit and in the place of auditd"""
    for mode in ("multicast", "unicast"):
        with audit.preserved(backlog_limit=8192):
            rules("load", "exec")
            exeunt = lib.Exeunt("--audit", mode, source=SOURCES)
            groups, truths = load("exec", exeunt.path)
            exeunt.stop()
        check_execs(f"execs, {mode}", exeunt.lines, groups, truths)


def oracle(path):
    """serial -> (pid, uid) of the ends that auditd wrote down."""
    found = {}
    pattern = re.compile(r"msg=audit\(\d+\.\d+:(\d+)\): arch=\S+ syscall=231 .* pid=(\d+) auid=\d+ uid=(\d+)")
    with open(path, errors="replace") as f:
        for line in f:
            m = pattern.search(line)
            if m:
                found[int(m.group(1))] = (int(m.group(2)), int(m.group(3)))
    return found


def test_auditd():
    """under a real auditd, as its plugin and beside it: the same, and each record is of the process that auditd wrote down"""
    if not auditd.is_there():
        lib.skip("auditd is not installed")
    for kind, check in (("exits", check_exits), ("exec", check_execs)):
        with audit.preserved(backlog_limit=8192), auditd.Auditd(f"--source={SOURCES}") as daemon:
            rules("load", kind)
            daemon.start()
            daemon.wait_plugin()
            exeunt = lib.Exeunt("--audit", "multicast", source=SOURCES)
            groups, truths = load(kind, exeunt.path, daemon.output)
            exeunt.stop()
            daemon.stop()
        check(f"{kind}, multicast beside auditd", exeunt.lines, groups, truths)
        lines = daemon.records()
        lib.check_stream(lines)
        check(f"{kind}, plugin of auditd", lines, groups, truths)
        if kind == "exits":
            wrote = oracle(daemon.log)
            for r in [r for r in lines + exeunt.lines if r["type"] == "exit" and by_audit(None, r)]:
                pid, uid = lib.get(r, "process.pid"), lib.get(r, "process.user.id")
                if lib.get(r, "audit.serial") in wrote:
                    lib.check(wrote[lib.get(r, "audit.serial")] == (pid, uid), f"auditd has another process: {r}")


audit.require()
chosen = os.environ.get("EXEUNT_AUDIT_PARTS", "exits,execs,auditd").split(",")
lib.main(*(globals()[f"test_{name}"] for name in chosen))
