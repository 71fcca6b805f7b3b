/* SPDX-License-Identifier: MIT */
/*
 * How far audit is behind, and the processes that only wait for it. Its records go through a thread of the kernel's and a
 * queue, and beside auditd, which takes its time for each, the queue is long: 1.0 s at the median and 1.5 s at the most were
 * seen at 2,300 exits/s, 2.3 s elsewhere. A record that waits so long is better than one that is amended each time, and when
 * audit is not behind nothing waits. See joiner.h.
 */
#include "join/joiner.h"

/* Time that is always given, and what of the delay is no delay: the tick of audit's clock, and our own naps. */
#define WAIT_NS (40 * NS_PER_MSEC)
#define PROMPT_NS (20 * NS_PER_MSEC)
#define WAIT_MOST_NS (3 * NS_PER_SEC)
#define DELAY_MOST_NS (60 * NS_PER_SEC)
/* For so long the longest delay counts, and as long again. */
#define DELAY_NS NS_PER_SEC

static void pass_time(struct joiner *j, int64_t now_ns)
{
	int64_t passed_ns = now_ns - j->delay_since_ns;

	if (passed_ns < DELAY_NS)
		return;
	j->delay_before_ns = passed_ns < 2 * DELAY_NS ? j->delay_ns : 0;
	j->delay_ns = 0;
	j->delay_since_ns = now_ns;
}

void join_audit_seen(struct joiner *j, int64_t audit_ns, const struct frame *f)
{
	int64_t delay_ns = f->real_ns - frame_time(audit_ns);

	pass_time(j, f->mono_ns);
	/* more is no delay: a clock was set, or the records are not of now */
	delay_ns = MIN(delay_ns, DELAY_MOST_NS);
	j->delay_ns = MAX(j->delay_ns, delay_ns);
}

int64_t joiner_audit_delay(const struct joiner *j)
{
	int64_t delay_ns = MAX(j->delay_ns, j->delay_before_ns);

	return MAX(delay_ns - PROMPT_NS, 0);
}

int64_t joiner_audit_wait(const struct joiner *j)
{
	int64_t delay_ns = joiner_audit_delay(j);

	return WAIT_NS + MIN(delay_ns + delay_ns / 2, WAIT_MOST_NS);
}

bool joiner_is_behind(const struct joiner *j, const struct process *p, int64_t now_ns)
{
	return is_active(j, BIT_AUDIT) && now_ns >= p->touched_ns + WAIT_NS &&
	       joiner_audit_wait(j) > 2 * WAIT_NS;
}

void joiner_close_behind(struct joiner *j, int64_t now_ns)
{
	struct process *p;
	int64_t next_ns;

	pass_time(j, now_ns);
	while ((p = table_oldest(j->table, PROCESS_BEHIND)) && joiner_is_whole(j, p, now_ns))
		joiner_close(j, p, now_ns);
	if (!p)
		return;
	/* they wait for the same, so who came later waits longer */
	next_ns = MAX(p->touched_ns + joiner_audit_wait(j), now_ns + NS_PER_MSEC);
	j->deadline_ns = MIN(j->deadline_ns, next_ns);
}
