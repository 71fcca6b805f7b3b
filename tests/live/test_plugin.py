#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt plugin, as auditd runs it: its signals, its end, what it joins, and an output that nobody reads."""
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

import audit
import lib
import sources

TIMEOUT = 20
HUNG_SECONDS = 30
RATE = 5000
BLOCKED = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGCHLD, signal.SIGCONT)
IGNORED = set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, 32, 33}
SYSCALL = ("type=SYSCALL msg=audit({0:.3f}:{1}): arch=c000003e syscall=231 a0={2:x} a1=0 a2=0 a3=0 items=0 ppid=100 "
           "pid={3} auid=1000 uid=1000 gid=1000 euid=1000 suid=1000 fsuid=1000 egid=1000 sgid=1000 fsgid=1000 tty=pts0 "
           'ses=3 comm="demo" exe="/usr/bin/demo" subj=unconfined key="exeunt-exits"\n')
PROCTITLE = "type=PROCTITLE msg=audit({0:.3f}:{1}): proctitle=64656D6F002D78\n"
EOE = "type=EOE msg=audit({0:.3f}:{1}): \n"


def event(serial, code, pid, when=None):
    """The three records of an exit_group(2)."""
    when = when or time.time()
    return [form.format(when, serial, code, pid).encode() for form in (SYSCALL, PROCTITLE, EOE)]


def first_start():
    """What auditd leaves a plugin at its first start: everything ignored."""
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)


def started_again():
    """What auditd 3.0 leaves a plugin that it starts again: blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, BLOCKED)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Plugin:
    """We are auditd: a socket as its input, nothing in its environment."""

    def __init__(self, *options, output=None, before=first_start, prefix=(), program=None):
        self.path = output or os.path.join(lib.scratch, f"plugin.{len(lib.started)}.{time.monotonic_ns()}")
        self.ours, theirs = socket.socketpair()
        argv = [*prefix, *(program or [lib.EXEUNT, "plugin"]), *(["-o", self.path] if output != "" else []), *options]
        with open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen(argv, stdin=theirs, stdout=subprocess.DEVNULL, stderr=err, env={}, cwd="/",
                                            preexec_fn=before, pass_fds=(0,), restore_signals=False)
        theirs.close()
        lib.started.append(self.process)

    def errors(self):
        with open(self.path + ".err", errors="replace") as f:
            return f.read()

    def read(self):
        with open(self.path, "rb") as f:
            return f.read()

    def wait_for(self, words, where=None):
        end = time.monotonic() + TIMEOUT
        while not re.search(words, (where or self.errors)()):
            if time.monotonic() > end or self.process.poll() is not None:
                return lib.check(False, f"waited for {words!r} in vain: {self.errors()}")
            time.sleep(0.01)
        return True

    def ended(self, why):
        """It has to end by itself now; its exit status has to be 0."""
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            lib.check(False, f"{why}: it goes on")
            self.process.kill()
            self.process.wait()
        lib.started.remove(self.process)
        lib.check(self.process.returncode == 0, f"{why}: status {self.process.returncode}: {self.errors()}")

    def close(self):
        """The end of its input."""
        self.ours.close()
        self.ended("the end of the input")

    def records(self):
        """Of a stream from start to stop, without a gap. From audit alone it has no process.entity_id."""
        found = lib.parse_lines(self.read())
        seqs = [r["seq"] for r in found]
        lib.check(seqs == list(range(1, len(seqs) + 1)), "seq does not count 1, 2, 3 ...")
        kinds = [r["type"] for r in found]
        lib.check(kinds[:1] == ["start"] and kinds[-1:] == ["stop"], f"it begins with {kinds[:1]} and ends with {kinds[-1:]}")
        return found


def send(plugin, events):
    plugin.ours.sendall(b"".join(line for e in events for line in e))


def exits(records):
    return {lib.get(r, "process.pid"): r for r in records if r["type"] == "exit"}


def alone():
    """without any privilege audit alone is the source: each of its exits comes, with who and how"""
    program = os.path.join(lib.scratch, "exeunt")
    shutil.copy(lib.EXEUNT, program)
    os.chmod(program, 0o755)
    os.chmod(lib.scratch, 0o777)
    plugin = Plugin("--numeric", program=[program, "plugin"], prefix=[
        shutil.which("setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"])
    plugin.wait_for("listening to audit.*\n.*without taskstats: ")
    send(plugin, [event(n + 1, n, 100000 + n) for n in range(256)])
    plugin.close()
    found = exits(plugin.records())
    lib.check(len(found) == 256, f"{len(found)} exits of 256")
    for n in range(256):
        record = found.get(100000 + n, {})
        for path, want in (("process.exit.code", n), ("audit.login_uid", 1000), ("audit.session", 3),
                           ("audit.serial", n + 1), ("process.command_args", ["demo", "-x"]), ("sources", ["audit"])):
            lib.check(lib.get(record, path) == want, f"exit {n}: {path} is {lib.get(record, path)!r}")


def joined():
    """with the kernel's sources each exit is one record of all that is known"""
    plugin = Plugin()
    plugin.wait_for("listening to taskstats")
    # that audit tells of exits at all shows by the first; a rule that the kernel has would say so at once
    send(plugin, [event(1000, 0, 100000)])
    time.sleep(0.5)
    children = {}
    for code in range(20):
        with subprocess.Popen(["/bin/sh", "-c", f"exit {code}"]) as child:
            pass
        children[child.pid] = code
        send(plugin, [event(code + 1, code, child.pid)])
    plugin.close()
    records = plugin.records()
    found = exits(records)
    for r in records:
        if r["type"] == "amend" and lib.get(r, "process.pid") in found:
            found[lib.get(r, "process.pid")] = r
    for pid, code in children.items():
        r = found.get(pid, {})
        lib.check(lib.get(r, "process.exit.code") == code, f"{pid}: code {lib.get(r, 'process.exit.code')}, not {code}")
        lib.check({"taskstats", "audit"} <= set(r.get("sources", [])), f"{pid}: sources {r.get('sources')}")
        lib.check(lib.get(r, "audit.serial") == code + 1, f"{pid}: serial {lib.get(r, 'audit.serial')}")
        lib.check(lib.get(r, "usage.elapsed_us"), f"{pid}: no usage.elapsed_us")


