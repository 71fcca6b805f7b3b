/* SPDX-License-Identifier: MIT */
/* What one exit adds to the sums of its group, and takes back when it is amended. See tally.h. */
#include "record/tally-internal.h"

const uint8_t tally_fields[TALLY_VALUES] = {
	[TALLY_ELAPSED] = EXEUNT_F_ELAPSED,	  [TALLY_CPU_USER] = EXEUNT_F_CPU_USER,
	[TALLY_CPU_SYSTEM] = EXEUNT_F_CPU_SYSTEM, [TALLY_RSS_PEAK] = EXEUNT_F_RSS_PEAK,
	[TALLY_READ_BYTES] = EXEUNT_F_READ_BYTES, [TALLY_WRITE_BYTES] = EXEUNT_F_WRITE_BYTES,
};

static unsigned int weigh_status(const struct exeunt_record *r)
{
	unsigned int how = 0;

	if (exeunt_has(r, EXEUNT_F_EXIT_CERTAIN) && !r->exit_certain)
		how = TALLY_UNCERTAIN;
	if (!exeunt_has(r, EXEUNT_F_EXIT_CAUSE))
		return how | TALLY_STATUS_UNKNOWN;
	switch (r->exit_cause) {
	case EXEUNT_CAUSE_EXITED:
		return how | (r->exit_code ? TALLY_FAILED : 0);
	case EXEUNT_CAUSE_CORE_DUMPED:
		return how | TALLY_KILLED | TALLY_CORE;
	case EXEUNT_CAUSE_SIGNALED:
		break;
	}
	return how | TALLY_KILLED;
}

void tally_weigh(struct tally_gift *gift, const struct exeunt_record *r)
{
	const uint64_t values[TALLY_VALUES] = {
		[TALLY_ELAPSED] = r->elapsed_us,       [TALLY_CPU_USER] = r->cpu_user_us,
		[TALLY_CPU_SYSTEM] = r->cpu_system_us, [TALLY_RSS_PEAK] = r->rss_peak_bytes,
		[TALLY_READ_BYTES] = r->read_bytes,    [TALLY_WRITE_BYTES] = r->write_bytes,
	};
	unsigned int known = 0;

	for (int i = 0; i < TALLY_VALUES; i++)
		known |= (unsigned int)exeunt_has(r, tally_fields[i]) << i;
	memcpy(gift->value, values, sizeof(values));
	gift->known = (uint8_t)known;
	gift->how = (uint8_t)weigh_status(r);
	gift->end_ns = r->exit_time_ns;
	if (exeunt_has(r, EXEUNT_F_EXIT_TIME))
		gift->how |= TALLY_TIMED;
}

/* A sum that would not fit stays at the largest number: hostile files have such values. */
static inline void add(uint64_t *to, uint64_t value)
{
	if (unlikely(__builtin_add_overflow(*to, value, to)))
		*to = UINT64_MAX;
}

static inline void count_status(struct tally_sums *s, unsigned int how, uint64_t one)
{
	s->failed += how & TALLY_FAILED ? one : 0;
	s->killed += how & TALLY_KILLED ? one : 0;
	s->core_dumped += how & TALLY_CORE ? one : 0;
	s->uncertain += how & TALLY_UNCERTAIN ? one : 0;
	s->unknown_status += how & TALLY_STATUS_UNKNOWN ? one : 0;
}

static inline void stretch(struct tally_sums *s, int64_t first_ns, int64_t last_ns)
{
	s->first_ns = s->timed ? MIN(s->first_ns, first_ns) : first_ns;
	s->last_ns = s->timed ? MAX(s->last_ns, last_ns) : last_ns;
}

void tally_give(struct tally_sums *s, const struct tally_gift *gift)
{
	s->exits++;
	count_status(s, gift->how, 1);
	for (int i = 0; i < TALLY_VALUES; i++) {
		if (!(gift->known >> i & 1))
			s->unknown[i]++;
		else if (i == TALLY_RSS_PEAK)
			s->value[i] = MAX(s->value[i], gift->value[i]);
		else
			add(&s->value[i], gift->value[i]);
	}
	if (gift->known & 1u << TALLY_ELAPSED)
		s->elapsed_max_us = MAX(s->elapsed_max_us, gift->value[TALLY_ELAPSED]);
	if (!(gift->how & TALLY_TIMED))
		return;
	stretch(s, gift->end_ns, gift->end_ns);
	s->timed++;
}

void tally_take_back(struct tally_sums *s, const struct tally_gift *gift)
{
	s->exits--;
	count_status(s, gift->how, (uint64_t)-1);
	for (int i = 0; i < TALLY_VALUES; i++) {
		if (!(gift->known >> i & 1))
			s->unknown[i]--;
		else if (i != TALLY_RSS_PEAK && s->value[i] != UINT64_MAX)
			s->value[i] -= gift->value[i];
	}
	if (gift->how & TALLY_TIMED)
		s->timed--;
}

void tally_merge(struct tally_sums *to, const struct tally_sums *from)
{
	to->exits += from->exits;
	to->failed += from->failed;
	to->killed += from->killed;
	to->core_dumped += from->core_dumped;
	to->uncertain += from->uncertain;
	to->unknown_status += from->unknown_status;
	for (int i = 0; i < TALLY_VALUES; i++) {
		to->unknown[i] += from->unknown[i];
		if (i == TALLY_RSS_PEAK)
			to->value[i] = MAX(to->value[i], from->value[i]);
		else
			add(&to->value[i], from->value[i]);
	}
	to->elapsed_max_us = MAX(to->elapsed_max_us, from->elapsed_max_us);
	if (from->timed)
		stretch(to, from->first_ns, from->last_ns);
	to->timed += from->timed;
}
