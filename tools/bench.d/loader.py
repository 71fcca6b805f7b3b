# SPDX-License-Identifier: MIT
"""The load: two processes that do vfork, _exit and waitpid, flat out or at a fixed rate."""
import json
import subprocess

LOADERS = 2


class Loader:
    comm = b"loader"

    def __init__(self, bench):
        self.bench = bench

    def run(self, pace, seconds):
        """Returns how many processes ended, the loaders among them, and in how many seconds."""
        argv = [self.bench.helper("loader"), "--seconds", str(seconds)]
        if pace:
            argv += ["--rate", str(pace // LOADERS)]
        running = [subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) for _ in range(LOADERS)]
        try:
            told = [json.loads(one.communicate()[0]) for one in running]
        finally:
            for one in running:
                one.kill()
        return sum(t["exits"] for t in told) + LOADERS, max(t["seconds"] for t in told)

    def timed(self, pace, seconds, log):
        """One loader that notes the moment of each exit in `log`; see tests/helpers/loader.c for its form."""
        argv = [self.bench.helper("loader"), "--seconds", str(seconds), "--rate", str(pace), "--log", log]
        subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
