#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes with hostile names: JSON stays valid and reversible, text stays text."""
import re
import subprocess

import lib


def odd_cases():
    out = subprocess.run([lib.helper("mkexit"), "--list"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[0] for line in out.splitlines() if line.startswith("name-")]


def in_json():
    """JSON Lines"""
    exeunt = lib.Exeunt()
    _, truths = lib.mkexit(*odd_cases())
    exeunt.stop()
    pairs = lib.match(exeunt.exits(), truths)
    lib.check(len(pairs) == len(truths) > 10, f"{len(pairs)} compared")
    for truth, record in pairs:
        lib.check_status(truth, record)
        lib.check_identity(truth, record)
        name = bytes.fromhex(truth["comm_hex"])
        comm, spelled = lib.get(record, "process.comm"), lib.get(record, "process.comm_hex")
        try:
            lib.check(comm == name.decode() and spelled is None,
                      f"{lib.title(truth)}: {comm!r} with comm_hex {spelled!r}, but it is plain UTF-8")
        except UnicodeDecodeError:
            lib.check("\ufffd" in (comm or ""), f"{lib.title(truth)}: {comm!r} has no U+FFFD")
            lib.check(spelled is not None and bytes.fromhex(spelled) == name,
                      f"{lib.title(truth)}: comm_hex is {spelled!r}")


def in_text():
    """lines for people"""
    exeunt = lib.Exeunt(json_lines=False)
    _, truths = lib.mkexit(*odd_cases(), "--count", 3)
    lib.check(exeunt.interrupt() == 0, f"exeunt: {exeunt.errors()}")
    control = re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", exeunt.raw)
    lib.check(not control, f"a raw control byte: {control and exeunt.raw[control.start() - 40:control.end() + 20]!r}")
    try:
        text = exeunt.raw.decode("utf-8")
    except UnicodeDecodeError as e:
        lib.check(False, f"the text is not UTF-8: {e}")
        text = exeunt.raw.decode("utf-8", "replace")
    odd = re.search("[\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
    lib.check(not odd, f"a control character of Unicode: {odd and ascii(text[odd.start() - 40:odd.end() + 20])}")
    for truth in truths:
        lines = [line for line in text.split("\n") if re.search(rf"\b{truth['pid']}\b", line)]
        lib.check(len(lines) == 1, f"{lib.title(truth)}: {len(lines)} lines of text")


lib.main(in_json, in_text)
