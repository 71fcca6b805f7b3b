# SPDX-License-Identifier: MIT
"""Audit's control side in plain netlink, so that the tests need neither auditd nor auditctl; and the state put back."""
import contextlib
import os
import socket
import struct

import lib

NETLINK_AUDIT = 9
GET, SET, ADD_RULE, DEL_RULE, LIST_RULES = 1000, 1001, 1011, 1012, 1013
NLMSG_ERROR, NLMSG_DONE = 2, 3
SYSCALL, CONFIG_CHANGE, TRUSTED_APP, EVENT_LISTENER = 1300, 1305, 1121, 1335
REQUEST, ACK = 1, 4
MASKS = {"enabled": 1, "failure": 2, "pid": 4, "rate_limit": 8, "backlog_limit": 16, "backlog_wait_time": 32}
FIELDS = ("mask", "enabled", "failure", "pid", "rate_limit", "backlog_limit", "lost", "backlog", "features",
          "backlog_wait_time", "backlog_wait_time_actual")
RULE = struct.Struct("=3I64I64I64I64II")
FILTER_TASK, FILTER_EXIT, NEVER, ALWAYS = 1, 4, 0, 2
ARCH, FILTERKEY, EQUAL = 11, 210, 0x40000000
EXIT_GROUP = {"x86_64": (0xc000003e, 231), "aarch64": (0xc00000b7, 94)}


class Socket:
    """A socket of audit; requests are answered in order."""

    def __init__(self, groups=0):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_AUDIT)
        self.socket.bind((0, groups))
        self.socket.settimeout(20)
        self.seq = 0

    def send(self, kind, data=b"", flags=REQUEST | ACK):
        self.seq += 1
        self.socket.sendto(struct.pack("=IHHII", 16 + len(data), kind, flags, self.seq, 0) + data, (0, 0))

    def receive(self):
        data = self.socket.recv(65536)
        return struct.unpack_from("=H", data, 4)[0], data[16:]

    def request(self, kind, data=b""):
        """0, or the negative errno that the kernel answers."""
        self.send(kind, data)
        while True:
            answer, payload = self.receive()
            if answer == NLMSG_ERROR:
                return struct.unpack_from("=i", payload)[0]

    def close(self):
        self.socket.close()


def status():
    s = Socket()
    s.send(GET, flags=REQUEST)
    while True:
        kind, payload = s.receive()
        if kind == GET:
            s.close()
            return dict(zip(FIELDS, struct.unpack("=11I", payload[:44].ljust(44, b"\0"))))
        if kind == NLMSG_ERROR:
            raise OSError(-struct.unpack_from("=i", payload)[0], "AUDIT_GET")


def change(sock=None, **values):
    """Sets one thing after the other; the last answer."""
    s, r = sock or Socket(), 0
    for name, value in values.items():
        words = [MASKS[name]] + [value if field == name else 0 for field in FIELDS[1:]]
        r = s.request(SET, struct.pack("=11I", *words))
    if not sock:
        s.close()
    return r


def rules():
    """What is loaded, as the kernel has it."""
    s, found = Socket(), []
    s.send(LIST_RULES, flags=REQUEST)
    while True:
        kind, payload = s.receive()
        if kind == NLMSG_DONE:
            s.close()
            return found
        if kind == LIST_RULES:
            found.append(payload)


def rule(request, data):
    s = Socket()
    r = s.request(request, data)
    s.close()
    return r


def key_of(data):
    """The key of a rule that has no other text."""
    words = RULE.unpack_from(data)
    fields, values = words[67:131], words[131:195]
    texts = data[RULE.size:RULE.size + words[-1]]
    return next((texts[:values[i]].decode() for i in range(words[2]) if fields[i] == FILTERKEY), None)


def exit_rule(key):
    arch, nr = EXIT_GROUP[os.uname().machine]
    mask, fields, values, flags = ([0] * 64 for _ in range(4))
    mask[nr // 32] |= 1 << nr % 32
    fields[:2], values[:2], flags[:2] = (ARCH, FILTERKEY), (arch, len(key)), (EQUAL, EQUAL)
    return RULE.pack(FILTER_EXIT, ALWAYS, 2, *mask, *fields, *values, *flags, len(key)) + key.encode()


def never_task():
    return RULE.pack(FILTER_TASK, NEVER, 0, *[0xffffffff] * 64, *[0] * 192, 0)


def say(text, sock=None, count=1):
    """A message of a program, which the kernel makes a record of."""
    s = sock or Socket()
    for i in range(count):
        s.send(TRUSTED_APP, f"op=exeunt-test n={text}{i} res=success\0".encode(), flags=REQUEST)
    if not sock:
        s.close()


@contextlib.contextmanager
def preserved(**values):
    """Audit on, nobody's, with these settings; afterwards as it was."""
    before, loaded = status(), rules()
    try:
        change(enabled=1, **values)
        yield
    finally:
        for data in rules():
            if data not in loaded:
                rule(DEL_RULE, data)
        for data in loaded:
            if data not in rules():
                rule(ADD_RULE, data)
        if status()["pid"] != before["pid"]:
            change(pid=0)
        change(**{name: before[name] for name in ("backlog_limit", "backlog_wait_time", "rate_limit", "enabled")})
        now = status()
        for name in MASKS:
            lib.check(now[name] == before[name], f"audit's {name} is {now[name]}, and was {before[name]}")
        lib.check(rules() == loaded, "the audit rules are not what they were")


def require():
    """Leaves the test where audit cannot be played with."""
    try:
        now = status()
    except OSError as e:
        lib.skip(f"audit cannot be asked here: {e}")
    if now["enabled"] == 2:
        lib.skip("the settings of audit are locked")
    if now["pid"]:
        lib.skip(f"audit belongs to process {now['pid']}")
    if os.uname().machine not in EXIT_GROUP:
        lib.skip("no system call numbers for this machine here")