def signals():
    """SIGTERM counts from auditd alone; SIGHUP and others do no harm; all of that however it was started"""
    for before in (first_start, started_again):
        plugin = Plugin("--source", "audit", before=before)
        plugin.wait_for("listening to audit")
        for name in ("HUP", "USR1", "USR2", "CONT", "INT", "TERM"):
            subprocess.run(["kill", f"-{name}", str(plugin.process.pid)], check=True)
        plugin.wait_for("passed over")
        for name in ("SIGHUP", "SIGUSR1", "SIGUSR2", "SIGCONT"):
            plugin.process.send_signal(getattr(signal, name))
        send(plugin, [event(1, 0, 100000)])
        plugin.wait_for(r"100000", where=lambda p=plugin: p.read().decode())
        # what is in its input when it is told to end still comes out
        plugin.process.send_signal(signal.SIGSTOP)
        send(plugin, [event(2, 0, 100001)])
        plugin.process.send_signal(signal.SIGTERM)
        plugin.process.send_signal(signal.SIGCONT)
        plugin.ended(f"{before.__name__}: SIGTERM of its parent")
        lib.check(set(exits(plugin.records())) == {100000, 100001}, f"{before.__name__}: {exits(plugin.records()).keys()}")


def again():
    """started again it adds to its file, also behind half a line"""
    path = os.path.join(lib.scratch, "again.jsonl")
    with open(path, "w", encoding="ascii") as f:
        f.write('{"schema":"exeunt/1","ty')
    for n in range(2):
        plugin = Plugin("--source", "audit", output=path)
        send(plugin, [event(1, n, 100000)])
        plugin.close()
    lines = plugin.read().split(b"\n")
    lib.check(lines[0] == b'{"schema":"exeunt/1","ty', f"the half line is now {lines[0]!r}")
    records = lib.parse_lines(b"\n".join(lines[1:]))
    kinds = [r["type"] for r in records]
    lib.check(kinds == ["start", "exit", "stop"] * 2, f"{kinds}")


