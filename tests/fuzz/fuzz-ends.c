/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the joiner with ends as they are: the input is a script by which processes of four pids live and end, and
 * three sources tell of it, late, in any order between them, or not at all. Each byte is a step, some take one or two more:
 *
 *	0..1 time passes	2 a process begins	3 it ends	4 a thread of it ends
 *	5 queues are seen empty	6 counters are looked at	7 seconds pass
 *
 * Checked: each end that taskstats told is one exit and no more; one that taskstats lost, that is said to be lost and that
 * accounting told, is one too; what is told belongs to the same process; an amendment has its exit before it.
 */
#include "base/util.h"
#include "fuzz/fuzz.h"
#include "join/join.h"
#include "record/fields.h"

#define PIDS 4
#define LIVES 256
#define EVENTS 1024
#define MS NS_PER_MSEC
/* So soon the same pid comes again where pids are used up as fast as can be. */
#define WRAP_NS (300 * MS)
#define T0 (1000 * NS_PER_SEC)
#define R0 (1700000000 * NS_PER_SEC)
#define BIT(source) EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_##source)

struct life {
	int32_t pid;
	int64_t start_ns;
	uint8_t code, threads;
	bool alive, told, lost, accounted, audited;
	unsigned int exits;
};

/* What a source has queued at `queued_ns`, and we read at `read_ns`. */
struct event {
	enum exeunt_source source;
	int64_t queued_ns, read_ns;
	unsigned int life;
	bool last, done;
};

struct world {
	const uint8_t *script;
	size_t left;
	struct ledger *ledger;
	struct joiner *joiner;
	int64_t now_ns, looked_ns;
	uint64_t lost; /* since the last look */
	struct life lives[LIVES];
	unsigned int n_lives;
	struct event events[EVENTS];
	unsigned int first, n_events; /* those before the first are done */
	struct life *of_pid[PIDS];
	int64_t free_ns[PIDS];
};

static struct world w;

static void demand(bool ok)
{
	if (!ok)
		abort();
}

static uint8_t next_byte(void)
{
	if (!w.left)
		return 0;
	w.left--;
	return *w.script++;
}

static void on_emit(struct exeunt_record *r, void *userdata)
{
	unsigned int i = r->uid - 1000;
	struct life *l = &w.lives[i];

	(void)userdata;
	demand(exeunt_has(r, EXEUNT_F_UID) && i < w.n_lives && r->pid == l->pid);
	if (r->type == EXEUNT_TYPE_EXIT)
		demand(l->exits++ == 0);
	else
		demand(r->type == EXEUNT_TYPE_AMEND && l->exits == 1);
	demand(!(r->sources & BIT(TASKSTATS)) || l->told);
	demand(!(r->sources & BIT(PACCT)) || l->accounted);
	demand(!(r->sources & BIT(AUDIT)) || l->audited);
	demand(r->exit_code == l->code);
}

static void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)loss;
	(void)userdata;
}

static struct frame frame_now(const struct event *e)
{
	return (struct frame){ .mono_ns = w.now_ns,
			       .since_ns = MIN(w.now_ns - MS, e->queued_ns),
			       .real_ns = w.now_ns - T0 + R0 };
}

static uint64_t elapsed_us(const struct event *e)
{
	return (uint64_t)(e->queued_ns - w.lives[e->life].start_ns) / 1000;
}

static uint32_t start_second(const struct life *l)
{
	return (uint32_t)((l->start_ns - T0 + R0) / NS_PER_SEC);
}

static void tell_task(const struct event *e)
{
	const struct life *l = &w.lives[e->life];
	struct frame f = frame_now(e);
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID,
			       .pid = e->last ? l->pid : l->pid + 1000,
			       .tgid = l->pid,
			       .uid = 1000 + e->life,
			       .gid = 1000 + e->life,
			       .exe_inode = 1,
			       .comm = "demo" };

	t.tgetime_us = t.etime_us = elapsed_us(e);
	t.btime = (uint64_t)((e->queued_ns - T0 + R0) / NS_PER_SEC) - t.etime_us / 1000000;
	if (e->last) {
		t.flag = TASK_GROUP;
		t.exit_code = (uint32_t)l->code << 8;
		t.has |= l->threads ? TASK_HAS_AGGREGATE : 0;
	}
	join_task(w.joiner, &t, &f);
}

