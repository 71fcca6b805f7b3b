# SPDX-License-Identifier: MIT
"""A real auditd in the foreground, with a configuration, a log and one plugin of its own, all in the scratch folder."""
import os
import shutil
import subprocess
import time

import audit
import lib

TIMEOUT = 20
CONF = """local_events = yes
write_logs = yes
log_file = {dir}/audit.log
log_format = ENRICHED
flush = NONE
max_log_file = 4000
max_log_file_action = IGNORE
space_left = 2
space_left_action = IGNORE
admin_space_left = 1
admin_space_left_action = IGNORE
disk_full_action = IGNORE
disk_error_action = IGNORE
q_depth = {depth}
overflow_action = IGNORE
plugin_dir = {dir}/plugins.d
"""
PLUGIN = """active = yes
direction = out
path = {dir}/exeunt-plugin
type = always
args = --output={dir}/out.jsonl {option}
format = string
"""


def program():
    return shutil.which("auditd", path="/usr/sbin:/sbin")


def is_there():
    return program() is not None


class Auditd:
    """auditd with `exeunt plugin` below it, or with nothing."""
    made = 0

    def __init__(self, option=None, depth=2000):
        Auditd.made += 1
        self.dir = os.path.join(lib.scratch, f"auditd.{Auditd.made}")
        self.log, self.output = os.path.join(self.dir, "audit.log"), os.path.join(self.dir, "out.jsonl")
        os.makedirs(os.path.join(self.dir, "plugins.d"), mode=0o750)
        self.write("auditd.conf", CONF.format(dir=self.dir, depth=depth))
        if option:
            shutil.copy(lib.EXEUNT, os.path.join(self.dir, "exeunt-plugin"))
            os.chmod(os.path.join(self.dir, "exeunt-plugin"), 0o755)
            self.write("plugins.d/exeunt.conf", PLUGIN.format(dir=self.dir, option=option))
        self.process = None

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o640)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        # not -f: that one would take the terminal's colours and talk for each record
        self.process = subprocess.Popen([program(), "-n", "-c", self.dir, "-s", "nochange"], stdin=subprocess.DEVNULL)
        lib.started.append(self.process)
        self.wait(lambda: audit.status()["pid"] == self.process.pid, "auditd to own audit")

    def wait(self, condition, what):
        end = time.monotonic() + TIMEOUT
        while not condition():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError(f"waited in vain for {what}; auditd's status: {self.process.poll()}")
            time.sleep(0.02)

    def wait_plugin(self):
        self.wait(lambda: os.path.exists(self.output) and os.path.getsize(self.output) > 0, "the plugin's start record")

    def stop(self):
        """As a service manager would; it ends its plugin, which then has written all."""
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            lib.check(False, "auditd did not end")
            self.process.kill()
            self.process.wait()
        lib.started.remove(self.process)
        self.process = None
        end = time.monotonic() + TIMEOUT
        while os.path.exists(self.output) and b'"type":"stop"' not in self.tail() and time.monotonic() < end:
            time.sleep(0.02)

    def tail(self):
        with open(self.output, "rb") as f:
            f.seek(max(0, os.path.getsize(self.output) - 16384))
            return f.read()

    def records(self):
        with open(self.output, "rb") as f:
            return lib.parse_lines(f.read())
