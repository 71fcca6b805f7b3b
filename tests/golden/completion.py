#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the shells offer is what --help tells, no less and no more: completion.py bash|zsh FILE EXEUNT"""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Typed behind the program's name, words that are offered, words that are not.
TYPED = [
    ("r", {"run", "replay", "report", "rules"}, {"live", "check"}),
    ("live --audit=", {"auto", "off", "multicast", "unicast", "stdin"}, {"own"}),
    ("live --audit m", {"multicast"}, {"auto"}),
    ("live --pacct=", {"auto", "off", "own"}, {"unicast"}),
    ("live --source taskstats,p", {"procevents", "pacct"}, {"audit"}),
    ("--color=", {"auto", "always", "never"}, set()),
    ("report --sort ", {"cpu", "exits", "elapsed", "failed", "name"}, set()),
    ("run --user roo", {"root"}, set()),
    ("rules ", {"list", "load", "unload", "status"}, set()),
    ("rules status ", set(), {"list", "load"}),
    ("live ", set(), {"root", "run"}),
    # Files of this folder; at a colon too.
    ("replay pacct-", {"pacct-1.gz", "pacct-2.gz"}, set()),
    ("run --config=exeunt-", {"exeunt-a.conf", "exeunt-b.conf"}, set()),
    ("run --config exeunt-", {"exeunt-a.conf", "exeunt-b.conf"}, set()),
    ("run --to=json:exeunt-", {"exeunt-a.conf", "exeunt-b.conf"}, set()),
]
FILES = ["pacct-1.gz", "pacct-2.gz", "exeunt-a.conf", "exeunt-b.conf"]

BASH = r"""
. "$1"
while IFS= read -r line; do
	# As bash takes a line apart: blanks, and = and : as words of their own.
	words=$(sed -E 's/([=:])/ \1 /g' <<<"$line")
	read -ra COMP_WORDS <<<"$words"
	[[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_exeunt exeunt "${COMP_WORDS[COMP_CWORD]}" ''
	printf '%s\n' "${COMPREPLY[@]}"
	echo OVER
done
"""

ZSH = r"""fpath=(%s $fpath); LISTMAX=100000; autoload -Uz compinit; compinit -u -D; stty rows 500 cols 250
zstyle ':completion:*' insert-tab false; setopt no_beep no_auto_menu no_list_ambiguous
over() { BUFFER="print O''VER"; zle accept-line }; zle -N over; bindkey '^I' complete-word '^T' over; PROMPT='T''YPE>'
"""


class Bash:
    def __init__(self, path, folder):
        self.shell = subprocess.Popen(["bash", "--norc", "-c", BASH, "bash", path], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, cwd=folder)

    def offered(self, line):
        self.shell.stdin.write(line + "\n")
        self.shell.stdin.flush()
        return set(iter(lambda: self.shell.stdout.readline().strip().split(",")[-1], "OVER"))


class Zsh:
    """On a terminal, with the real completion system: what it lists, or what it inserts if there is one word only."""

    def __init__(self, path, folder):
        self.got = ""
        pid, self.fd = pty.fork()
        if not pid:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], {"PATH": "/usr/bin:/bin", "TERM": "dumb", "LC_ALL": "C.UTF-8",
                                                    "HOME": folder})
        for line in (ZSH % os.path.dirname(path)).splitlines():
            os.write(self.fd, line.encode() + b"\n")
        self.until("TYPE>")

    def until(self, mark):
        while mark not in self.got:
            self.got += os.read(self.fd, 65536).decode(errors="replace").replace("\r", "\n")
        before, _, self.got = self.got.partition(mark)
        return before

    def offered(self, line):
        os.write(self.fd, line.encode() + b"\t\x14")
        rows = self.until("print O''VER").splitlines()
        self.until("OVER\n")
        self.until("TYPE>")
        found = set()
        for row in rows:
            before, typed, behind = row.split(" -- ")[0].partition(line)
            # The line that was typed, with what was inserted; or a row of the list.
            words = (line.split(" ")[-1] + behind if typed else before).split()
            found |= {re.split("[=,:]", word)[-1] or word for word in words}
        return found - {line.split(" ")[-1]}


def help_of(exeunt, *command):
    done = subprocess.run([exeunt, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def names(exeunt):
    """What is typed, and all that is offered then."""
    commands = re.findall(r"(?m)^  ([a-z]+) ", help_of(exeunt).split("Commands:")[1])
    yield "", set(commands)
    for command in commands:
        told = re.findall(r"(?m)^ +(?:-[a-zA-Z], +)?(--[a-z-]+)", help_of(exeunt, command))
        yield f"{command} --", set(told)
    yield "--", set(re.findall(r"(?m)^ +(?:-[a-zA-Z], +)?(--[a-z-]+)", help_of(exeunt, "live")))
    sinks = re.findall(r"(?m)^  ([a-z]+)(:?)", help_of(exeunt, "run").split("Sinks:")[1])
    yield "run --to=", {word + colon for word, colon in sinks}


def main():
    kind, path, exeunt = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    if not shutil.which(kind):
        print(f"no {kind} here")
        return 77
    signal.alarm(60)
    failed = 0
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"exeunt-completion-{kind}-{os.getpid()}"
    folder.mkdir()
    try:
        for name in FILES:
            (folder / name).touch()
        shell = (Bash if kind == "bash" else Zsh)(path, str(folder))
        wanted = [(typed, words, None) for typed, words in names(exeunt)] + TYPED
        for typed, words, not_these in wanted:
            offered = shell.offered(f"{exeunt} {typed}")
            options = {word for word in offered if word.startswith("--") and len(word) > 2}
            more = options - words if not_these is None else offered & not_these
            if words - offered or more:
                failed += 1
                print(f"not ok - {typed!r}: offered {sorted(offered)}, missing {sorted(words - offered)}, "
                      f"too many {sorted(more)}")
    finally:
        shutil.rmtree(folder)
    print(f"{failed} failed of {len(wanted)}")
    return 1 if failed else 0


sys.exit(main())
