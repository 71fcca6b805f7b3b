#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A long run of exeunt run: 2,000 exits/s, rotation all the time, socket clients that come and go, one that never reads.

soak.py [--minutes N] [--rate N]: memory stays flat, and every stream balances to the end. Prints its figures.
"""
import argparse
import json
import os
import random
import re
import socket
import threading
import time

import lib
from daemon import Daemon, scratch

SEED = int(os.environ.get("EXEUNT_SEED", "0")) or time.time_ns() & 0xffffff
GROWTH_KIB = 4096
ROTATE_SECONDS = 2
CLIENTS = 4
SEQ = re.compile(rb'"seq":(\d+)')
EXIT = re.compile(rb'^{"schema":"exeunt/1","type":"exit"')


class Stream:
    """Lines of one stream as they come: no record is kept. A gap is told by the line behind it, and exactly."""

    def __init__(self, name, parent=0):
        self.name, self.parent = name, b'"parent_pid":%d,' % parent
        self.seq = self.exits = self.ours = self.lost = self.lines = 0
        self.stop = None

    def take(self, line):
        self.lines += 1
        seq = int(SEQ.search(line).group(1))
        told = 0
        if EXIT.match(line):
            self.exits += 1
            self.ours += self.parent in line
        else:
            record = json.loads(line)
            if record["type"] == "loss" and record["loss"]["source"] == "output":
                told = record["loss"]["count"]
            elif record["type"] == "stop":
                self.stop = record
        if seq != self.seq + 1 + told:
            lib.check(False, f"{self.name}: seq {seq} behind {self.seq}, and {told} told as lost")
        self.seq = seq
        self.lost += told

    def check_balance(self):
        if not lib.check(self.stop, f"{self.name}: no stop record"):
            return
        b = self.stop["balance"]
        lib.check(b["lost_output"] == self.lost, f"{self.name}: {b['lost_output']} lost in the balance, {self.lost} told")
        lib.check(b["records"] == self.lines, f"{self.name}: {b['records']} records in the balance, {self.lines} lines")

    def check_exits(self):
        b = self.stop["balance"]
        lib.check(b["exits"] == self.exits + b["filtered"] + self.lost,
                  f"{self.name}: {b['exits']} exits are not {self.exits} records + {b['filtered']} filtered + {self.lost}")


class Client(threading.Thread):
    """Connects, reads for a while, goes, and comes again; the last one stays until the daemon ends."""

    def __init__(self, path, number, over):
        super().__init__(daemon=True)
        self.path, self.over, self.random = path, over, random.Random(SEED + number)
        self.number, self.visits, self.lines, self.lost, self.error = number, 0, 0, 0, None

    def visit(self, seconds):
        stream = Stream(f"client {self.number}.{self.visits}")
        end, rest = time.monotonic() + seconds, b""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            while time.monotonic() < end:
                data = s.recv(1 << 16)
                if not data:
                    break
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    stream.take(line)
        self.visits += 1
        self.lines += stream.lines
        self.lost += stream.lost
        return stream

    def run(self):
        try:
            while not self.over.is_set():
                self.visit(self.random.random() * 5)
        except OSError as e:
            self.error = e


def never_reads(path, over):
    """A client that comes again now and then, and lets its buffer fill."""
    while not over.is_set():
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            over.wait(20)


def follow(path, stream, whole):
    """Takes the whole lines of a file that was moved away, or of the last one, and removes it."""
    with open(path, "rb") as f:
        for line in f:
            if lib.check(line.endswith(b"\n"), f"half a line in {os.path.basename(path)}: {line[:80]!r}"):
                stream.take(line[:-1])
    if whole:
        os.unlink(path)


def soak(seconds, rate):
    path, place, over = scratch("soak"), scratch("socket"), threading.Event()
    d = Daemon("--to", f"json:{path}", "--to", f"socket:{place}", "--buffer", "256K", "--status", "10")
    clients = [Client(place, n, over) for n in range(CLIENTS)]
    last = Client(place, CLIENTS, over)
    threading.Thread(target=never_reads, args=(place, over), daemon=True).start()
    loader = lib.loader("--seconds", seconds, "--rate", rate)
    stream = Stream("file", loader.pid)
    streams = []
    staying = threading.Thread(target=lambda: streams.append(last.visit(seconds + 600)), daemon=True)
    for thread in (staying, *clients):
        thread.start()
    begin, sizes, rotations = time.monotonic(), [], 0
    while loader.poll() is None:
        time.sleep(ROTATE_SECONDS)
        os.rename(path, f"{path}.{rotations}")
        d.reload()
        follow(f"{path}.{rotations}", stream, True)
        rotations += 1
        if time.monotonic() - begin > min(seconds / 4, 60):
            sizes.append(d.rss())
    result = lib.finish(loader)
    over.set()
    for client in clients:
        client.join(30)
        lib.check(client.error is None, f"client {client.number}: {client.error}")
    d.stop()
    staying.join(30)
    follow(path, stream, False)
    for each in (stream, *streams):
        each.check_balance()
    if stream.stop:
        stream.check_exits()
    lib.check(stream.lost == 0, f"the file lost {stream.lost}")
    lib.check(len(streams) == 1, "the client that stays has no end")
    lost = stream.stop["balance"]["lost"] if stream.stop else 0  # by the kernel, where others left us no CPU
    lib.check(stream.ours <= result["exits"] <= stream.ours + lost,
              f"{result['exits']} ends, {stream.ours} records in the file, {lost} lost")
    lib.say(f"lost by the kernel, and told: {lost}")
    lib.check(sizes and sizes[-1] - sizes[0] <= GROWTH_KIB, f"memory grew from {sizes[:1]} to {sizes[-1:]} KiB")
    lib.say(f"{result['exits']} ends at {result['rate']:.0f}/s, {stream.exits} exits, {rotations} rotations, "
            f"{sum(c.visits for c in clients)} visits of clients with {sum(c.lines for c in clients)} lines, "
            f"{sum(c.lost for c in clients)} lost by them; resident {sizes[0]} KiB, then {sizes[-1]}, at most {max(sizes)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--rate", type=int, default=2000)
    args = parser.parse_args()

    def as_asked():
        """for as long as was asked"""
        lib.say(f"{args.minutes} minutes at {args.rate}/s, EXEUNT_SEED={SEED}")
        soak(args.minutes * 60, args.rate)

    lib.main(as_asked)


if __name__ == "__main__":
    main()