def two_words():
    """by a link called exeunt-plugin both words that auditd passes on can be options"""
    link = os.path.join(lib.scratch, "exeunt-plugin")
    os.symlink(os.path.abspath(lib.EXEUNT), link)
    plugin = Plugin("--source=audit", program=[link])
    send(plugin, [event(1, 5, 100000)])
    plugin.close()
    lib.check(len(exits(plugin.records())) == 1, "not one exit")


def refusals():
    """without a place to write to it says so"""
    plugin = Plugin(output="")
    plugin.process.wait(TIMEOUT)
    lib.started.remove(plugin.process)
    lib.check(plugin.process.returncode == 2 and "--output" in plugin.errors(), f"no output: {plugin.errors()}")


def log():
    """under auditd its messages go to the system's log, and it does not wait for that"""
    if os.path.exists("/dev/log"):
        lib.say("there is a logger here: left out")
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as logger:
        logger.bind("/dev/log")
        try:
            for options, words in ((["--source", "audit"], "<30>.* exeunt\\[PID\\]: plugin of auditd: listening to audit$"),
                                   (["--nonsense"], "<27>.* exeunt\\[PID\\]: its options are not understood"),
                                   (["-o", "/nowhere/x"], "<27>.* exeunt\\[PID\\]: cannot open '/nowhere/x'")):
                process = subprocess.Popen([lib.EXEUNT, "plugin", "-o", "/dev/null", *options], stdin=subprocess.PIPE,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={})
                process.stdin.close()
                process.wait(TIMEOUT)
                logger.setblocking(False)
                told = []
                try:
                    while True:
                        told.append(logger.recv(4096).decode())
                except BlockingIOError:
                    pass
                words = words.replace("PID", str(process.pid))
                lib.check(any(re.match(words, line) for line in told), f"{words!r} is not in {told}")
        finally:
            os.unlink("/dev/log")


class Feed(threading.Thread):
    """Records at a rate, as a dispatcher that waits where it cannot write. `late`: how far behind it ever was, s."""

    def __init__(self, plugin, seconds):
        super().__init__(daemon=True)
        self.plugin, self.events, self.late = plugin, RATE * seconds // 3, 0.0
        self.longest = 0.0

    def run(self):
        begin, sent = time.monotonic(), 0
        for n in range(self.events):
            for line in event(n + 1, n % 256, 100000 + n):
                due = begin + sent / RATE
                before = time.monotonic()
                if before < due:
                    time.sleep(due - before)
                before = time.monotonic()
                self.plugin.ours.sendall(line)
                after = time.monotonic()
                self.longest = max(self.longest, after - before)
                self.late = max(self.late, after - due)
                sent += 1


def memory_kib(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as f:
        return int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))


