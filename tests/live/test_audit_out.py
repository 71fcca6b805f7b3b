#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exits as messages to a real auditd, with laurel below it and ausearch behind it: each once, and every loss told."""
import json
import os
import re
import shutil
import signal
import subprocess
import time
import urllib.parse

import audit
import auditd
import lib
import sources

COUNT = int(os.environ.get("EXEUNT_AUDIT_OUT_COUNT", "10000"))
STATUSES = ("exit-3", "exit-255", "signal-9", "signal-15")
GROUP = 4711  # only exits of this real group count: others end meanwhile
HOSTILE = "x' res=failed\nmsg=audit(1.1:1): \x1dUID=\"root\" opid=1"
LAUREL_CONF = """directory = "{0}/laurel"
user = "{1}"
[auditlog]
file = "audit.log"
size = 1000000000
generations = 1
"""
LAUREL_PLUGIN = """active = yes
direction = out
path = {1}
type = always
args = --config {0}/laurel.toml
format = string
"""


class Run:
    """exeunt run with an audit sink, and JSON Lines beside it to compare with."""

    def __init__(self, *options, source="taskstats"):
        self.base = os.path.join(lib.scratch, f"run.{time.monotonic_ns()}")
        argv = [lib.EXEUNT, "run", "--source", source, "--pid-file", self.base + ".pid", "--filter", f"gid == {GROUP}",
                "--to", "json:" + self.base + ".jsonl", "--to", "audit", *map(str, options)]
        with open(self.base + ".err", "wb") as err:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=err)
        lib.started.append(self.process)
        sources.wait_until(lambda: self.said("listening to") or self.process.poll() is not None, "exeunt to listen")

    def errors(self):
        with open(self.base + ".err", errors="replace") as f:
            return f.read()

    def said(self, words):
        return re.search(words, self.errors())

    def wait_said(self, words):
        return sources.wait_until(lambda: self.said(words), f"exeunt to say {words!r}: {self.errors()}")

    def stop(self, codes=(0,)):
        """Its JSON records. A process that hangs here hangs for good."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            lib.check(False, "exeunt did not end")
            self.process.kill()
            self.process.wait()
        lib.started.remove(self.process)
        lib.check(self.process.returncode in codes, f"exeunt: status {self.process.returncode}: {self.errors()}")
        with open(self.base + ".jsonl", "rb") as f:
            records = lib.parse_lines(f.read())
        lib.check_stream(records)
        return records


def fields(text):
    """The inner text as a dictionary, strings as bytes."""
    found = {}
    for word in text.split(" "):
        name, _, value = word.partition("=")
        lib.check(name not in found, f"{name} twice in {text!r}")
        found[name] = value
    comm = found.get("ocomm", "?")
    found["ocomm"] = comm[1:-1].encode() if comm[:1] == '"' else bytes.fromhex(comm) if comm != "?" else None
    return found


def logged(log):
    """Our messages in a log of auditd, in their order."""
    with open(log, "rb") as f:
        lines = f.read().decode("ascii", "replace").split("\n")
    ours = [line for line in lines if line.startswith("type=TRUSTED_APP ")]
    lib.check(all(line.count("'") == 2 and line.count("\x1d") <= 1 for line in ours), "a message breaks out of its quotes")
    return [fields(line.split("'")[1]) | {"sender": line.split(" ")[2]} for line in ours]


def as_record(found):
    """What lib.match() needs of one."""
    return {"process": {"pid": int(found["opid"]), "parent_pid": int(found["oppid"])}, "found": found}


def check_each(what, messages, truths):
    """Each process that ended, once, with its pid, status and name."""
    pairs = lib.match([as_record(m) for m in messages if m["op"] == "process-exit"], truths)
    lib.check(len(pairs) == len(truths), f"{what}: {len(pairs)} of {len(truths)} compared")
    for truth, record in pairs:
        found, want = record["found"], bytes.fromhex(truth["comm_hex"])
        status = ("?", str(truth["signal"])) if "signal" in truth else (str(truth["code"]), "0")
        lib.check((found["exit"], found["sig"]) == status and found["ocomm"] == want,
                  f"{what}: {lib.title(truth)}: {found['exit']}, {found['sig']}, {found['ocomm']!r}, not {status}, {want!r}")
    lib.say(f"{what}: {len(pairs)} compared")


def check_ledger(what, messages):
    """What is missing in the numbers is told as lost, and by no less than is missing."""
    seqs = [int(m["seq"]) for m in messages]
    told = sum(int(m["count"]) for m in messages if m["op"] == "process-exit-loss" and m["source"] == "output")
    lib.check(len(set(seqs)) == len(seqs), f"{what}: a number comes twice")
    lib.check(seqs == sorted(seqs), f"{what}: out of order")
    if lib.check(messages and messages[-1]["op"] == "exeunt-stop", f"{what}: the last is no stop record"):
        missing = seqs[-1] - len(seqs)
        lib.check(missing <= told, f"{what}: {missing} are missing, {told} were told of")
        lib.say(f"{what}: {len(seqs)} of {seqs[-1]} arrived, {told} told as lost")
        return missing, told
    return 0, 0


def wait_for_stop(path, seq=None):
    """Until the last word of a daemon is there; auditd does not drain the kernel's queue when it ends."""
    words = b"op=exeunt-stop seq=" + (b"" if seq is None else b"+%d " % seq)

    def there():
        with open(path, "rb") as f:
            return words in f.read()
    sources.wait_until(there, f"{words} in {path}")


