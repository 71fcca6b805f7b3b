/* SPDX-License-Identifier: MIT */
/*
 * Exits counted and summed by any fields of the field table, and by intervals of the time of the exit. Owns its groups;
 * promises bounded memory: what has no room for a group of its own is summed with the others, and said to be.
 *
 *	tally_take() for each record, then tally_rows() for the table
 *
 * An exit counts once: when it is amended, what it gave is taken back and given anew, to another group where the fields
 * that it is grouped by have changed. A maximum, and the first and last exit, cannot be taken back: amended ones only grow.
 * Absent is unknown here too: a sum says how many exits did not tell their part of it.
 */
#ifndef RECORD_TALLY_H
#define RECORD_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

#define TALLY_FIELDS_MOST 16
#define TALLY_GROUPS_MOST (UINT32_C(1) << 20)
#define TALLY_BYTES_MOST ((size_t)512 << 20) /* of all groups with what they are grouped by */

/* What is summed. */
enum tally_value {
	TALLY_ELAPSED,
	TALLY_CPU_USER,
	TALLY_CPU_SYSTEM,
	TALLY_RSS_PEAK, /* the maximum alone */
	TALLY_READ_BYTES,
	TALLY_WRITE_BYTES,
	TALLY_VALUES
};

/* The field of each, in the order of the field table. */
extern const uint8_t tally_fields[TALLY_VALUES];

struct tally_sums {
	uint64_t exits;
	uint64_t failed; /* ended by itself, with a code other than 0 */
	uint64_t killed; /* by a signal, with a core or without */
	uint64_t core_dumped;
	uint64_t uncertain;	 /* whose status the evidence contradicts */
	uint64_t unknown_status; /* exits that did not tell how they ended */
	uint64_t value[TALLY_VALUES];
	uint64_t elapsed_max_us;
	uint64_t unknown[TALLY_VALUES]; /* exits that did not tell this value */
	int64_t first_ns, last_ns;	/* times of exits, if `timed` */
	uint64_t timed;
};

struct tally;
struct tally_group;

struct tally_options {
	uint8_t fields[TALLY_FIELDS_MOST]; /* enum exeunt_field */
	unsigned int n_fields;		   /* 0: all exits are one group */
	int64_t interval_ns;		   /* counted from 1970; 0: none */
	uint32_t most_groups;		   /* 0: TALLY_GROUPS_MOST */
};

/* True for a field that can be grouped by: those that are summed cannot. */
bool tally_can_group(enum exeunt_field field);

/* Errors: -ENOMEM; -EINVAL (a field that cannot be grouped by). `o` is copied. */
int tally_new(struct tally **ret, const struct tally_options *o);
void tally_free(struct tally *t);

/* The fields that tally_take() asks for, into EXEUNT_PRESENT_WORDS words. */
void tally_asks_for(const struct tally *t, uint64_t *ret_mask);

/* As it was asked for. */
int64_t tally_interval(const struct tally *t);

/*
 * Counts an exit, or corrects it by an amend; other types are passed over. `counted` false: the consumer leaves this
 * record out, which an amend may change.
 */
void tally_take(struct tally *t, const struct exeunt_record *r, bool counted);

/* A line of the table. */
struct tally_row {
	const struct tally_sums *sums;
	const struct tally_group *group; /* NULL: of several groups */
	uint64_t groups; /* how many; 0: not known, there was no room to tell them apart */
	bool has_interval;
	int64_t interval_start_ns;
};

enum tally_sort { TALLY_BY_CPU, TALLY_BY_EXITS, TALLY_BY_ELAPSED, TALLY_BY_FAILED, TALLY_BY_NAME };

struct tally_rows {
	struct tally_row *rows;
	size_t n;
	struct tally_sums total;
	uint64_t groups;
	uint64_t lost_amends; /* amends of exits that were too long ago: not in the sums */
};

/*
 * The table: intervals in order of time, exits without a time last; within each the greatest first (TALLY_BY_NAME: in order of the
 * fields), at most `top` of them (0: all), then a row for the others. The order is the same whenever the records are. The rows
 * are borrowed from the tally, until it takes a record or is asked again. Errors: -ENOMEM.
 */
int tally_rows(struct tally *t, enum tally_sort sort, uint64_t top, struct tally_rows *ret);

/* Fills all of `r` with what the group is grouped by; strings are borrowed from the group, arguments until the next call. */
void tally_group_record(struct tally *t, const struct tally_group *g, struct exeunt_record *r);

#endif
