# SPDX-License-Identifier: MIT
"""The collectors that are compared: nothing at all, the floor, exeunt, and the peers.

Each is started with its output in a file, asked how much it captured once it has ended, and asked what it says
about its own losses. A peer that cannot run here says why.
"""
import json
import os
import shutil
import signal
import subprocess
import time

import measure


class CannotRun(Exception):
    """Why a collector cannot run on this machine."""


class Collector:
    name = ""
    command = ()
    end_signal = signal.SIGINT
    kernel_thread = None  # that works for it, and whose CPU is told apart

    def __init__(self, bench):
        self.bench = bench
        self.process = None
        self.output = None

    def check(self):
        """Raises CannotRun."""

    def argv(self):
        return list(self.command)

    def start(self):
        self.output = os.path.join(self.bench.scratch, self.name + ".out")
        self.errors = open(os.path.join(self.bench.scratch, self.name + ".err"), "wb")
        self.process = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL, stdout=self.stdout(),
                                        stderr=self.errors)
        deadline = time.monotonic() + 20
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise CannotRun("did not start: " + self.last_words())
            time.sleep(0.05)
        measure.settle(self.process.pid)

    def last_words(self):
        with open(self.errors.name, errors="replace") as f:
            lines = f.read().strip().splitlines() or ["no message"]
        return ([line for line in lines if "RROR" in line] or lines)[-1][:160]

    def stdout(self):
        return open(self.output, "wb")

    def ready(self):
        return True

    def pid(self):
        return self.process.pid

    def stop(self):
        """Also when it has not been started, or has been stopped."""
        if not self.process:
            return
        if self.process.poll() is None:
            self.process.send_signal(self.end_signal)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.errors.close()

    def lines(self):
        with open(self.output, "rb") as f:
            yield from f

    def captured(self):
        """Exits of the loader that it saw."""
        raise NotImplementedError

    def told_lost(self):
        """What it says it lost, or None if it cannot say."""
        return None

    def forget(self):
        """Its output is not needed any more."""
        os.unlink(self.output)

    def output_grown(self):
        return os.path.exists(self.output) and os.path.getsize(self.output) > 0


class Floor(Collector):
    """The least that any reader of taskstats must do: take the messages in batches and count them."""
    name = "floor"

    def argv(self):
        return [self.bench.helper("floor")]

    def ready(self):
        return self.output_grown()

    def captured(self):
        return self.counts()["exits"]

    def told_lost(self):
        return self.counts()["lost"]

    def counts(self):
        return json.loads(list(self.lines())[-1])


class Exeunt(Collector):
    name = "exeunt"
    sources = "taskstats"
    options = ()

    def argv(self):
        return [self.bench.exeunt, "live", "--json", "--source", self.sources, "-o", self.output, *self.options]

    def stdout(self):
        return subprocess.DEVNULL

    def ready(self):
        return self.output_grown() and any(b'"type":"start"' in line for line in self.lines())

    def captured(self):
        mark = b'"comm":"%s"' % self.bench.loader_comm
        return sum(1 for line in self.lines() if b'"type":"exit"' in line and mark in line)

    def told_lost(self):
        return sum(record["loss"]["count"] for record in self.records(b'"type":"loss"'))

    def records(self, mark):
        return [json.loads(line) for line in self.lines() if mark in line]


class SmallBuffer(Exeunt):
    """exeunt with a receive buffer that must overflow: does it tell the exact number?"""
    name = "exeunt-small"
    options = ("--rcvbuf", "4096")


class Forkstat(Collector):
    name = "forkstat"
    command = ("forkstat", "-e", "exit")

    def check(self):
        if not shutil.which("forkstat"):
            raise CannotRun("not installed")

    def ready(self):
        # Its first line stays in a stdio buffer; the socket on NETLINK_CONNECTOR (11) tells that it listens.
        with open("/proc/net/netlink") as f:
            return any(line.split()[1:4] == ["11", str(self.process.pid), "00000001"] for line in f)

    def captured(self):
        # It often has no name for what has ended, so every exit counts: those of other processes are few.
        return sum(1 for line in self.lines() if line[9:14] == b"exit ")


class Bpftrace(Collector):
    name = "bpftrace"
    program = ('tracepoint:sched:sched_process_exit '
               '{ printf("%d %s %d\\n", args->pid, args->comm, curtask->exit_code); }')
    # In a mount namespace of its own, so that what must be mounted for it is gone when it ends.
    script = ("for fs in debugfs:/sys/kernel/debug tracefs:/sys/kernel/tracing; do "
              'mountpoint -q "${fs#*:}" || mount -t "${fs%%:*}" "${fs%%:*}" "${fs#*:}" 2>/dev/null; done; '
              'exec bpftrace -o "$1" -e "$2"')

    def check(self):
        if not shutil.which("bpftrace"):
            raise CannotRun("not installed")
        if not os.path.exists("/sys/kernel/btf/vmlinux"):
            raise CannotRun("the kernel has no BTF")

    def argv(self):
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", self.script, "sh", self.output,
                self.program]

    def stdout(self):
        return subprocess.DEVNULL

    def ready(self):
        # What it prints stays in a buffer. It has attached when it holds a perf event for each CPU and the probe's.
        folder = f"/proc/{self.process.pid}/fd"
        held = [os.readlink(f"{folder}/{fd}") for fd in os.listdir(folder) if os.path.islink(f"{folder}/{fd}")]
        return sum("perf_event" in link for link in held) > os.cpu_count()

    def captured(self):
        mark = b" %s " % self.bench.loader_comm
        return sum(1 for line in self.lines() if mark in line)

    def told_lost(self):
        with open(self.errors.name, "rb") as errors:
            said = [line.split() for line in [*self.lines(), *errors] if line.startswith(b"Lost ")]
        return sum(int(words[1]) for words in said)


PEERS = {"forkstat": Forkstat, "bpftrace": Bpftrace}
