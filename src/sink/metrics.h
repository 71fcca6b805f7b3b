/* SPDX-License-Identifier: MIT */
/*
 * What a run has to say in numbers: counted from its records, and put together with the ledger, the sources and the sinks
 * for Prometheus. Names and meanings are in exeunt.8. Pure: no fd, no clock.
 */
#ifndef SINK_METRICS_H
#define SINK_METRICS_H

#include <exeunt/record.h>

#include "base/util.h"

struct exposition;
struct filter;
struct sink;

#define METRICS_BUCKETS 11 /* of the lag; and one for all above */

struct metrics {
	const struct filter *filter; /* NULL: all */
	uint64_t records, filtered;
	uint64_t exits[EXEUNT_CAUSE_CORE_DUMPED + 2]; /* by cause; the last: not known */
	uint64_t failed, backfilled;
	uint64_t lost[EXEUNT_SOURCE_COUNT][EXEUNT_LOSS_CAUSE_COUNT];
	uint64_t lag[METRICS_BUCKETS + 1], lag_count; /* each bucket by itself */
	int64_t lag_sum_ns;
};

void metrics_count(struct metrics *m, const struct exeunt_record *r);

/* What the records do not tell. */
struct metrics_facts {
	const struct exeunt_status *status; /* the ledger and the sources as they are now */
	struct sink *const *sinks;
	size_t n_sinks;
	bool running; /* false: nothing is counted any more */
	int64_t cpu_user_ns, cpu_system_ns;
	uint64_t resident_bytes;
};

/* Appends all of it. */
void metrics_write(const struct metrics *m, const struct metrics_facts *f, struct exposition *e);

#endif