static void tell_pacct(const struct event *e)
{
	const struct life *l = &w.lives[e->life];
	struct frame f = frame_now(e);
	struct pacct_exit p = { .present = PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_BTIME |
					   PACCT_HAS_STATUS | PACCT_HAS_ETIME,
				.version = 3,
				.ahz = 100,
				.pid = (uint32_t)l->pid,
				.uid = 1000 + e->life,
				.gid = 1000 + e->life,
				.status = (uint32_t)l->code << 8,
				.btime_s = start_second(l),
				.etime_us = elapsed_us(e) / 10000 * 10000,
				.etime_precision_ns = 10 * MS };

	p.btime_s = (uint32_t)((e->queued_ns - T0 + R0) / NS_PER_SEC -
			       (int64_t)(elapsed_us(e) / 1000000));
	join_pacct(w.joiner, &p, &f);
}

static void tell_audit(const struct event *e)
{
	const struct life *l = &w.lives[e->life];
	struct frame f = frame_now(e);
	struct audit_event a = { .kind = AUDIT_EVENT_EXIT,
				 .has = UINT64_C(1) << AUDIT_HAS_PID |
					UINT64_C(1) << AUDIT_HAS_CODE |
					UINT64_C(1) << AUDIT_HAS_UID,
				 .pid = l->pid,
				 .uid = 1000 + e->life,
				 .code = l->code };

	/* the clock of ticks of 4 ms */
	a.time_ns = (e->queued_ns - T0 + R0) / (4 * MS) * (4 * MS);
	join_audit(w.joiner, &a, &f);
}

static void tell(struct event *e)
{
	e->done = true;
	if (e->source == EXEUNT_SOURCE_TASKSTATS)
		tell_task(e);
	else if (e->source == EXEUNT_SOURCE_PACCT)
		tell_pacct(e);
	else
		tell_audit(e);
}

/* Each source is read in its order, up to now. */
static void read_due(void)
{
	bool waits[EXEUNT_SOURCE_COUNT] = { false };

	while (w.first < w.n_events && w.events[w.first].done)
		w.first++;
	for (unsigned int i = w.first; i < w.n_events; i++) {
		struct event *e = &w.events[i];

		if (e->done)
			continue;
		if (waits[e->source] || e->read_ns > w.now_ns)
			waits[e->source] = true;
		else
			tell(e);
	}
}

static void pass(int64_t ns)
{
	for (; ns > 0; ns -= 5 * MS) {
		w.now_ns += MIN(ns, 5 * MS);
		read_due();
	}
}

static void see_empty(void)
{
	int64_t until[EXEUNT_SOURCE_COUNT];

	for (int s = 0; s < EXEUNT_SOURCE_COUNT; s++)
		until[s] = w.now_ns;
	for (unsigned int i = w.first; i < w.n_events; i++)
		if (!w.events[i].done)
			until[w.events[i].source] =
				MIN(until[w.events[i].source], w.events[i].queued_ns - 1);
	for (int s = 0; s <= EXEUNT_SOURCE_AUDIT; s++)
		join_horizon(w.joiner, (enum exeunt_source)s, until[s]);
}

static void look(void)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = w.lost,
				    .exact = true,
				    .window_start_ns = w.looked_ns - T0 + R0,
				    .window_end_ns = w.now_ns - T0 + R0 };

	see_empty();
	if (w.lost)
		ledger_lose(w.ledger, &loss);
	w.lost = 0;
	w.looked_ns = w.now_ns;
	join_checked(w.joiner, w.now_ns);
	ledger_release(w.ledger, w.now_ns - T0 + R0);
}

