# SPDX-License-Identifier: MIT
"""We are auditd: exeunt plugin with what auditd gives it, records at a rate, readers; and a real auditd around it."""
import os
import re
import signal
import socket
import subprocess
import threading
import time

import audit
import lib
import sources

TIMEOUT = 20
RATE = 5000
# What auditd leaves a plugin at its first start: all ignored; and what auditd 3.0 leaves one that it starts again.
LEFT = (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD)
FIRST_START = ["env", "--ignore-signal=" + ",".join(str(int(n)) for n in signal.valid_signals() if n not in LEFT)]
STARTED_AGAIN = ["env", "--ignore-signal=INT", "--block-signal=HUP,USR1,USR2,TERM,CHLD,CONT"]
SYSCALL = ("type=SYSCALL msg=audit({0:.3f}:{1}): arch=c000003e syscall=231 a0={2:x} a1=0 a2=0 a3=0 items=0 ppid=100 "
           "pid={3} auid=1000 uid={4} gid={4} euid=1000 suid=1000 fsuid=1000 egid=1000 sgid=1000 fsgid=1000 tty=pts0 "
           'ses=3 comm="demo" exe="/usr/bin/demo" subj=unconfined key="exeunt-exits"\n')
PROCTITLE = "type=PROCTITLE msg=audit({0:.3f}:{1}): proctitle=64656D6F002D78\n"
EOE = "type=EOE msg=audit({0:.3f}:{1}): \n"


def event(serial, code, pid, uid=1000):
    """The three records of an exit_group(2), now."""
    when = time.time()
    return [form.format(when, serial, code, pid, uid).encode() for form in (SYSCALL, PROCTITLE, EOE)]


class Plugin:
    """We are auditd: a socket as its input, nothing in its environment."""

    def __init__(self, *options, output=None, before=tuple(FIRST_START), prefix=(), program=None):
        self.path = output or os.path.join(lib.scratch, f"plugin.{len(lib.started)}.{time.monotonic_ns()}")
        self.ours, theirs = socket.socketpair()
        argv = [*before, *prefix, *(program or [lib.EXEUNT, "plugin"]), *(["-o", self.path] if output != "" else []), *options]
        with open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen(argv, stdin=theirs, stdout=subprocess.DEVNULL, stderr=err, env={}, cwd="/",
                                            restore_signals=False)
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
        with open(path, "rb", buffering=0) as f:  # what has come is seen, on a quiet host too
            while chunk := f.read(1 << 16):
                data.extend(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    return thread, data


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
            conf = f.read().replace("active = no", "active = yes").replace("/usr/sbin/exeunt", os.path.abspath(lib.EXEUNT)).replace(
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