def add_laurel(daemon):
    """laurel as a plugin of this auditd; it gives its privileges up, so its log is in a folder of its own user."""
    program, folder = shutil.which("laurel", path="/usr/sbin:/usr/bin"), os.path.join(daemon.dir, "laurel")
    if not program:
        lib.skip("laurel is not installed")
    with open("/etc/passwd", encoding="ascii", errors="replace") as f:
        user = "_laurel" if any(line.startswith("_laurel:") for line in f) else "nobody"
    os.makedirs(folder)
    shutil.chown(folder, user)
    for path in (lib.scratch, daemon.dir):
        os.chmod(path, 0o711)
    daemon.write("laurel.toml", LAUREL_CONF.format(daemon.dir, user))
    os.chmod(os.path.join(daemon.dir, "laurel.toml"), 0o644)
    daemon.write("plugins.d/laurel.conf", LAUREL_PLUGIN.format(daemon.dir, program))
    return os.path.join(folder, "audit.log")


def of_laurel(path):
    with open(path, "rb") as f:
        events = [json.loads(line) for line in f.read().split(b"\n") if b'"TRUSTED_APP"' in line]
    lib.check(all(set(e) == {"ID", "TRUSTED_APP"} for e in events), "laurel: more than one record in an event")
    return [fields(urllib.parse.unquote(e["TRUSTED_APP"]["msg"])) for e in events]


def unescape(text):
    """auparse takes what is digits for a number, and leaves hexadecimal so that has no letter in it."""
    if re.fullmatch(rb"(\d\d)+", text):
        return bytes.fromhex(text.decode())
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m.group(1), 8)]), text)