static void queue(enum exeunt_source source, unsigned int life, bool last, int64_t lag_ns)
{
	if (w.n_events == EVENTS)
		return;
	w.events[w.n_events++] = (struct event){ .source = source,
						 .queued_ns = w.now_ns,
						 .read_ns = w.now_ns + lag_ns,
						 .life = life,
						 .last = last };
}

static void begin_life(uint8_t pid)
{
	if (w.of_pid[pid] || w.now_ns < w.free_ns[pid] || w.n_lives == LIVES)
		return;
	w.of_pid[pid] = &w.lives[w.n_lives++];
	*w.of_pid[pid] = (struct life){
		.pid = pid + 10, .start_ns = w.now_ns, .code = next_byte(), .alive = true
	};
}

static void end_thread(uint8_t pid)
{
	struct life *l = w.of_pid[pid];

	if (!l || l->threads == 3)
		return;
	l->threads++;
	queue(EXEUNT_SOURCE_TASKSTATS, (unsigned int)(l - w.lives), false,
	      next_byte() % 64 * MS / 2);
}

/* Who tells, and how late it is read. */
static void end_life(uint8_t pid)
{
	struct life *l = w.of_pid[pid];
	uint8_t who = next_byte(), late = next_byte();
	unsigned int life;

	if (!l || w.n_events + 3 > EVENTS)
		return;
	life = (unsigned int)(l - w.lives);
	w.of_pid[pid] = NULL;
	l->alive = false;
	l->audited = who & 1;
	l->accounted = (who & 6) != 6;
	l->lost = (who & 24) == 24 && l->accounted && !l->threads;
	l->told = !l->lost;
	if (l->audited)
		queue(EXEUNT_SOURCE_AUDIT, life, true, (late & 7) * 10 * MS);
	if (l->told)
		queue(EXEUNT_SOURCE_TASKSTATS, life, true, (late >> 3 & 7) * MS);
	else
		w.lost++;
	if (l->accounted)
		queue(EXEUNT_SOURCE_PACCT, life, true, (late >> 6 & 3) * 10 * MS);
	w.free_ns[pid] = w.now_ns + WRAP_NS;
}

static void step(uint8_t op)
{
	uint8_t pid = op >> 3 & (PIDS - 1);

	switch (op & 7) {
	case 0:
	case 1:
		pass((op >> 3) * MS);
		break;
	case 2:
		begin_life(pid);
		break;
	case 3:
		end_life(pid);
		break;
	case 4:
		end_thread(pid);
		break;
	case 5:
		see_empty();
		break;
	case 6:
		look();
		break;
	default:
		pass((op >> 3 & 3) * NS_PER_SEC);
		see_empty();
	}
}

static void check_lives(void)
{
	for (unsigned int i = 0; i < w.n_lives; i++) {
		const struct life *l = &w.lives[i];

		demand(l->alive ? l->exits == 0 : l->exits == 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct join_options o = { .emit = on_emit, .table_entries = 2 * EVENTS };

	memset(&w, 0, offsetof(struct world, lives));
	memset(w.of_pid, 0, sizeof(w.of_pid));
	memset(w.free_ns, 0, sizeof(w.free_ns));
	w.first = w.n_events = w.n_lives = 0;
	w.script = data;
	w.left = size;
	w.now_ns = w.looked_ns = T0 + NS_PER_SEC;
	if (ledger_new(&w.ledger, on_loss, NULL) < 0)
		return 0;
	o.ledger = w.ledger;
	if (join_new(&w.joiner, &o) == 0) {
		join_set_sources(w.joiner, BIT(TASKSTATS) | BIT(PACCT) | BIT(AUDIT),
				 BIT(PACCT) | BIT(AUDIT));
		while (w.left)
			step(next_byte());
		for (int i = 0; i < 40; i++) {
			pass(250 * MS);
			look();
		}
		join_flush(w.joiner);
		check_lives();
	}
	join_free(w.joiner);
	ledger_free(w.ledger);
	return 0;
}
