#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exeunt top on files: its screens in a terminal, compared as text with top/NAME; and its numbers with those of report.

tmux is the terminal: keys go in as a person presses them, and what is then on the screen is read back. In a replay the clock
is that of the records, so each screen is the same whenever it is drawn.

top.py EXEUNT            compare
top.py --bless EXEUNT    write what is expected anew; the difference is then for review
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE = 20
TMUX = shutil.which("tmux")

failures = []
scratch = tempfile.mkdtemp(prefix="exeunt-top.")
bless = False
exeunt = ""


def check(good, text):
    if not good:
        failures.append(text)
        print("not ok -", text, flush=True)
    return good


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES", "TMUX")}
    env.update(LC_ALL="C.UTF-8", TERM="screen-256color", XDG_CONFIG_HOME=scratch, TZ="UTC")
    env.update(more)
    return env


class Terminal:
    """exeunt top in a tmux of its own."""
    count = 0

    def __init__(self, *args, width=80, height=24, **more):
        Terminal.count += 1
        self.socket = os.path.join(scratch, "tmux%d" % Terminal.count)
        self.status = os.path.join(scratch, "status%d" % Terminal.count)
        words = " ".join("'%s'" % w for w in (exeunt, "top", "--utc", *args))
        command = "%s; echo $? > '%s'; sleep 60" % (words, self.status)
        subprocess.run([TMUX, "-S", self.socket, "-f", "/dev/null", "new-session", "-d", "-x", str(width), "-y",
                        str(height), command], check=True, cwd=HERE, env=environment(**more))

    def tmux(self, *args):
        return subprocess.run([TMUX, "-S", self.socket, *args], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    def press(self, *keys):
        for key in keys:
            self.tmux("send-keys", key)

    def type(self, text):
        self.tmux("send-keys", "-l", text)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def text(self, *args):
        """What is on the screen; the name of the host is that of whoever runs this."""
        lines = [line.rstrip() for line in self.tmux("capture-pane", "-p", *args).split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        if lines:
            lines[0] = re.sub(r"^exeunt top  \S+", "exeunt top  HOST", lines[0])
        return "\n".join(lines) + "\n"

    def wait_for(self, good, what):
        end = time.monotonic() + PATIENCE
        text = ""
        while time.monotonic() < end:
            text = self.text()
            if good(text):
                return text
            time.sleep(0.02)
        check(False, "%s; on the screen was:\n%s" % (what, text))
        return text

    def expect(self, name):
        """Waits until the screen is as in that file."""
        path = os.path.join(HERE, "top", name + ".txt")
        if bless:
            before = None
            while before != (text := self.text()):
                before = text
                time.sleep(0.4)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            return
        with open(path, encoding="utf-8") as f:
            expected = f.read()
        self.wait_for(lambda text: text == expected, "the screen is not as in top/%s.txt" % name)

    def quit(self, key="q"):
        self.press(key)
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not os.path.exists(self.status):
            time.sleep(0.02)
        while time.monotonic() < end and not open(self.status).read():
            time.sleep(0.02)
        check(os.path.exists(self.status) and open(self.status).read() == "0\n", "status 0 after " + key)
        self.close()

    def close(self):
        subprocess.run([TMUX, "-S", self.socket, "kill-server"], check=True)


def keys_of_the_table():
    t = Terminal("--replay", "pacct/v3.pacct", "--window", "start")
    t.wait_for(lambda s: "END" in s, "the file is played")
    t.press("l")
    t.expect("table")
    t.press("E")
    t.expect("by-exits")
    t.press("R", ">")
    t.expect("least-rate-first")
    t.press("R", "N")
    t.expect("by-name")
    t.press("<", "8")
    t.expect("statuses")
    t.press("g", "w")
    t.expect("faded")
    t.press("w", "w", "w", "?")
    t.expect("help")
    t.press("x")
    t.resize(120, 40)
    t.expect("larger")
    t.resize(60, 10)
    t.expect("small")
    t.quit()


def filters():
    t = Terminal("--replay", "pacct/v3.pacct", "--window", "start")
    t.wait_for(lambda s: "END" in s, "the file is played")
    t.press("l", "/")
    t.type("code > 1 and comm")
    t.wait_for(lambda s: "filter: code > 1 and comm_  1:" in s or "expected" in s or "column" in s,
               "what is wrong with the filter is told while it is typed")
    t.type(" ~ \"c\"")
    t.expect("filter-typed")
    t.press("Enter")
    t.expect("filter")
    t.press("/", "C-u")
    t.type("make")
    t.press("Enter")
    t.expect("filter-word")
    t.press("/", "C-u")
    t.type("elapsed > 1h")
    t.press("Enter")  # which groups do not know: the file is played anew
    t.expect("filter-anew")
    t.press("/", "C-u", "Enter")
    t.expect("filter-none")
    t.quit()


def into_a_group():
    t = Terminal("--replay", "taskstats/names.cap", "--window", "start", "--sort", "name")
    t.wait_for(lambda s: "END" in s, "the file is played")
    t.expect("names")
    t.press("Down", "Enter")
    t.expect("group")
    t.press("Enter")
    t.expect("exit")
    t.press("End")
    t.expect("exit-end")
    t.press("Escape")
    t.expect("group")
    t.press("Escape", "Up")
    t.expect("names")
    t.quit("C-c")


def nothing_to_see():
    t = Terminal("--replay", "none")
    t.wait_for(lambda s: "cannot read 'none'" in s, "why there is nothing, on the terminal as it was")
    t.wait_for(lambda s: os.path.exists(t.status) and open(t.status).read() == "1\n", "status 1")
    t.close()
    t = Terminal("--replay", "pacct/v3.pacct", "-n", "3", "-d", "0.1")
    t.wait_for(lambda s: os.path.exists(t.status) and open(t.status).read() == "0\n", "the end after -n 3")
    t.close()


def colours():
    for no_color, red in (("", True), ("1", False)):
        t = Terminal("--replay", "taskstats/losses.cap", "--window", "start", NO_COLOR=no_color)
        text = t.wait_for(lambda s: "END" in s, "the file is played")
        check("LOST 6" in text, "what was lost is in the head")
        coloured = t.text("-e")
        check(("\x1b[31m" in coloured or ";31m" in coloured) == red, "red with NO_COLOR=%r: %r" % (no_color, coloured))
        t.quit()


def plain():
    t = Terminal("--replay", "pacct/linux-6.18.pacct", LC_ALL="C")
    text = t.wait_for(lambda s: "END" in s, "the file is played")
    check(text.isascii(), "nothing but ASCII in the C locale")
    check("#" in text.split("\n")[3], "the line of the last minutes")
    t.quit()


def remembered():
    path = os.path.join(scratch, "exeunt", "toprc")
    t = Terminal("--replay", "pacct/v3.pacct")
    t.wait_for(lambda s: "END" in s, "the file is played")
    t.press("3", "M", "l")
    t.quit()
    check(not os.path.exists(path), "nothing is written unasked")
    t = Terminal("--replay", "pacct/v3.pacct")
    t.wait_for(lambda s: "COMMAND" in s, "the default")
    t.press("3", "M", "W")
    t.wait_for(lambda s: "remembered in" in s, "the answer to W")
    t.quit()
    t = Terminal("--replay", "pacct/v3.pacct")
    t.wait_for(lambda s: " USER" in s and "*RSS" in s, "what was remembered")
    t.quit()
    os.unlink(path)


def duration(us):
    s, ms = us // 1000000, us // 1000 % 1000
    if s < 60:
        return "%d.%03d" % (s, ms)
    if s < 3600:
        return "%d:%02d.%d" % (s // 60, s % 60, ms // 100)
    if s < 86400:
        return "%d:%02d:%02d" % (s // 3600, s // 60 % 60, s % 60)
    return "%dd%02dh" % (s // 86400, s // 3600 % 24)


def run(*args):
    done = subprocess.run([exeunt, *args], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                          errors="surrogateescape", env=environment())
    return done.stdout


def rows_of_top(by, path):
    """Rows as {title: cell}; the name is last and may hold blanks."""
    lines = run("top", "-b", "--utc", "--window", "start", "--by", by, "--replay", path).split("\n")
    at = next(i for i, line in enumerate(lines) if "EXITS" in line and "LONGEST" in line)
    titles = lines[at].replace("*", "").split()[:13]
    for line in lines[at + 1:]:
        if line:
            yield dict(zip(titles, line.split()))


def cells_of_report(row):
    usage = row.get("usage", {})
    cpu = usage.get("cpu")
    unknown = row.get("unknown", {})
    elapsed = usage.get("elapsed_us")
    return {
        "EXITS": str(row["exits"]),
        "FAILED": None if unknown else str(row["failed"]),
        "KILLED": None if unknown else str(row["killed"]),
        "CPU": None if unknown else "-" if not cpu else duration(cpu.get("user_us", 0) + cpu.get("system_us", 0)),
        "LONGEST": None if unknown else "-" if not elapsed else duration(elapsed["max"]),
    }


def numbers_are_those_of_report():
    for path in ("pacct/v0.pacct", "pacct/v2.pacct", "pacct/v3.pacct", "pacct/linux-6.18.pacct", "taskstats/names.cap",
                 "taskstats/statuses.cap", "taskstats/threads.cap", "taskstats/versions.cap", "audit/file.log"):
        for by in ("comm", "exe", "ppid", "status", "user"):
            report = [json.loads(line) for line in run("report", "--json", "--by", by, path).split("\n") if line]
            report = [cells_of_report(r) for r in report if r["type"] == "report"]
            top = list(rows_of_top(by, path))
            check(top, "%s by %s: a table" % (path, by))
            keys = [k for k in report[0] if all(r[k] is not None for r in report)]
            ours = sorted(tuple(row[k] for k in keys) for row in top)
            theirs = sorted(tuple(row[k] for k in keys) for row in report)
            check(ours == theirs, "%s by %s, %s: top has\n%s\nreport has\n%s" % (path, by, keys, ours, theirs))


def steps_of_a_batch():
    text = run("top", "-b", "-d", "0.5", "-n", "2", "--window", "start", "--replay", "pacct/linux-6.18.pacct")
    check(text.count("exeunt top  ") == 2, "-n 2 in a batch: %r" % text)
    text = run("top", "-b", "--replay", "pacct/linux-6.18.pacct")
    check(text.count("exeunt top  ") == 1 and "END" in text, "one screen at the end")


def wrong_usage():
    for args in (["--by", "rss"], ["--sort", "x"], ["--window", "7"], ["--speed", "0", "--replay", "x"], ["--speed", "2"],
                 ["-d", "0"], ["-n", "0"], ["x"], ["--filter", "comm =="], ["--replay", "x", "-f", "elapsed >"]):
        done = subprocess.run([exeunt, "top", "-b", *args], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, env=environment())
        check(done.returncode == 2 and done.stderr and not done.stdout, "%r: status %d" % (args, done.returncode))
    done = subprocess.run([exeunt, "top", "--replay", "pacct/v3.pacct"], cwd=HERE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment())
    check(done.returncode == 2 and b"terminal" in done.stderr, "without a terminal")
    done = subprocess.run([exeunt, "top", "-b", "--replay", "none"], cwd=HERE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment())
    check(done.returncode == 1 and not done.stdout and b"none" in done.stderr, "a file that is not there")


def main():
    global bless, exeunt
    args = sys.argv[1:]
    bless = args[:1] == ["--bless"]
    exeunt = os.path.abspath(args[-1])
    if bless:
        os.makedirs(os.path.join(HERE, "top"), exist_ok=True)
    numbers_are_those_of_report()
    steps_of_a_batch()
    wrong_usage()
    if TMUX:
        for test in (keys_of_the_table, filters, into_a_group, nothing_to_see, colours, plain, remembered):
            test()
    elif os.environ.get("EXEUNT_MUST_RUN") == "1":
        check(False, "tmux is not installed")
    shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(1 if failures else 0)


main()
