# SPDX-License-Identifier: MIT
"""exeunt run for the live tests: started with a socket in the place of systemd's, and what its sinks wrote."""
import json
import os
import signal
import socket
import subprocess
import time

import lib

TIMEOUT = 30
count = 0


class Daemon:
    """Running, and ready, once it is made. `told` has what it told the service manager."""

    def __init__(self, *options, source="taskstats", wait=True, pid_file=None, **popen):
        global count  # pylint: disable=global-statement
        count += 1
        self.path = os.path.join(lib.scratch, f"run.{count}")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path + ".notify")
        self.told = []
        argv = [lib.EXEUNT, "run", "--pid-file", pid_file or self.path + ".pid",
                *(["--source", source] if source else []), *map(str, options)]
        popen.setdefault("stdout", subprocess.DEVNULL)
        popen.setdefault("stdin", subprocess.DEVNULL)
        with open(self.path + ".err", "wb") as err:
            popen.setdefault("stderr", err)
            self.process = subprocess.Popen(argv, env=dict(os.environ, NOTIFY_SOCKET=self.path + ".notify"),
                                            **popen)
        lib.started.append(self.process)
        if wait and not self.await_told("READY=1"):
            raise RuntimeError(f"exeunt did not start: {self.errors()}")

    def await_told(self, text):
        """Until it tells this from now on."""
        end = time.monotonic() + TIMEOUT
        self.socket.settimeout(0.1)
        while time.monotonic() < end:
            gone = self.process.poll() is not None
            try:
                self.told.append(self.socket.recv(4096).decode())
            except TimeoutError:
                if gone:
                    break
                continue
            if text in self.told[-1]:
                return True
        return lib.check(False, f"it never told {text}: {self.told}: {self.errors()}")

    def errors(self):
        with open(self.path + ".err", errors="replace") as f:
            return f.read()

    def await_error(self, text):
        return wait_until(lambda: text in self.errors(), f"'{text}' on stderr")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        self.await_told("RELOADING=1")
        self.await_told("READY=1")

    def wait(self, want=0):
        """For one that ends by itself."""
        try:
            self.process.wait(lib.STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            lib.check(False, f"exeunt run did not end within {lib.STOP_TIMEOUT} s")
        lib.started.remove(self.process)
        self.socket.close()
        lib.check(self.process.returncode == want,
                  f"exeunt run: exit status {self.process.returncode}, not {want}: {self.errors()}")
        return self.process.returncode

    def stop(self, how=signal.SIGTERM, want=0):
        self.process.send_signal(how)
        return self.wait(want)

    def kill(self):
        self.process.kill()
        self.process.wait()
        lib.started.remove(self.process)
        self.socket.close()

    def rss(self):
        """Resident KiB."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))


class Held:
    """A program that begins when it is told, so that its pid can be asked for before its children end."""

    def __init__(self, *argv):
        self.process = subprocess.Popen(["/bin/sh", "-c", 'read -r _; exec "$@"', "sh", *map(str, argv)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        lib.started.append(self.process)
        self.pid = self.process.pid

    def go(self):
        """What it printed, when it has ended."""
        out = self.process.communicate(b"\n")[0]
        lib.started.remove(self.process)
        lib.check(self.process.returncode == 0, f"{self.process.args[4:]}: exit status {self.process.returncode}")
        return out

    def truths(self):
        """Of mkexit."""
        return [json.loads(line) for line in self.go().splitlines()]


def odd_cases():
    """Those of mkexit whose names are odd."""
    out = subprocess.run([lib.helper("mkexit"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[0] for line in out.splitlines() if line.startswith("name-")]


def wait_until(condition, what):
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return lib.check(False, f"waited {TIMEOUT} s for {what}")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def scratch(name):
    return os.path.join(lib.scratch, name)


def exits_of(records, parent):
    return [r for r in records if r["type"] == "exit" and lib.get(r, "process.parent_pid") == parent]


def count_exits(path, parent):
    """Lines of the file that are ends of children of this process."""
    return read(path).count(b'"parent_pid":%d,' % parent)


def check_gaps(records):
    """Numbers from 1 on; each gap is followed by a loss of as many. Returns how many were lost."""
    seq = lost = 0
    for r in records:
        gap = r["seq"] - seq - 1
        told = 0
        if r["type"] == "loss" and r["loss"]["source"] == "output":
            told = r["loss"]["count"]
        lib.check(gap == told, f"in front of seq {r['seq']} ({r['type']}) {gap} are missing, and {told} are told")
        lost += told
        seq = r["seq"]
    return lost


def check_whole(records):
    """A stream from start to stop that lost some at our end: it has a gap for each, and balances."""
    lost = check_gaps(records)
    last = records[-1]
    lib.check(records[0]["type"] == "start", f"the first record is {records[0]['type']}")
    if lib.check(last["type"] == "stop", f"the last record is {last['type']}, not stop"):
        b = last["balance"]
        exits = sum(r["type"] == "exit" for r in records)
        lib.check(b["lost_output"] == lost, f"the balance has {b['lost_output']} lost, the stream tells {lost}")
        lib.check(b["records"] == len(records), f"the balance has {b['records']} records, the stream {len(records)}")
        lib.check(last["seq"] == len(records) + lost, f"seq {last['seq']} is not {len(records)} records + {lost} lost")
        lib.check(b["exits"] == exits + b["filtered"] + lost,
                  f"{b['exits']} exits are not {exits} records + {b['filtered']} filtered + {lost} lost")
    return lost


def parse_tolerant(raw):
    """Records of a file that runs were killed over: (record, or None for a line that is none)."""
    found = []
    for line in raw.split(b"\n"):
        try:
            found.append(json.loads(line.decode()))
        except ValueError:
            found.append(None)
    lib.check(found.pop() is None, "the file does not end with a newline")
    return found
