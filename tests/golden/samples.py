#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of options that we hand out are taken: samples.py EXEUNT exeunt.conf exeunt-run.8

The sample as it is, with each of its proposals in force, and the one of the manual.
"""
import re
import subprocess
import sys
import tempfile


def check(exeunt, text):
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([exeunt, "run", f"--config={f.name}", "--check-config"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=20, check=False)
    return done.returncode, done.stdout


def main():
    exeunt = sys.argv[1]
    with open(sys.argv[2], encoding="ascii") as f:
        sample = f.read()
    with open(sys.argv[3], encoding="ascii") as f:
        manual = re.search(r"(?s)\n\.Sh CONFIGURATION FILE\n.*?\n\.Bd -literal[^\n]*\n(.*?)\n\.Ed\n", f.read())[1]
    all_of_it, proposals = re.subn(r"(?m)^#(?=[a-z\[])", "", sample)
    failed = 0
    for name, text in ("sample", sample), ("sample with its proposals", all_of_it), ("manual", manual):
        status, said = check(exeunt, text)
        if status or said:
            failed += 1
            print(f"not ok - {name}: status {status}, {said}")
    # What is wrong in such a file is seen at all.
    status, said = check(exeunt, sample + "nonsense = yes\n")
    if status != 2 or "nonsense" not in said or proposals < 5:
        failed += 1
        print(f"not ok - status {status}, {said}, {proposals} proposals")
    print(f"{failed} failed")
    return 1 if failed else 0


sys.exit(main())
