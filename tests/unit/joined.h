/* SPDX-License-Identifier: MIT */
/* A joiner with its ledger, and ends as three sources tell of them. For tests of join/join.h. */
#ifndef UNIT_JOINED_H
#define UNIT_JOINED_H

#include "base/util.h"
#include "join/join.h"
#include "record/fields.h"

#define MS NS_PER_MSEC
#define T0 (1000 * NS_PER_SEC)
#define R0 (1700000000 * NS_PER_SEC)

#define T EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS)
#define P EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT)
#define A EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT)

static struct exeunt_record seen[64];
static size_t n_seen;
static struct exeunt_loss losses[8];
static size_t n_losses;
static struct ledger *ledger;
static struct joiner *joiner;

static inline void on_emit(struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	assert_true(n_seen < ARRAY_SIZE(seen));
	seen[n_seen++] = *r;
}

static inline void on_loss(const struct exeunt_loss *loss, void *userdata)
{
	(void)userdata;
	assert_true(n_losses < ARRAY_SIZE(losses));
	losses[n_losses++] = *loss;
}

static inline int begin_with(unsigned int entries)
{
	struct join_options o = { .emit = on_emit, .table_entries = entries };

	n_seen = n_losses = 0;
	if (ledger_new(&ledger, on_loss, NULL))
		return -1;
	o.ledger = ledger;
	if (join_new(&joiner, &o))
		return -1;
	join_set_sources(joiner, T | P | A, P | A);
	return 0;
}

static inline int begin(void **state)
{
	(void)state;
	return begin_with(0);
}

static inline int end(void **state)
{
	(void)state;
	join_free(joiner);
	ledger_free(ledger);
	return 0;
}

static inline struct frame frame_at(int64_t at_ms)
{
	return (struct frame){ .mono_ns = T0 + at_ms * MS,
			       .real_ns = R0 + at_ms * MS,
			       .since_ns = T0 + at_ms * MS - MS };
}

/* One that began a second before T0. */
static inline void put_thread(int32_t pid, int32_t tgid, uint8_t flag, bool aggregate,
			      int64_t at_ms)
{
	struct task_exit t = { .version = 16,
			       .has = TASK_HAS_TGID | (aggregate ? TASK_HAS_AGGREGATE : 0u),
			       .pid = pid,
			       .tgid = tgid,
			       .flag = flag,
			       .uid = 1000,
			       .gid = 1000,
			       .comm = "demo",
			       .btime = 1700000000 - 1,
			       .exe_inode = 1 };
	struct frame f = frame_at(at_ms);

	t.tgetime_us = t.etime_us = (uint64_t)(1000 + at_ms) * 1000;
	join_task(joiner, &t, &f);
}

static inline void put_task(int32_t pid, int64_t at_ms)
{
	put_thread(pid, pid, TASK_GROUP, false, at_ms);
}

static inline void put_pacct(int32_t pid, int64_t ended_ms, int64_t read_ms)
{
	struct pacct_exit e = { .present = PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_BTIME |
					   PACCT_HAS_STATUS | PACCT_HAS_ETIME,
				.version = 3,
				.ahz = 100,
				.pid = (uint32_t)pid,
				.uid = 1000,
				.gid = 1000,
				.btime_s = 1700000000 - 1,
				.etime_precision_ns = 10000000,
				.comm = "demo",
				.comm_len = 4 };
	struct frame f = frame_at(read_ms);

	e.etime_us = (uint64_t)(1000 + ended_ms) / 10 * 10000;
	join_pacct(joiner, &e, &f);
}

static inline void put_audit(int32_t pid, int64_t called_ms, int64_t read_ms)
{
	struct audit_event e = { .kind = AUDIT_EVENT_EXIT,
				 .has = 1ull << AUDIT_HAS_PID | 1ull << AUDIT_HAS_CODE,
				 .pid = pid,
				 .time_ns = R0 + called_ms * MS };
	struct frame f = frame_at(read_ms);

	join_audit(joiner, &e, &f);
}

static inline void quiet_at(enum exeunt_source source, int64_t at_ms)
{
	join_horizon(joiner, source, T0 + at_ms * MS);
}

static inline void all_quiet_at(int64_t at_ms)
{
	for (int s = 0; s < EXEUNT_SOURCE_OUTPUT; s++)
		quiet_at((enum exeunt_source)s, at_ms);
}

static inline void lose(uint64_t count, int64_t from_ms, int64_t to_ms)
{
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = count,
				    .exact = true,
				    .window_start_ns = R0 + from_ms * MS,
				    .window_end_ns = R0 + to_ms * MS };

	ledger_lose(ledger, &loss);
}

static inline struct exeunt_balance balance(void)
{
	struct exeunt_balance b = *ledger_balance(ledger);

	join_count(joiner, &b);
	return b;
}

#endif