def of_ausearch(log):
    """What it makes of them for people."""
    done = subprocess.run(["ausearch", "-if", log, "-m", "TRUSTED_APP", "-i"], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    lib.check(done.returncode == 0, f"ausearch: {done.stderr}")
    found = re.findall(rb"op=process-exit .*? opid=\+(\d+) oppid=\+(\d+) .*? ocomm=(.*?) exe=.*? exit=(\S+) sig=(\S+)",
                       done.stdout)
    numbers = {s.name.encode(): int(s) for s in signal.Signals} | {b"SIGKILL": 9}
    return [{"op": "process-exit", "opid": int(pid), "oppid": int(ppid), "ocomm": unescape(comm),
             "exit": code.decode().replace("success", "0"), "sig": str(numbers.get(sig, sig.decode()))}
            for pid, ppid, comm, code, sig in found]


def odd_cases():
    out = subprocess.run([lib.helper("mkexit"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[0] for line in out.splitlines() if line.startswith("name-")]


def arrives():
    """thousands with odd names, each once, as auditd's log, laurel and ausearch have them"""
    cases = odd_cases() + list(STATUSES)
    with audit.preserved(backlog_limit=8192), auditd.Auditd() as daemon:
        laurel = add_laurel(daemon)
        daemon.start()
        run = Run("--rate", 100000, "--buffer", "16M", source="taskstats,procevents,audit")
        truths = mkexit(*cases, "--count", -(-COUNT // len(cases)))
        die(1, HOSTILE)
        records = run.stop()
        wait_for_stop(laurel)
        daemon.stop()
        messages = logged(daemon.log)
        hostile = [m for m in messages if m.get("proctitle") == f"/bin/true\0{HOSTILE}".encode().hex().upper()]
        lib.check(len(hostile) == 1, f"{len(hostile)} exits with hostile arguments")
        lib.check(check_ledger("auditd", messages) == (0, 0), "messages were lost")
        lib.check(len(messages) == len(records), f"{len(records)} records as JSON, {len(messages)} as messages")
        check_each("auditd", messages, truths)
        check_each("laurel", of_laurel(laurel), truths)
        check_each("ausearch", of_ausearch(daemon.log), truths)
        unparsable = lib.get(records[-1], "balance.unparsable")
        lib.check(unparsable == 0, f"{unparsable} unparsable: our own messages come back")


def die(n=1, *args):
    for _ in range(n):
        subprocess.run(["/bin/true", *args], group=GROUP, check=True)


def mkexit(*args):
    """lib.mkexit() in our group."""
    with subprocess.Popen([lib.helper("mkexit"), *map(str, args)], group=GROUP, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE) as p:
        truths = [json.loads(line) for line in p.stdout.read().splitlines()]
    lib.check(p.returncode == 0, f"mkexit {args}: exit status {p.returncode}")
    return truths


def die_until(run, words):
    """Exits go on until exeunt has seen what happened."""
    end = time.monotonic() + auditd.TIMEOUT
    while not run.said(words) and time.monotonic() < end:
        die()
        time.sleep(0.02)
    lib.check(run.said(words), f"exeunt did not say {words!r}: {run.errors()}")


def switched_off():
    """audit is switched off and on: told, what may be lost is counted, what waited arrives"""
    with audit.preserved(backlog_limit=8192), auditd.Auditd() as daemon:
        daemon.start()
        run = Run("--rate", 100000)
        die(20)
        audit.change(enabled=0)
        die_until(run, "audit is switched off")
        before = len(logged(daemon.log))
        die(20)
        audit.change(enabled=1)
        run.wait_said("takes records again")
        run.stop()
        wait_for_stop(daemon.log)
        daemon.stop()
        messages = logged(daemon.log)
        missing, told = check_ledger("off", messages)
        lib.check(0 < missing <= told, f"{missing} swallowed by audit while it was off, {told} told of")
        lib.check(len(messages) >= before + 20, "what waited did not arrive")
        lib.check(all(m["exact"] == "no" for m in messages if m["op"] == "process-exit-loss"), "that loss is exact?")


def killed():
    """auditd is killed and comes back"""
    with audit.preserved(backlog_limit=8192), auditd.Auditd() as daemon:
        daemon.start()
        run = Run("--rate", 100000)
        die(100)
        daemon.process.kill()
        daemon.process.wait()
        lib.started.remove(daemon.process)
        run.wait_said("no auditd is there")
        die(100)
        daemon.start()
        run.wait_said("takes records again")
        records = run.stop()
        wait_for_stop(daemon.log)
        daemon.stop()
        messages = logged(daemon.log)
        check_ledger("killed", messages)
        late = [m for m in messages if m["op"] == "process-exit"][-100:]
        lib.check(len(late) == 100, f"{len(late)} exits arrived")
        lib.check(len(messages) <= len(records) + 1, "more messages than records, and a loss")


def stopped():
    """auditd does not read: nobody waits, what does not fit is counted, and the end does not hang"""
    with audit.preserved(backlog_limit=64, backlog_wait_time=6000), auditd.Auditd() as daemon:
        daemon.start()
        run = Run("--rate", 100000, "--buffer", "64K")
        daemon.process.send_signal(signal.SIGSTOP)
        truths = mkexit("exit-3", "--count", 3000)
        run.wait_said("half full")
        second = Run("--rate", 100000)
        die(10)
        lib.check(second.stop(codes=(0, 1)), "a second daemon has no records")  # it may be unable to send all
        daemon.process.send_signal(signal.SIGCONT)
        run.wait_said("takes records again")
        records = run.stop()
        wait_for_stop(daemon.log)
        daemon.stop()
        pairs = lib.match([r for r in records if r["type"] == "exit"], truths)
        lib.check(len(pairs) == len(truths), f"as JSON {len(pairs)} of {len(truths)}")
        messages = logged(daemon.log)
        messages = [m for m in messages if m["sender"] == messages[0]["sender"]]  # not of the second
        missing, told = check_ledger("stopped", messages)
        lib.check(0 < missing <= told, f"{missing} are missing, {told} were told of")


def nobody():
    """nobody reads audit: it starts, keeps what it can, and ends"""
    with audit.preserved(backlog_limit=8192):
        run = Run()
        run.wait_said("no auditd is there")
        die(5)
        run.stop()
        run.wait_said("were not sent to audit")


def owned_by_us():
    """exeunt itself owns audit: no auditd would read what is sent, and it says so"""
    with audit.preserved(backlog_limit=8192):
        run = Run("--audit", "unicast", source="taskstats,audit")
        run.wait_said("itself owns audit")
        die(5)
        run.stop()


def not_permitted():
    """without CAP_AUDIT_WRITE it says so at once"""
    done = subprocess.run(["setpriv", "--bounding-set", "-audit_write", "--inh-caps", "-audit_write", lib.EXEUNT, "run",
                           "--source", "taskstats", "--pid-file", os.path.join(lib.scratch, "np.pid"), "--to", "audit"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60)
    lib.check(done.returncode == 1 and "CAP_AUDIT_WRITE" in done.stderr, f"{done.returncode}: {done.stderr}")


audit.require()
if not auditd.is_there():
    lib.skip("auditd is not installed")
lib.main(arrives, switched_off, killed, stopped, nobody, owned_by_us, not_permitted)