def drain(path):
    """Reads a FIFO to its end, in a thread."""
    data = bytearray()

    def read():
        with open(path, "rb") as f:
            while chunk := f.read(1 << 16):
                data.extend(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    return thread, data


def check_told(records, what):
    """Every record that is missing is in a loss record, and none is told that is not."""
    seqs = [r["seq"] for r in records]
    lib.check(seqs == sorted(set(seqs)), f"{what}: seq does not go up")
    missing = seqs[-1] - len(seqs)
    told = [r["loss"] for r in records if r["type"] == "loss" and r["loss"]["cause"] == "slow_sink"]
    count = sum(loss["count"] for loss in told)
    lib.check(count == missing, f"{what}: {missing} records missing, {count} told")
    lib.check(all(loss["exact"] and loss["source"] == "output" for loss in told), f"{what}: {told}")
    lib.check(records[-1]["type"] == "stop" and records[-1]["balance"]["lost_output"] == missing,
              f"{what}: the balance is {records[-1].get('balance')}")
    return missing


class Hung:
    """The feed of hung_output(), which goes on while other tests run."""
    plugin = feed = None


def begin_hung_output():
    """nobody reads the output of this one, from now on for half a minute"""
    path = os.path.join(lib.scratch, "hung.fifo")
    os.mkfifo(path)
    Hung.plugin = Plugin("--source", "audit", output=path)
    Hung.feed = Feed(Hung.plugin, HUNG_SECONDS)
    Hung.feed.start()


def hung_output():
    """nobody read our output for half a minute: the writer went on, memory stays, the loss is told exactly"""
    plugin, feed, path = Hung.plugin, Hung.feed, Hung.plugin.path
    feed.join()
    peak = memory_kib(plugin.process)
    thread, data = drain(path)
    # the reader is back: what comes now is not lost
    end = time.monotonic() + TIMEOUT
    while b"slow_sink" not in data and time.monotonic() < end:
        time.sleep(0.01)
    send(plugin, [event(feed.events + n, 0, 900000 + n) for n in range(100)])
    plugin.close()
    thread.join()
    records = lib.parse_lines(bytes(data))
    missing = check_told(records, "hung")
    lib.say(f"{RATE} records a second for {HUNG_SECONDS} s: the longest write took {feed.longest * 1000:.1f} ms, at most "
            f"{feed.late * 1000:.0f} ms late; {missing} of {records[-1]['seq']} lines lost and told; peak {peak} KiB")
    lib.check(feed.longest < 1, f"a write took {feed.longest:.3f} s")
    lib.check(peak < 64 * 1024, f"resident memory had a peak of {peak} KiB")
    lib.check(missing > feed.events // 2, f"only {missing} lost: was the output not hung?")
    lib.check(records[-1]["balance"]["exits"] == feed.events + 100, f"the balance is {records[-1]['balance']}")
    found = exits(records)
    lib.check(all(900000 + n in found for n in range(100)), "exits from after the reader came back are missing")


def slow_output():
    """a reader that is slower than what comes, but reads: what it costs is told while it goes on"""
    path = os.path.join(lib.scratch, "slow.fifo")
    os.mkfifo(path)
    plugin = Plugin("--source", "audit", "--buffer", "256K", output=path)
    feed, data, told = Feed(plugin, 3), bytearray(), False
    with open(path, "rb", buffering=0) as f:
        feed.start()
        while feed.is_alive():
            data += f.read(1 << 13)
            time.sleep(0.02)
            told |= b"slow_sink" in data
        thread = threading.Thread(target=plugin.close)
        thread.start()
        while chunk := f.read(1 << 16):
            data += chunk
    thread.join()
    missing = check_told(lib.parse_lines(bytes(data)), "slow")
    lib.say(f"{missing} lost")
    lib.check(missing > 0, "nothing was lost")
    lib.check(told, "the loss was told at the end only")


AUDITD_CONF = """local_events = yes
write_logs = no
log_format = ENRICHED
flush = none
name_format = NONE
space_left = 2
admin_space_left = 1
space_left_action = ignore
admin_space_left_action = ignore
disk_full_action = ignore
disk_error_action = ignore
q_depth = 2000
overflow_action = ignore
plugin_dir = {0}/plugins.d/
"""


class Auditd:
    """A real auditd in the foreground, with the plugins.d file that we give away."""

    def __init__(self, program, output):
        self.dir = os.path.join(lib.scratch, "auditd")
        os.makedirs(os.path.join(self.dir, "plugins.d"), 0o750)
        with open(os.path.join(os.path.dirname(__file__), "../../tools/exeunt-plugin.conf"), encoding="ascii") as f:
            conf = f.read().replace("/usr/sbin/exeunt", os.path.abspath(lib.EXEUNT)).replace(
                "/var/log/exeunt.jsonl", output)
        for name, text in (("plugins.d/exeunt.conf", conf), ("auditd.conf", AUDITD_CONF.format(self.dir))):
            with open(os.path.join(self.dir, name), "w", encoding="ascii") as f:
                f.write(text)
            os.chmod(f.name, 0o640)
        self.process = subprocess.Popen([program, "-n", "-s", "nochange", "-c", self.dir], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        lib.started.append(self.process)
        sources.wait_until(lambda: audit.status()["pid"] == self.process.pid, "auditd to own audit")
        sources.wait_until(lambda: self.plugins(), "auditd to start its plugin")

    def plugins(self):
        """pids of its children that are exeunt"""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            pids = f.read().split()
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            with open(f"/proc/{self.process.pid}/task/{task}/children", encoding="ascii") as f:
                pids += f.read().split()
        return sorted({int(pid) for pid in pids if os.path.exists(f"/proc/{pid}/exe") and
                       os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "exeunt"})

    def stop(self):
        self.process.terminate()
        self.process.wait(TIMEOUT)
        lib.started.remove(self.process)


def real_auditd():
    """a real auditd, and nobody reads our output: what is audited does not wait, and the loss is told exactly"""
    program = os.environ.get("AUDITD") or shutil.which("auditd")
    if not program:
        lib.say("no auditd here: left out")
        return
    if audit.status()["pid"] or audit.status()["enabled"] == 2:
        lib.say("audit is in use, or locked: left out")
        return
    path = os.path.join(lib.scratch, "auditd.fifo")
    os.mkfifo(path)
    with audit.preserved(backlog_limit=8192):
        audit.rule(audit.ADD_RULE, audit.exit_rule("exeunt-test-plugin"))
        auditd = Auditd(program, path)
        plugin = auditd.plugins()[0]
        before = audit.status()
        load = lib.finish(lib.loader("--seconds", 8, "--rate", RATE // 3))
        with open(f"/proc/{plugin}/status", encoding="ascii") as f:
            peak = int(re.search(r"VmHWM:\s+(\d+)", f.read()).group(1))
        after = audit.status()
        auditd.process.send_signal(signal.SIGHUP)
        thread, data = drain(path)
        sources.wait_until(lambda: b"slow_sink" in data, "the loss to be told")
        for code in range(10):
            subprocess.run(["/bin/sh", "-c", f"exit {code}"], check=False)
        sources.wait_until(lambda: audit.status()["backlog"] == 0, "the queue to be empty")
        lib.check(auditd.plugins() == [plugin], f"the plugin is now {auditd.plugins()}")
        auditd.stop()
        sources.wait_until(lambda: not os.path.exists(f"/proc/{plugin}"), "the plugin to end")
        thread.join()
    records = lib.parse_lines(bytes(data))
    missing = check_told(records, "auditd")
    balance = records[-1]["balance"]
    lib.say(f"{load['exits']} exits at {load['rate']:.0f}/s; backlog {after['backlog']}, {after['lost'] - before['lost']} lost by "
            f"the kernel; {missing} of {records[-1]['seq']} lines lost and told; peak {peak} KiB; {balance}")
    lib.check(load["rate"] > 0.9 * (RATE // 3), f"the load came to {load['rate']} exits a second: it was held up")
    lib.check(after["lost"] == before["lost"] and after["backlog"] < 1000, f"audit is held up: {after}")
    lib.check(peak < 64 * 1024, f"resident memory had a peak of {peak} KiB")
    lib.check(missing > 0 and balance["lost"] == 0, f"lost: {missing}, {balance}")
    both = [r for r in records if r["type"] == "exit" and {"taskstats", "audit"} <= set(r["sources"])]
    lib.check(len(both) > 1000, f"{len(both)} records have both taskstats and audit")


def killed():
    """killed under auditd it is started again, and goes on in the same file"""
    program = os.environ.get("AUDITD") or shutil.which("auditd")
    if not program or audit.status()["pid"] or audit.status()["enabled"] == 2:
        lib.say("no auditd to be had: left out")
        return
    path = os.path.join(lib.scratch, "killed.jsonl")
    shutil.rmtree(os.path.join(lib.scratch, "auditd"), ignore_errors=True)

    def starts():
        with open(path, "rb") as f:
            return f.read().count(b'"type":"start"')

    with audit.preserved(backlog_limit=8192):
        auditd = Auditd(program, path)
        sources.wait_until(lambda: os.path.exists(path) and starts() == 1, "its start")
        first = auditd.plugins()[0]
        os.kill(first, signal.SIGKILL)
        sources.wait_until(lambda: audit.say("killed") or starts() == 2, "its second start")
        again = auditd.plugins()
        lib.check(len(again) == 1 and again != [first], f"plugins: {again}, the first was {first}")
        auditd.stop()
        sources.wait_until(lambda: not os.path.exists(f"/proc/{again[0]}"), "the plugin to end")
    with open(path, "rb") as f:
        kinds = [r["type"] for r in lib.parse_lines(f.read())]
    lib.check(kinds.count("stop") == 1 and kinds[-1] == "stop", f"the end is {kinds[-3:]}")


lib.main(begin_hung_output, alone, joined, signals, again, two_words, refusals, log, slow_output, real_auditd, killed, hung_output)
