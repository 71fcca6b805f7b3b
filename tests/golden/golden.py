#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Replays each file named and compares the JSON Lines byte for byte with FILE.jsonl, and the messages with FILE.err.

golden.py EXEUNT FILE...            compare
golden.py --bless EXEUNT FILE...    write what is expected anew; the difference is then for review
"""
import json
import os
import re
import subprocess
import sys


def no_double_keys(pairs):
    """A JSON object whose keys are all different."""
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"a key stands twice: {keys}")
    return dict(pairs)


def without_this_host(out):
    """Files that do not say where they are from are told with the name, boot and settings of the host that replays them."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        boot = file.read().strip()
    host = f'"host":{{"name":{json.dumps(os.uname().nodename)},"boot_id":"{boot}"}}'.encode()
    if host not in out:
        return out
    out = out.replace(host, b'"host":{"name":"HERE","boot_id":"HERE"}')
    out = out.replace(f'"kernel":{{"release":"{os.uname().release}"}}'.encode(), b'"kernel":{"release":"HERE"}')
    return out.replace(boot.replace("-", "").encode(), b"HERE").replace(b'"delay_accounting":true', b'"delay_accounting":false')


def replay(exeunt, path):
    """What exeunt writes and says about the file, without what changes from release to release and place to place."""
    done = subprocess.run([exeunt, "replay", "--json", "--numeric", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path}: exit status {done.returncode}: {done.stderr.decode(errors='replace')}")
    out = re.sub(rb'"exeunt":\{"version":"[^"]*"', b'"exeunt":{"version":"VERSION"', done.stdout)
    out = without_this_host(out)
    err = done.stderr.replace(path.encode(), os.path.basename(path).encode())
    return out, err + b"exit status %d\n" % done.returncode


def read(path):
    """The bytes of a file; none if it is not there."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def first_difference(want, got):
    """The first line that differs, for a person."""
    want, got = want.split(b"\n"), got.split(b"\n")
    for number, pair in enumerate(zip(want + [b""] * len(got), got + [b""] * len(want)), 1):
        if pair[0] != pair[1]:
            return f"line {number}\n  expected {pair[0].decode(errors='replace')}\n  got      {pair[1].decode(errors='replace')}"
    return "?"


def check(exeunt, path, bless):
    """True if the file gives what is expected."""
    good = True
    for suffix, got in zip((".jsonl", ".err"), replay(exeunt, path)):
        if suffix == ".jsonl":
            for line in got.splitlines():
                json.loads(line.decode("utf-8"), object_pairs_hook=no_double_keys)
        if bless:
            with open(path + suffix, "wb") as file:
                file.write(got)
        elif read(path + suffix) != got:
            print(f"not ok - {path}{suffix}: {first_difference(read(path + suffix), got)}")
            good = False
    return good


def main():
    """The command line."""
    args = sys.argv[1:]
    bless = "--bless" in args
    args = [arg for arg in args if arg != "--bless"]
    exeunt, paths = args[0], args[1:]
    if not paths:
        raise SystemExit("no files to replay")
    bad = [path for path in paths if not check(exeunt, path, bless)]
    print(f"{len(paths) - len(bad)} of {len(paths)} as expected")
    sys.exit(1 if bad else 0)


main()
