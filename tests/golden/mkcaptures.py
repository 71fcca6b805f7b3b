#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the captures of tests/golden/taskstats: messages of kernels that are not at hand, and situations that are rare.

By plain offsets and not by the decoder's tables, so that a slip in those shows. mkcaptures.py DIRECTORY
"""
import os
import struct
import sys

SECOND = 1_000_000_000
MONO = 5_000 * SECOND
REAL = 1_700_000_000 * SECOND
DATA, LOST, EMPTY, SELFTEST = 1, 2, 3, 4
FORK, SU, CORE, XSIG, GROUP = 1, 2, 8, 16, 32


def head(delays=0):
    return (f"EXEUNT CAPTURE 1\nbyte_order little\nhost hosta\nboot_id 01234567-89ab-cdef-0123-456789abcdef\n"
            f"kernel 6.1.0\ndelay_accounting {delays}\nstarted_ns {REAL}\n\n").encode()


def frame(kind, data=b"", at_ms=0, channel=0, window_ms=1):
    return struct.pack("<IIBBHiqqq", 0x4D524658, len(data), kind, 0, 0, channel, MONO + at_ms * 1_000_000,
                       REAL + at_ms * 1_000_000, MONO + (at_ms - window_ms) * 1_000_000) + data


def stats(version, size, pid, tgid, code=0, flag=GROUP, comm=b"demo", etime=2_500_000, at_ms=0):
    """struct taskstats of every version but 15."""
    s = bytearray(max(size, 700))

    def put(form, offset, value):
        struct.pack_into("<" + form, s, offset, value)
    put("H", 0, version)
    put("I", 4, code)
    put("B", 8, flag)
    put("b", 9, -5)
    for i, offset in enumerate((16, 32, 48, 312, 328, 352, 400, 416)):
        put("Q", offset, 10 + i)            # count
        put("Q", offset + 8, 1000 * (i + 1))  # total
    put("Q", 72, 1_234_567)
    s[80:80 + len(comm)] = comm
    start = REAL // SECOND + at_ms // 1000 - etime // 1_000_000
    for offset, value in ((120, 1000), (124, 1001), (128, pid), (132, 100), (136, start)):
        put("I", offset, value)
    for offset, value in ((144, etime), (152, 12_000), (160, 8_000), (168, 77), (176, 3), (200, 640), (208, 9_000),
                          (216, 4096), (224, 2048), (232, 1024), (240, 0), (248, 8192), (256, 1024), (264, 0),
                          (272, 21), (280, 22)):
        put("Q", offset, value)
    if version >= 10:
        put("Q", 344, start)
    if version >= 12:
        put("I", 368, tgid)
        for offset, value in ((376, etime), (384, 0xFD00), (392, 12345)):
            put("Q", offset, value)
    if version >= 16:
        for i in range(8):
            put("Q", 432 + 16 * i, 900 + i)
            put("Q", 440 + 16 * i, 5 + i)
    return bytes(s[:size])


def stats15(pid, code):
    """Version 15: max and min stand behind each delay pair and push the rest along."""
    s = bytearray(560)
    for form, offset, value in (("H", 0, 15), ("I", 4, code), ("B", 8, GROUP), ("Q", 16, 5), ("Q", 24, 500),
                                ("Q", 32, 300), ("Q", 40, 20), ("Q", 120, 1_234_567), ("I", 168, 1000),
                                ("I", 172, 1001), ("I", 176, pid), ("I", 180, 100), ("I", 184, REAL // SECOND - 2),
                                ("Q", 192, 2_500_000), ("Q", 200, 12_000), ("Q", 208, 8_000), ("Q", 216, 77),
                                ("Q", 224, 3), ("Q", 248, 640), ("Q", 256, 9_000), ("Q", 264, 4096),
                                ("Q", 296, 8192), ("Q", 320, 21), ("Q", 328, 22), ("Q", 424, REAL // SECOND - 2),
                                ("I", 464, pid), ("Q", 472, 2_500_000), ("Q", 480, 0xFD00), ("Q", 488, 12345)):
        struct.pack_into("<" + form, s, offset, value)
    s[128:135] = b"fifteen"
    return bytes(s)


def attr(kind, data):
    return struct.pack("<HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def message(seq, pid, body, tgid=None, pad=False):
    attrs = attr(4, attr(1, struct.pack("<I", pid)) + (attr(6, b"") if pad else b"") + attr(3, body))
    if tgid is not None:
        attrs += attr(5, attr(2, struct.pack("<I", tgid)) + attr(3, bytes(len(body))))
    return struct.pack("<IHHII", 20 + len(attrs), 31, 0, seq, 0) + struct.pack("<BBH", 2, 1, 0) + attrs


def versions():
    """C009, C046: every size of the struct that a kernel had, one that none has yet, one that is too short."""
    out = head()
    sizes = ((8, 328), (9, 344), (10, 352), (11, 368), (12, 400), (13, 416), (14, 432), (16, 560), (17, 688),
             (17, 656), (99, 1024), (16, 100))
    for i, (version, size) in enumerate(sizes):
        pid = 4242 + i
        out += frame(DATA, message(i + 1, pid, stats(version, size, pid, pid, code=0x300), pad=i % 2), i)
    out += frame(DATA, message(13, 4300, stats15(4300, 0x8B)), 20)
    return out + frame(EMPTY, at_ms=21)


def statuses():
    """C004, C005: codes, signals, cores; a signal that has no name."""
    out = head()
    for i, code in enumerate((0, 0x4D00, 0xFF00, 9, 15, 0x0B, 0x8B, 34, 64)):
        out += frame(DATA, message(i + 1, 500 + i, stats(16, 560, 500 + i, 500 + i, code)), i)
    return out


def threads():
    """C050 to C052: a leader that left first, a leader read behind the end, an exec by a worker, a killed group."""
    out, seq = head(delays=1), iter(range(1, 99))

    def task(at_ms, pid, tgid, code, flag, comm=b"worker", tgid_part=None, etime=2_500_000):
        return frame(DATA, message(next(seq), pid, stats(16, 560, pid, tgid, code, flag, comm, etime), tgid_part),
                     at_ms)
    out += task(0, 100, 100, 0x900, 0, b"early", etime=2_500_000)
    out += task(9, 102, 100, 0x500, GROUP, tgid_part=100, etime=2_509_000)
    out += task(1, 202, 200, 0x700, GROUP, tgid_part=200) + task(2, 200, 200, 0x700, XSIG, b"late")
    out += task(3, 300, 300, 0, XSIG, b"before") + task(5, 300, 300, 0x600, GROUP, b"after", tgid_part=300,
                                                        etime=2_600_000)
    out += task(6, 401, 400, 9, XSIG) + task(6, 400, 400, 9, XSIG, b"killed") + task(7, 402, 400, 9, XSIG | GROUP,
                                                                                     tgid_part=400)
    out += task(8, 501, 500, 0x300, 0) + task(8, 500, 500, 0x100, GROUP, b"race", tgid_part=500)
    out += frame(EMPTY, at_ms=20) + frame(EMPTY, at_ms=700)
    return out + task(800, 403, 400, 9, XSIG) + frame(EMPTY, at_ms=900)


def losses():
    """Overflow told by the kernel, a gap that it did not tell, children of the self-test."""
    out = head() + frame(SELFTEST, struct.pack("<i", 77), channel=-1)
    out += frame(DATA, message(1, 77, stats(16, 560, 77, 77)), 0)
    out += frame(DATA, message(2, 600, stats(16, 560, 600, 600)), 1)
    out += frame(LOST, struct.pack("<Q", 5), 300, window_ms=250)
    out += frame(DATA, message(8, 601, stats(16, 560, 601, 601)), 301)
    return out + frame(DATA, b"\x01\x02\x03", 302) + frame(EMPTY, at_ms=303)


def times():
    """C059: a start behind now; we were stopped for two seconds; a clock that was set back."""
    out = head()
    body = bytearray(stats(16, 560, 700, 700))
    struct.pack_into("<Q", body, 344, REAL // SECOND + 5)
    out += frame(DATA, message(1, 700, bytes(body)), 1)
    out += frame(DATA, message(2, 701, stats(16, 560, 701, 701)), 2900, window_ms=2800)
    body = bytearray(stats(16, 560, 702, 702))
    struct.pack_into("<Q", body, 376, 2 ** 64 - 1)
    return out + frame(DATA, message(3, 702, bytes(body)), 2950)


def names():
    """Names that forge lines, send escapes, or are no text."""
    out = head()
    for i, comm in enumerate((b'new\nline"}', b"\x1b[2J\x07", b"\xff\xfe", b"caf\xc3\xa9", b"", b"a) R 1 (", b"x" * 32,
                              b"\xed\xa0\x80", b"tab\tcr\r")):
        out += frame(DATA, message(i + 1, 800 + i, stats(16, 560, 800 + i, 800 + i, comm=comm)), i)
    return out


def damaged():
    """Frames with rubbish between, and the last one cut off."""
    good = statuses()
    cut = good.index(b"XFRM", len(head()) + 1)
    return good[:cut] + b"\xff" * 1000 + good[cut:-50]


def main():
    for make in (versions, statuses, threads, losses, times, names, damaged):
        with open(os.path.join(sys.argv[1], make.__name__ + ".cap"), "wb") as file:
            file.write(make())


main()
