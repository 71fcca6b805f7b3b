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
    (["report"], "which FILE?"),
    (["report", "--by", "nope", "x"], "--by: there is no field 'nope'"),
    (["report", "--by", "comm,", "x"], "--by: there is no field ''"),
    (["report", "--by", "id", "x"], "--by: several fields end in 'id'"),
    (["report", "--by", "elapsed", "x"], "--by: 'elapsed' is summed, not grouped by"),
    (["report", "--by", "pid,ppid,comm,exe,args,uid,gid,nice,tty", "x"], "--by: no more than 8 fields"),
    (["report", "--sort", "up", "x"], "--sort=up: expected cpu, exits, elapsed, failed or name"),
    (["report", "--top", "0", "x"], "--top=0: expected a whole number above 0"),
    (["report", "--interval", "0.5", "x"], "--interval=0.5: expected a time"),
    (["report", "--interval", "400d", "x"], "--interval=400d: expected a time"),
    (["report", "--threads", "x"], "unrecognized option '--threads'"),
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
