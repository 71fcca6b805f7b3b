#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt last of files: last.py EXEUNT FILE. The exits of replay from the end, and what its options leave of them."""
import json
import subprocess
import sys


def run(command, *options):
    done = subprocess.run([sys.argv[1], command, "--json", "--quiet", *options, sys.argv[2]], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=20, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def pids(records):
    return [r["process"]["pid"] for r in records]


def expect(what, got, want):
    assert want, f"{what}: the file has none"
    assert pids(got) == pids(want), f"{what}: {pids(got)}, and not {pids(want)}"


def main():
    all_of_them = [r for r in run("replay") if r["type"] == "exit"][::-1]
    expect("all", run("last"), all_of_them)
    assert run("last") == all_of_them, "the same exits, and not the same records"
    expect("--count", run("last", "--count", "3"), all_of_them[:3])
    ended = [r for r in all_of_them if r["process"]["exit"]["status"] != 0]
    expect("--failed", run("last", "--failed"), ended)
    killed = [r for r in all_of_them if "signal" in r["process"]["exit"]]
    expect("--signal", run("last", "--signal"), killed)
    name = killed[0]["process"]["exit"]["signal_name"]
    one = [r for r in killed if r["process"]["exit"]["signal_name"] == name]
    for words in (name, name.removeprefix("SIG"), str(killed[0]["process"]["exit"]["signal"])):
        expect(f"--signal={words}", run("last", f"--signal={words}"), one)
    expect("--failed and --filter", run("last", "--failed", "--filter", f'signal_name == "{name}" or code == 9'),
           [r for r in ended if r in one or r["process"]["exit"].get("code") == 9])
    middle = sorted({r["process"]["exit"]["time"][:19] for r in all_of_them})[1] + "Z"
    expect("--since", run("last", "--since", middle), [r for r in all_of_them if r["process"]["exit"]["time"] >= middle[:19]])
    expect("--until", run("last", "--until", middle), [r for r in all_of_them if r["process"]["exit"]["time"] < middle[:19]])
    print(f"{len(all_of_them)} exits")


main()
