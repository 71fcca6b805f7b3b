# SPDX-License-Identifier: MIT
"""Audit: the exit rule for as long as a row needs it, all put back whatever happens; and the peers that read audit."""
import contextlib
import os
import shutil
import signal
import subprocess

from collectors import CannotRun, Collector, Exeunt

KEY = "exeunt-bench"
RULES = [["always,exit", "-F", f"arch={arch}", "-S", "exit,exit_group", "-k", KEY] for arch in ("b64", "b32")]

AUDITD_CONF = """local_events = yes
write_logs = yes
log_file = {log}
log_format = ENRICHED
flush = INCREMENTAL_ASYNC
freq = 50
max_log_file = 4000
max_log_file_action = IGNORE
name_format = NONE
space_left = 2
admin_space_left = 1
space_left_action = ignore
admin_space_left_action = ignore
disk_full_action = ignore
disk_error_action = ignore
q_depth = 2000
overflow_action = ignore
plugin_dir = {folder}/plugins.d/
"""
# laurel's own configuration comes from the scratch folder too.
LAUREL_PLUGIN = """active = yes
direction = out
path = {program}
type = always
args = --config {folder}/laurel.toml
format = string
"""
LAUREL_CONF = """directory = "{folder}/laurel"
user = "{user}"
[auditlog]
file = "audit.log"
size = 100000000000
generations = 1
"""


def auditctl(*arguments):
    """What it says. Raises CannotRun."""
    if not shutil.which("auditctl"):
        raise CannotRun("auditctl is not installed (package auditd)")
    done = subprocess.run(["auditctl", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise CannotRun(f"auditctl {' '.join(arguments)}: {done.stdout.strip()[:120]}")
    return done.stdout


def status():
    return {words[0]: words[1] for words in (line.split() for line in auditctl("-s").splitlines()) if len(words) > 1}


def note_rules(bench):
    """What this host has loaded costs every process, and its price is in the figures."""
    with contextlib.suppress(CannotRun):
        rules = auditctl("-l").strip()
        if rules and rules != "No rules":
            bench.table.note(f"{len(rules.splitlines())} audit rules of this host are loaded, and count too")


@contextlib.contextmanager
def exit_rule(bench):
    """The rule that tells of every exit, audit switched on for it; behind it all is as it was."""
    # The key is ours alone: what has it was left by a run that was killed.
    for rule in RULES:
        with contextlib.suppress(CannotRun):
            auditctl("-d", *rule)
    note_rules(bench)
    before, rules = status(), auditctl("-l")
    if before["enabled"] == "2":
        raise CannotRun("the audit rules of this host cannot be changed before it boots again")
    loaded = []
    try:
        for rule in RULES:
            try:
                auditctl("-a", *rule)
                loaded.append(rule)
            except CannotRun:
                if not loaded and rule == RULES[-1]:
                    raise
        if before["enabled"] != "1":
            auditctl("-e", "1")
        yield
    finally:
        for rule in loaded:
            with contextlib.suppress(CannotRun):
                auditctl("-d", *rule)
        if before["enabled"] != "1":
            auditctl("-e", before["enabled"])
        if auditctl("-l") != rules:
            bench.table.note("the audit rules are not what they were: look at auditctl -l")


class Everything(Exeunt):
    """exeunt with all its sources, accounting switched on for it if nobody else has."""
    name = "exeunt, all"
    kernel_thread = "kauditd"
    sources = "taskstats,procevents,pacct,audit"
    options = ("--pacct=own", "--audit=multicast")

    def start(self):
        try:
            super().start()
        except CannotRun:
            # Accounting is on already: its file is read.
            self.options = ("--pacct=auto", "--audit=multicast")
            super().start()


class Auditd(Collector):
    """auditd alone, in the foreground, as the owner of audit, its configuration and log in the scratch folder."""
    name = "auditd"
    end_signal = signal.SIGTERM
    kernel_thread = "kauditd"

    def check(self):
        if not shutil.which("auditd"):
            raise CannotRun("not installed")
        owner = status()["pid"]
        if owner != "0":
            raise CannotRun(f"process {owner} owns audit on this host; it is left alone")

    def folder(self):
        return os.path.join(self.bench.scratch, self.name.replace(" ", ""))

    def configure(self, folder):
        self.write(folder, "auditd.conf", AUDITD_CONF.format(folder=folder, log=self.log()))

    @staticmethod
    def write(folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(f.name, 0o640)

    def log(self):
        return os.path.join(self.folder(), "audit.log")

    def argv(self):
        shutil.rmtree(self.folder(), ignore_errors=True)
        os.makedirs(os.path.join(self.folder(), "plugins.d"), 0o750)
        self.configure(self.folder())
        return ["auditd", "-n", "-s", "nochange", "-c", self.folder()]

    def ready(self):
        return status()["pid"] == str(self.process.pid)

    def captured(self):
        mark = b'comm="%s"' % self.bench.loader_comm
        with open(self.log(), "rb") as f:
            return sum(1 for line in f if line.startswith(b"type=SYSCALL ") and mark in line)

    def forget(self):
        super().forget()
        shutil.rmtree(self.folder(), ignore_errors=True)


class Laurel(Auditd):
    """auditd with laurel as its plugin."""
    name = "auditd + laurel"

    def check(self):
        super().check()
        if not shutil.which("laurel"):
            raise CannotRun("not installed")

    def configure(self, folder):
        super().configure(folder)
        # It gives its privileges up, so its log is in a folder of its own user.
        values = {"folder": folder, "program": shutil.which("laurel"), "user": self.user()}
        os.makedirs(os.path.join(folder, "laurel"))
        shutil.chown(os.path.join(folder, "laurel"), self.user())
        for path in (self.bench.scratch, folder):
            os.chmod(path, 0o711)
        self.write(folder, "laurel.toml", LAUREL_CONF.format(**values))
        os.chmod(os.path.join(folder, "laurel.toml"), 0o644)
        self.write(folder, "plugins.d/laurel.conf", LAUREL_PLUGIN.format(**values))

    @staticmethod
    def user():
        """Debian's package makes one."""
        with open("/etc/passwd", encoding="ascii", errors="replace") as f:
            names = [line.split(":")[0] for line in f]
        return "_laurel" if "_laurel" in names else "nobody"

    def captured(self):
        mark = b'"comm":"%s"' % self.bench.loader_comm
        with open(os.path.join(self.folder(), "laurel/audit.log"), "rb") as f:
            return sum(1 for line in f if mark in line)


PEERS = {"auditd": Auditd, "laurel": Laurel}
