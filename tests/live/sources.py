# SPDX-License-Identifier: MIT
"""One source by itself: runs sourcedump and reads its lines while it runs."""
import json
import os
import struct
import subprocess
import threading
import time

import lib

TIMEOUT = 20


class Dump:
    """sourcedump SOURCE ...; .opened is its first line, .frames what came so far, .ended its last line."""

    def __init__(self, source, *options, prefix=(), stdin=subprocess.PIPE):
        argv = [*prefix, lib.helper("sourcedump"), source, *map(str, options)]
        self.process = subprocess.Popen(argv, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lib.started.append(self.process)
        self.opened = self.ended = None
        self.frames, self.messages, self.asked = [], [], 0
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        self.wait(lambda: self.opened, "the first line")

    def read(self):
        for line in self.process.stdout:
            value = json.loads(line)
            with self.changed:
                if "open" in value:
                    self.opened = value
                elif "end" in value:
                    self.ended = value
                elif "asked" in value:
                    self.asked += 1
                elif "message" in value:
                    self.messages.append(value["message"])
                else:
                    self.frames.append(value)
                self.changed.notify_all()
        with self.changed:
            self.opened = self.opened or {"open": None}
            self.changed.notify_all()

    def wait(self, condition, what, timeout=TIMEOUT):
        """Until the condition holds."""
        with self.changed:
            return lib.check(self.changed.wait_for(condition, timeout), f"waited {timeout} s for {what}")

    def ask(self):
        """Makes it drain and check once more, and waits for it."""
        before = self.asked
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.wait(lambda: self.asked > before, "the answer of sourcedump")

    def stop(self):
        """Ends it; returns its last line."""
        if self.process.stdin:
            self.process.stdin.close()
        else:
            self.process.terminate()
        self.process.wait(TIMEOUT)
        self.thread.join(TIMEOUT)
        lib.started.remove(self.process)
        error = self.process.stderr.read().decode(errors="replace")
        lib.check(not error, f"sourcedump said: {error}")
        return self.ended

    def data(self, channel=None):
        return [bytes.fromhex(f["data"]) for f in list(self.frames)
                if f["frame"] == "data" and (channel is None or f["channel"] == channel)]

    def lost(self, channel=None):
        return sum(f["count"] for f in list(self.frames)
                   if f["frame"] == "lost" and (channel is None or f["channel"] == channel))


def proc_event(message):
    """A message of the proc connector: (what, cpu, seq, pid, tgid, other words)."""
    seq = struct.unpack_from("=I", message, 24)[0]
    what, cpu = struct.unpack_from("=II", message, 36)
    words = struct.unpack_from("=6i", message, 52)
    if what == 1:  # FORK has the parent in front
        words = words[2:4] + words[:2] + words[4:]
    return what, cpu, seq, words[0], words[1], words[2:]


def audit_record(message):
    """A datagram of audit: (type, text)."""
    return struct.unpack_from("=H", message, 4)[0], message[16:].rstrip(b"\0").decode(errors="replace")


def wait_until(condition, what, timeout=TIMEOUT):
    """Polls for a state of the kernel that tells nobody of its changes."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return lib.check(False, f"waited {timeout} s for {what}")
        time.sleep(0.01)
    return True


def kernel():
    return tuple(int(n) for n in os.uname().release.split("-")[0].split(".")[:2])
