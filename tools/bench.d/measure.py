# SPDX-License-Identifier: MIT
"""What a set of processes costs: CPU to the nanosecond and memory, read from outside while they run."""
import os
import time


def _fields(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except OSError:
        return b""


def children_of(pid):
    """The pids below a process."""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = _fields(f"/proc/{name}/stat")
            if stat:
                parents.setdefault(int(stat[stat.rindex(b")") + 2:].split()[1]), []).append(int(name))
    found, todo = [], [pid]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found


def cpu_ns(pid):
    """CPU time of a process with all its threads, also those that ended, and of its living children."""
    total = 0
    for one in [pid] + children_of(pid):
        try:
            # The process CPU clock of another process (clock_getcpuclockid(3)): utime + stime, not rounded to ticks.
            total += int(time.clock_gettime(((~one) << 3) | 2) * 1e9)
        except OSError:
            pass
    return total


def kernel_thread(name):
    """The pid of a kernel thread, or None."""
    for pid in os.listdir("/proc"):
        if pid.isdigit() and _fields(f"/proc/{pid}/comm").strip() == name.encode():
            return int(pid)
    return None


def memory_kib(pid, key):
    """VmRSS or VmHWM, summed over a process and its children."""
    total = 0
    for one in [pid] + children_of(pid):
        for line in _fields(f"/proc/{one}/status").decode(errors="replace").splitlines():
            if line.startswith(key + ":"):
                total += int(line.split()[1])
    return total


def settle(pid, limit=10.0):
    """Waits until the process has stopped working: it has drained what was queued."""
    end, last = time.monotonic() + limit, -1
    while time.monotonic() < end:
        now = cpu_ns(pid)
        # Less than 0.2 ms of CPU in 200 ms is idling.
        if 0 <= now - last < 200_000 and last >= 0:
            return
        last = now
        time.sleep(0.2)


def median(values):
    values = sorted(v for v in values if v is not None)
    if not values:
        return None
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p / 100))] if values else None
