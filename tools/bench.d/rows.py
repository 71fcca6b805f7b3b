# SPDX-License-Identifier: MIT
"""The rows of the table. A row is a function that prints its lines; adding one is adding a function here.

Figures are medians over the rounds; ratios are taken within a round. A target that is missed says `short`; no figure
makes the benchmark fail.
"""
import auditing
import batch
import collectors
import statuses
from latency import latency
from measure import median
from rates import Rates
from smallbuffer import small_buffer

ROWS = {}
PEERS = sorted({*collectors.PEERS, *auditing.PEERS, *batch.PEERS})


def row(number, title):
    def register(function):
        ROWS[number] = (title, function)
        return function
    return register


def rates(bench, pace):
    """The samples of one pace, taken once for all rows that want them."""
    if pace not in bench.cache:
        bench.cache[pace] = Rates(bench, pace)
        bench.cache[pace].run(bench.rounds)
        for name, reason in bench.cache[pace].refused.items():
            bench.table.note(f"{name}: {reason}")
    return bench.cache[pace]


def rates_of(bench, kinds):
    """The samples of these collectors, flat out."""
    samples = Rates(bench, 0, kinds)
    samples.run(bench.rounds)
    for name, reason in samples.refused.items():
        bench.table.note(f"{name}: {reason}")
    return samples


def show(bench, samples, value, form):
    bench.table.figures([(name, form.format(samples.median(name, value))) for name in samples.names()
                         if samples.median(name, value) is not None])


def cpu(sample):
    return sample.cpu_us


@row(1, "collector CPU per exit, flat out, JSON to a file, taskstats alone")
def cpu_flat_out(bench):
    samples = rates(bench, 0)
    bench.table.figures([("exits/s", f"{samples.median('exeunt', lambda s: s.rate):,.0f}")])
    show(bench, samples, cpu, "{:.2f} us")
    bench.table.target("exeunt / floor", samples.ratio("exeunt", "floor", cpu), 2.5)
    bench.table.target("exeunt / bpftrace", samples.ratio("exeunt", "bpftrace", cpu), 0.25)
    bench.table.target("exeunt / forkstat", samples.ratio("exeunt", "forkstat", cpu), 0.1)


@row(2, "the same with all sources listening, no audit rules loaded")
def cpu_all_sources(bench):
    auditing.note_rules(bench)
    samples = rates_of(bench, [collectors.Floor, collectors.Exeunt, auditing.Everything])
    show(bench, samples, cpu, "{:.2f} us")
    bench.table.target("all sources / floor", samples.ratio(auditing.Everything.name, "floor", cpu), 5.0)


@row(3, "the same with the exit rule of audit loaded")
def cpu_exit_rule(bench):
    peers = [auditing.PEERS[name] for name in bench.peers if name in auditing.PEERS]
    with auditing.exit_rule(bench):
        samples = rates_of(bench, [collectors.Floor, auditing.Everything, *peers])
    show(bench, samples, cpu, "{:.2f} us")
    bench.table.figures([(f"kauditd, {name}", f"{us:.2f} us") for name, us in (
        (name, samples.median(name, lambda s: s.kernel_us)) for name in samples.names()) if us is not None])
    shares = [(name, [(s.lost(), s.exits) for s in samples.samples[name]]) for name in samples.names()]
    bench.table.figures([(f"{name}, lost", f"{100 * sum(a for a, _ in of) / sum(b for _, b in of):.1f} %")
                         for name, of in shares if of])
    bench.table.target("exeunt / auditd", samples.ratio(auditing.Everything.name, "auditd", cpu), 0.4)


@row(4, "lost at that rate")
def lost_flat_out(bench):
    samples = rates(bench, 0)
    shares = []
    for name in samples.names():
        lost, exits = (sum(f(s) for s in samples.samples[name]) for f in (lambda s: s.lost(), lambda s: s.exits))
        told = [s.told_lost for s in samples.samples[name]]
        says = "cannot say" if None in told else f"says {sum(told)}"
        shares.append((name, f"{lost} of {exits} ({100 * lost / exits:.2f} %), {says}"))
    bench.table.figures(shares)
    bench.table.target("exeunt, lost", sum(s.lost() for s in samples.samples.get("exeunt", [])), 0, "{:.0f}")
    small_buffer(bench)


@row(5, "the loader's exits/s against no collector at all")
def slow_down(bench):
    samples = rates(bench, 0)
    by_rate = {name: samples.ratio(name, "nothing", lambda s: s.rate) for name in samples.names()}
    bench.table.figures([("nothing", f"{samples.median('nothing', lambda s: s.rate):,.0f} exits/s")] +
                        [(name, f"{ratio:.3f}") for name, ratio in by_rate.items()])
    bench.table.target("exeunt / nothing", by_rate.get("exeunt"), 0.93, at_least=True)


@row(6, "collector CPU per exit at 1,000 exits/s")
def cpu_paced(bench):
    samples = rates(bench, 1000)
    show(bench, samples, cpu, "{:.1f} us")
    bench.table.target("exeunt / floor", samples.ratio("exeunt", "floor", cpu), 2.0)


@row(7, "from an exit to its JSON line on a pipe, taskstats alone")
def latency_row(bench):
    for pace, p50, p99 in ((1000, 4.0, 8.0), (400, 0.3, None)):
        latency(bench, pace, p50, p99)


@row(8, "exit status right, random multi-threaded workload, against wait4")
def statuses_row(bench):
    statuses.statuses(bench)


@row(9, "1,000,000 accounting records (64 MB) replayed to JSON")
def pacct_replay(bench):
    batch.pacct_replay(bench)


@row(10, "report by command over the same records")
def report(bench):
    batch.report(bench)


@row(11, "an audit log of 200,000 exit events (100 MB) replayed to JSON")
def audit_replay(bench):
    batch.audit_replay(bench)


@row(12, "resident memory")
def memory(bench):
    samples = rates(bench, 0)
    bench.table.figures([(name, f"{samples.median(name, lambda s: s.idle_kib) / 1024:.1f} MB idle, "
                          f"{samples.median(name, lambda s: s.peak_kib) / 1024:.1f} MB at most")
                         for name in samples.names()])
    for title, limit, value in (("idle", 12, lambda s: s.idle_kib), ("flat out", 64, lambda s: s.peak_kib)):
        worst = [value(s) / 1024 for s in samples.samples.get("exeunt", [])]
        bench.table.target(f"exeunt, {title}, MB", median(worst), limit, "{:.1f}")
