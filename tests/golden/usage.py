#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the command line refuses, with status 2 and the reason on stderr: usage.py EXEUNT"""
import subprocess
import sys

# arguments, words of the message
REFUSED = [
    (["live", "--audit", "sometimes"], "--audit=sometimes: expected auto, off, multicast, unicast or stdin"),
    (["live", "--pacct", "owm"], "--pacct=owm: expected auto, off, own, or a path with a slash"),
    (["live", "--source", "taskstats,audit", "--audit", "off"], "--source has audit, and --audit is off"),
    (["capture", "--pacct=off", "--source=pacct", "x.cap"], "--source has pacct, and --pacct is off"),
    (["live", "--force"], "--force goes with --pacct=own"),
    (["live", "--force", "--pacct", "/var/log/account/pacct"], "--force goes with --pacct=own"),
    (["live", "--source", "taskstat"], "--source=taskstat: expected names out of"),
    (["live", "--duration", "0"], "--duration=0: expected a time"),
    (["live", "--count", "-1"], "--count=-1: expected a whole number above 0"),
    (["live", "--buffer", "1K"], "--buffer=1K: expected a number of bytes"),
    (["live", "--color", "mauve"], "--color=mauve: expected auto, always or never"),
    (["live", "operand"], "unexpected operand 'operand'"),
    (["live", "--redact"] + ["x", "--redact"] * 16 + ["x"], "no more than 16"),
    (["replay"], "which FILE?"),
    (["capture"], "which FILE?"),
    (["capture", "a", "b"], "one FILE only"),
    (["check", "--audit", "off"], "unrecognized option '--audit'"),
    (["replay", "--pacct", "own", "x"], "unrecognized option '--pacct'"),
    (["nonsense"], "unknown command 'nonsense'"),
]


def main():
    failed = 0
    for arguments, words in REFUSED:
        done = subprocess.run([sys.argv[1], *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=20, check=False)
        if done.returncode != 2 or words not in done.stderr or "--help" not in done.stderr or done.stdout:
            failed += 1
            print(f"not ok - {arguments}: status {done.returncode}, stderr {done.stderr!r}, stdout {done.stdout!r}")
    print(f"{failed} failed of {len(REFUSED)}")
    return 1 if failed else 0


sys.exit(main())
