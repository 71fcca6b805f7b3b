# SPDX-License-Identifier: MIT
"""Loss made on purpose: exeunt reads through a buffer that is too small, and must tell the exact number."""
import os

import collectors
import measure


def small_buffer(bench):
    collector = collectors.SmallBuffer(bench)
    collector.start()
    exits, _ = bench.load(0)
    measure.settle(collector.pid())
    collector.stop()
    captured, told = collector.captured(), collector.told_lost()
    others = sum(1 for line in collector.lines() if b'"type":"exit"' in line) - captured
    os.unlink(collector.output)
    bench.table.figures([("with a buffer too small", f"{exits} exits = {captured} seen + {told} said to be lost")])
    # Exits of other processes are lost at the same share as ours, and are counted with them.
    share = told / exits if exits else 0
    allowed = 2 + (others / (1 - share) * share * 2 if share < 1 else told)
    missing = exits - captured - told
    bench.table.verdict("not accounted for", f"{missing} (other processes lost too: at most {allowed:.0f})", "0",
                        -allowed <= missing <= 0 and told > 0)
