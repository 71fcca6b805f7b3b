#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where taskstats cannot work: exeunt says so at once, says what mends it, and ends with status 3."""
import os
import shutil
import subprocess
import time

import lib

LIMIT = 5


def refused(name, wrap, *words):
    """Runs exeunt inside `wrap`; one of `words` must be in the message."""
    program = os.path.join(lib.scratch, "exeunt")
    if not os.path.exists(program):
        # any user can run this copy, wherever the build folder lies
        shutil.copy(lib.EXEUNT, program)
        os.chmod(program, 0o755)
        os.chmod(lib.scratch, 0o755)
    argv = [*wrap, program, "live", "--json", "--source", "taskstats", "--duration", "2"]
    begin = time.monotonic()
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=2 * LIMIT, check=False, cwd="/")
    except subprocess.TimeoutExpired:
        lib.check(False, f"{name}: it hangs")
        return
    took = time.monotonic() - begin
    message = done.stderr.decode(errors="replace")
    lib.say(f"{name}: {message.strip()}")
    lib.check(done.returncode == 3, f"{name}: exit status {done.returncode}, not 3")
    lib.check(took < LIMIT, f"{name}: took {took:.1f} s")
    lib.check(any(word in message.lower() for word in words), f"{name}: the message names none of {words}")
    lib.check(not any(b'"type":"exit"' in line for line in done.stdout.splitlines()), f"{name}: it made exit records")


def network_namespace():
    """a network namespace: the kernel says yes there, and then nothing comes"""
    refused("unshare -n", ["unshare", "-n"], "network namespace")


def user_namespace():
    """root of a user namespace"""
    probe = subprocess.run(["unshare", "-Ur", "true"], stderr=subprocess.DEVNULL, check=False)
    if probe.returncode:
        lib.say("user namespaces are switched off here: left out")
        return
    refused("unshare -Ur", ["unshare", "-Ur"], "user namespace", "cap_net_admin")


def pid_namespace():
    """a pid namespace"""
    refused("unshare -p -f", ["unshare", "-p", "-f"], "pid namespace")
    refused("unshare -p -f --mount-proc", ["unshare", "-p", "-f", "--mount-proc"], "pid namespace")


def no_root():
    """a user without any capability"""
    refused("nobody", ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
                       "--bounding-set=-all"], "cap_net_admin", "root", "sudo")


def root_without():
    """root without CAP_NET_ADMIN"""
    refused("root without CAP_NET_ADMIN", ["setpriv", "--inh-caps=-net_admin", "--bounding-set=-net_admin"],
            "cap_net_admin")


lib.main(network_namespace, user_namespace, pid_namespace, no_root, root_without)
