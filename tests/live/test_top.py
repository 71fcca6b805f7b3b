#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt top on the running kernel: by itself and attached to a daemon, on a terminal and as text. Its screens are tested with files."""
import os
import re
import shutil
import signal
import subprocess
import time

import daemon
import lib

ENV = dict(os.environ, XDG_CONFIG_HOME=lib.scratch, LC_ALL="C.UTF-8", TERM="screen-256color")
# names that nothing else has
FAILS = f"tf-{os.getpid()}"
KILLED = f"tk-{os.getpid()}"


def end_some(fails, killed):
    for name, target in ((FAILS, "/bin/false"), (KILLED, "/bin/sh")):
        path = os.path.join(lib.scratch, name)
        if not os.path.lexists(path):
            os.symlink(target, path)
    for _ in range(fails):
        subprocess.run([os.path.join(lib.scratch, FAILS)], check=False)
    for _ in range(killed):
        subprocess.run([os.path.join(lib.scratch, KILLED), "-c", "kill -9 $$"], check=False)


def rows(text):
    """Of the last whole screen: {command: [exits, rate, failed, killed, ...]}."""
    screen = text.split("exeunt top  ")[-1]
    found = {}
    for line in screen.split("\n"):
        words = line.split()
        if len(words) > 8 and words[0].isdigit() and words[-1] in (FAILS, KILLED):
            found[words[-1]] = words
    return found


def check_rows(found, fails, killed, what):
    want = {FAILS: [fails, fails, 0], KILLED: [killed, 0, killed]}
    for name, (exits, failed, dead) in want.items():
        row = found.get(name)
        if lib.check(row, f"{what}: {name} is in the table"):
            lib.check([int(row[0]), int(row[2]), int(row[3])] == [exits, failed, dead], f"{what}: {row}")


class Batch:
    """exeunt top -b into a file."""

    def __init__(self, *options, prefix=()):
        self.path = os.path.join(lib.scratch, f"batch.{time.monotonic_ns()}")
        with open(self.path, "wb") as out, open(self.path + ".err", "wb") as err:
            self.process = subprocess.Popen([*prefix, lib.EXEUNT, "top", "-b", "-d", "0.2", "--window", "start", *options],
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=ENV)
        lib.started.append(self.process)

    def text(self):
        with open(self.path, errors="replace") as f:
            return f.read()

    def errors(self):
        with open(self.path + ".err", errors="replace") as f:
            return f.read()

    def await_rows(self, exits):
        """Until both are there with so many exits together."""
        return daemon.wait_until(lambda: sum(int(row[0]) for row in rows(self.text()).values()) >= exits,
                                 f"{exits} exits in the table; {self.errors()}\n{self.text()[-2000:]}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(lib.STOP_TIMEOUT)
        lib.started.remove(self.process)
        lib.check(self.process.returncode == 0, f"top -b: status {self.process.returncode}: {self.errors()}")


def by_itself():
    """sources of its own"""
    lib.require_taskstats()
    top = Batch("--socket", "off", "--source", "taskstats")
    daemon.wait_until(lambda: "EXITS" in top.text(), "the first screen")
    end_some(5, 3)
    top.await_rows(8)
    check_rows(rows(top.text()), 5, 3, "by itself")
    lib.check("lost 0  sources taskstats" in top.text(), "the sources")
    top.stop()


def attached():
    """a daemon's, and its end"""
    place = os.path.join(lib.scratch, "socket")
    d = daemon.Daemon("--to", f"socket:{place}")
    top = Batch("--socket", place)
    daemon.wait_until(lambda: "sources taskstats" in top.text(), "the sources of the daemon")
    end_some(4, 2)
    top.await_rows(6)
    check_rows(rows(top.text()), 4, 2, "attached")
    d.stop()
    daemon.wait_until(lambda: "the daemon went away" in top.text() and "  END" in top.text(), "the end of the daemon")
    lib.check(top.process.poll() is None, "what was seen stays")
    top.stop()


def refused():
    """no daemon, no privilege"""
    done = subprocess.run([lib.EXEUNT, "top", "-b", "--socket", os.path.join(lib.scratch, "none")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENV)
    lib.check(done.returncode == 1 and b"none" in done.stderr, f"no daemon there: {done}")
    done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", lib.EXEUNT, "top", "-b", "--socket", "off"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, env=ENV)
    lib.check(done.returncode == 3 and b"CAP_NET_ADMIN" in done.stderr, f"without privilege: {done}")


def on_a_terminal():
    """keys on what ends now"""
    if not shutil.which("tmux"):
        lib.skip("tmux is not installed")
    tmux = ["tmux", "-S", os.path.join(lib.scratch, "tmux")]
    status = os.path.join(lib.scratch, "status")

    def screen():
        return subprocess.run([*tmux, "capture-pane", "-p"], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    def press(*keys):
        subprocess.run([*tmux, "send-keys", *keys], check=True)

    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30",
                    f"'{lib.EXEUNT}' top --socket off --source taskstats --window start; echo $? > '{status}'; sleep 60"],
                   check=True, env=ENV)
    try:
        daemon.wait_until(lambda: "EXITS" in screen(), "the first screen")
        press("/")
        press("-l", f"comm in ('{FAILS}', '{KILLED}')")
        press("Enter")
        end_some(3, 2)
        daemon.wait_until(lambda: sum(int(r[0]) for r in rows(screen()).values()) == 5, "all five on the screen")
        check_rows(rows(screen()), 3, 2, "on a terminal")
        press("8")  # by status
        daemon.wait_until(lambda: re.search(r"^ +2 .* SIGKILL$", screen(), re.M), "a row of the killed")
        press("1")
        press("N")
        press("Enter")
        daemon.wait_until(lambda: f"of comm {FAILS}" in screen(), "the exits of one group")
        press("Enter")
        daemon.wait_until(lambda: re.search(r"^process\.exit\.code +1$", screen(), re.M), "the fields of one exit")
        press("q")
        daemon.wait_until(lambda: os.path.exists(status) and open(status).read() == "0\n", "status 0")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


if __name__ == "__main__":
    lib.main(by_itself, attached, refused, on_a_terminal)
