#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exits as audit lines to dispatcher plugins that exeunt runs, and to readers of its socket; good ones beside bad ones."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import lib
import sources

COUNT = int(os.environ.get("EXEUNT_PLUGINS_OUT_COUNT", "10000"))
STATUSES = ("exit-3", "exit-255", "signal-9", "signal-15")
READ = 4096  # bytes that the plugin below can have taken and not written when it is killed
SHORTEST = 300  # a line of ours is longer
LAUREL_CONF = """directory = "{0}"
user = "{1}"
[auditlog]
file = "audit.log"
size = 1000000000
generations = 1
"""
# a plugin that keeps little, and one that neither reads nor obeys
CAREFUL = """#!/usr/bin/env -S -i /usr/bin/python3
import os
with open("{0}.pid", "w") as f:
    f.write(str(os.getpid()))
out = os.open("{0}.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o640)
while data := os.read(0, {1}):
    os.write(out, data)
"""
STUBBORN = """#!/bin/sh
trap '' TERM HUP INT
echo $$ >{0}.pid
while :; do sleep 1; done
"""
# a /dev of its own, where /dev/log is ours
NAMESPACE = 'mount --bind /dev/null "$1/null" && mount --rbind "$1" /dev && shift && exec "$@"'


def place(name):
    return os.path.join(lib.scratch, name)


def read(name):
    with open(place(name), "rb") as f:
        return f.read()


def script(name, text):
    path = place(name)
    with open(path, "w", encoding="ascii") as f:
        f.write(text.format(path, READ))
    os.chmod(path, 0o755)
    return path


class Run:
    """exeunt run with some sinks, options of each behind a |, and JSON Lines beside them to compare with."""
    made = 0

    def __init__(self, *sinks, prefix=()):
        Run.made += 1
        self.base = place(f"run.{Run.made}")
        argv = [*prefix, lib.EXEUNT, "run", "--source", "taskstats", "--pid-file", self.base + ".pid",
                "--to", "json:" + self.base + ".jsonl"]
        for sink in sinks:
            argv += ["--to", *sink.split("|")]
        with open(self.base + ".err", "wb") as err:
            self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=err)
        lib.started.append(self.process)
        sources.wait_until(lambda: "listening to" in self.errors() or self.process.poll() is not None, "exeunt to listen")
        lib.check(self.process.poll() is None, f"exeunt did not start: {self.errors()}")

    def errors(self):
        with open(self.base + ".err", errors="replace") as f:
            return f.read()

    def status(self, key, pid=None):
        with open(f"/proc/{pid or self.process.pid}/status", encoding="ascii", errors="replace") as f:
            return re.search(rf"^{key}:\s*(\S+)", f.read(), re.M).group(1)

    def keepers(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            return [int(pid) for pid in f.read().split() if self.status("Name", pid) == "exeunt-keeper"]

    def stop(self):
        """Its JSON records."""
        self.process.terminate()
        try:
            self.process.wait(lib.STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            lib.check(False, "exeunt did not stop")
            self.process.kill()
            self.process.wait()
        lib.started.remove(self.process)
        lib.check(self.process.returncode == 0, f"exit status {self.process.returncode}: {self.errors()}")
        with open(self.base + ".jsonl", "rb") as f:
            records = lib.parse_lines(f.read())
        lib.check_stream(records)
        return records


class Reader(threading.Thread):
    """Takes what comes from a socket until its end, or, for datagrams, until done() is called."""

    def __init__(self, sock):
        super().__init__(daemon=True)
        self.sock, self.parts = sock, []
        self.ended = False
        self.sock.settimeout(0.1)
        self.start()

    def run(self):
        while True:
            try:
                part = self.sock.recv(1 << 16)
            except TimeoutError:
                if self.ended:
                    return
                continue
            if not part:
                return
            self.parts.append(part)

    def done(self):
        self.ended = self.sock.type == socket.SOCK_DGRAM
        self.join(lib.STOP_TIMEOUT)
        self.sock.close()
        return self.parts


def fields(text):
    """The inner text as a dictionary, the name as bytes."""
    found = dict(word.split("=", 1) for word in text.split(" "))
    lib.check(len(found) == text.count(" ") + 1, f"a name twice in {text!r}")
    comm = found.get("ocomm", "?")
    found["ocomm"] = comm[1:-1].encode() if comm[:1] == '"' else bytes.fromhex(comm) if comm != "?" else None
    return found


def messages(data):
    """Those of lines as a plugin gets them, which must be whole."""
    lib.check(data.endswith(b"\n") or not data, "the last line is cut off")
    found = []
    for line in data.decode("ascii").split("\n")[:-1]:
        m = re.fullmatch(r"type=TRUSTED_APP msg=audit\((\d+\.\d{3}):(\d+)\): pid=\d+ uid=0 auid=\d+ ses=\d+(?: subj=[^']+)? "
                         r"msg='([^'\x1d]*)'", line)
        if lib.check(m, f"no line as it should be: {line!r}"):
            found.append(fields(m.group(3)))
            lib.check(found[-1]["seq"] == "+" + m.group(2), f"serial and seq differ: {line!r}")
    return found


def check_each(what, found, truths):
    """Each process that ended, once, with its pid, status and name."""
    exits = [{"process": {"pid": int(m["opid"]), "parent_pid": int(m["oppid"])}, "found": m}
             for m in found if m["op"] == "process-exit"]
    pairs = lib.match(exits, truths)
    lib.check(len(pairs) == len(truths), f"{what}: {len(pairs)} of {len(truths)} compared")
    for truth, record in pairs:
        got, want = record["found"], bytes.fromhex(truth["comm_hex"])
        status = ("?", str(truth["signal"])) if "signal" in truth else (str(truth["code"]), "0")
        lib.check((got["exit"], got["sig"]) == status and got["ocomm"] == want,
                  f"{what}: {lib.title(truth)}: {got['exit']}, {got['sig']}, {got['ocomm']!r}, not {status}, {want!r}")
    lib.say(f"{what}: {len(pairs)} compared")


def lost(found):
    return sum(int(m["count"]) for m in found if m["op"] == "process-exit-loss" and m["source"] == "output")


def untold(what, found):
    """How many are missing that no line tells of; none may come twice."""
    seqs = [int(m["seq"]) for m in found]
    lib.check(seqs and seqs == sorted(set(seqs)), f"{what}: not in order, or one twice")
    told = lost(found)
    missing = seqs[-1] - len(seqs) if seqs else 0
    lib.say(f"{what}: {len(seqs)} lines, {missing} missing, {told} told as lost")
    return missing - told


def odd_cases():
    out = subprocess.run([lib.helper("mkexit"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[0] for line in out.splitlines() if line.startswith("name-")]


def laurel_sink():
    """laurel gives its privileges up, so its log is in a folder of its own user."""
    program, folder = shutil.which("laurel", path="/usr/sbin:/usr/bin"), place("laurel")
    if not program:
        lib.skip("laurel is not installed")
    with open("/etc/passwd", encoding="ascii", errors="replace") as f:
        user = "_laurel" if any(line.startswith("_laurel:") for line in f) else "nobody"
    os.makedirs(folder)
    shutil.chown(folder, user)
    os.chmod(lib.scratch, 0o711)
    with open(place("laurel.toml"), "w", encoding="ascii") as f:
        f.write(LAUREL_CONF.format(folder, user))
    return f"plugin:{program} --config {f.name}"


def of_laurel():
    events = [json.loads(line) for line in read("laurel/audit.log").split(b"\n") if b'"TRUSTED_APP"' in line]
    lib.check(all(set(e) == {"ID", "TRUSTED_APP"} for e in events), "laurel: more than one record in an event")
    return [fields(urllib.parse.unquote(e["TRUSTED_APP"]["msg"])) for e in events]


def of_syslog(datagrams):
    """What audisp-syslog sent, without what the log has in front."""
    found = []
    for datagram in datagrams:
        m = re.fullmatch(rb"<158>.*? audisp\S*: (type=TRUSTED_APP .*?)[\n\0]*", datagram, re.S)
        if m:
            found.append(m.group(1))
    return messages(b"".join(line + b"\n" for line in found))


def connect(name):
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.connect(place(name))
    return client


def stock_consumers():
    """thousands with odd names through audisp-syslog, laurel and the socket, each once"""
    syslog = shutil.which("audisp-syslog", path="/usr/sbin:/sbin")
    if not syslog:
        lib.skip("audisp-syslog is not installed")
    os.makedirs(place("dev"))
    with open(place("dev/null"), "wb"):
        pass
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind(place("dev/log"))
    os.chmod(place("dev/log"), 0o666)
    log = Reader(log)
    run = Run(*(sink + "|--buffer|64M" for sink in (laurel_sink(), f"plugin:{syslog} LOG_INFO LOG_LOCAL3",
                                                    "audispd:" + place("events"))),
              prefix=("unshare", "-m", "sh", "-c", NAMESPACE, "sh", place("dev")))
    readers = [Reader(connect("events")) for _ in range(2)]
    lib.check(os.stat(place("events")).st_mode & 0o777 == 0o640, "the socket has another mode than 0640")
    cases = odd_cases() + list(STATUSES)
    _, truths = lib.mkexit(*cases, "--count", -(-COUNT // len(cases)))
    records = run.stop()
    lib.check(len(truths) >= COUNT, f"only {len(truths)} ended")
    lib.check(records[-1]["balance"]["lost"] == 0, f"lost: {records[-1]['balance']}")
    found = {"laurel": of_laurel(), "audisp-syslog": of_syslog(log.done())}
    for n, reader in enumerate(readers):
        found[f"reader {n}"] = messages(b"".join(reader.done()))
    for what, lines in found.items():
        check_each(what, lines, truths)
        lib.check(untold(what, lines) == 0, f"{what}: lines are missing")
        lib.check(lines[0]["op"] == "exeunt-start" and lines[-1]["op"] == "exeunt-stop", f"{what}: no start, or no stop")
    lib.check(len(found["laurel"]) == len(records), f"{len(records)} records as JSON, {len(found['laurel'])} in laurel")


def privileges(run, pid, what):
    """A plugin has what we have; the daemon has nothing."""
    lib.check(int(run.status("CapEff"), 16) == 0, f"the daemon has {run.status('CapEff')}")
    lib.check(run.status("NoNewPrivs") == "1", "the daemon may get new privileges")
    for key in ("CapEff", "NoNewPrivs", "Uid"):
        lib.check(run.status(key, pid) == run.status(key, os.getpid()), f"{what}: {key} is {run.status(key, pid)}")
    lib.check(run.status("SigBlk", pid) == "0" * 16, f"{what}: signals are blocked: {run.status('SigBlk', pid)}")


def pid_of(name, not_this=None):
    def there():
        return os.path.exists(place(name + ".pid")) and read(name + ".pid").strip() not in (b"", str(not_this).encode())
    sources.wait_until(there, f"{name} to run")
    return int(read(name + ".pid"))


def bad_company():
    """one hung, one killed each second, one that ignores everything, one reader that never reads: the others get all"""
    careful, stubborn = script("careful", CAREFUL), script("stubborn", STUBBORN)
    run = Run(f"plugin:/usr/bin/tee {place('good.out')}", "plugin:/bin/sleep 1000|--buffer|256K", f"plugin:{careful}",
              f"plugin:{stubborn}|--buffer|256K", "audispd:" + place("bad"))
    hung, good = connect("bad"), Reader(connect("bad"))
    pid = pid_of("careful")
    privileges(run, pid, "the first")
    load = lib.loader("--seconds", 3, "--rate", 1500)
    kills = 0
    while load.poll() is None:
        time.sleep(1)
        os.kill(pid, signal.SIGKILL)
        kills += 1
        pid = pid_of("careful", not_this=pid)
    privileges(run, pid, "one that was started again")
    lib.finish(load)
    subprocess.run(["/bin/true"], check=True)
    peak = int(run.status("VmHWM"))
    records = run.stop()
    hung.close()
    errors = run.errors()
    lines = {"good": messages(read("good.out")), "killed": messages(read("careful.out")),
             "reader": messages(b"".join(good.done()))}
    lib.check(untold("good", lines["good"]) == 0 == lost(lines["good"]), "the good one lost some")
    lib.check(len(lines["good"]) == len(records), f"the good one has {len(lines['good'])} of {len(records)}")
    lib.check(untold("reader", lines["reader"]) == 0 and lines["reader"][-1]["op"] == "exeunt-stop", "the reader has not all")
    # what it had read, and not written, when it was killed nobody knows
    missing = untold("killed", lines["killed"])
    lib.check(0 <= missing <= kills * (READ // SHORTEST + 1), f"killed {kills} times: {missing} are missing")
    lib.check(errors.count("careful was killed by signal 9; it is started again") == kills, f"{kills} kills: {errors}")
    for words in ("plugin /bin/sleep does not keep up", "stubborn does not keep up", "stubborn did not leave in time",
                  r"plugin /bin/sleep left \d+ records unread", r"stubborn left \d+ records unread"):
        lib.check(re.search(words, errors), f"{words!r} is not in {errors}")
    lib.check(records[-1]["balance"]["lost"] == 0, f"the collector waited: {records[-1]['balance']}")
    lib.check(peak < 64 * 1024, f"resident memory had a peak of {peak} KiB")
    lib.say(f"{len(records)} records, {kills} kills, peak {peak} KiB")


def killed_daemon():
    """exeunt is killed: its plugins read what is left, get an end of file, and are ended if that does not help"""
    stubborn = script("obstinate", STUBBORN)
    run = Run(f"plugin:/usr/bin/tee {place('left.out')}", f"plugin:{stubborn}")
    pid, keepers = pid_of("obstinate"), run.keepers()
    lib.check(len(keepers) == 2, f"keepers: {keepers}")
    for _ in range(100):
        subprocess.run(["/bin/true"], check=True)
    sources.wait_until(lambda: read("left.out").count(b"op=process-exit ") >= 100, "the plugin to have all")
    os.kill(pid, signal.SIGTERM)
    run.process.kill()
    run.process.wait()
    lib.started.remove(run.process)
    sources.wait_until(lambda: not any(os.path.exists(f"/proc/{n}") for n in (*keepers, pid)), "all of it to end")
    lib.check(untold("left", messages(read("left.out"))) == 0, "lines are missing")


def refusals():
    """what auditd would not run is refused, with the reason"""
    path = script("loose", STUBBORN)
    for mode, why in ((0o777, "chmod go-w"), (0o700, "chmod ug")):
        os.chmod(path, mode)
        done = subprocess.run([lib.EXEUNT, "run", "--source", "taskstats", "--pid-file", place("refused.pid"),
                               "--to", f"plugin:{path}"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        lib.check(done.returncode == 1 and why in done.stderr.decode(), f"{mode:o}: {done.returncode}, {done.stderr}")


lib.main(refusals, stock_consumers, bad_company, killed_daemon)
