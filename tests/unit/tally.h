/* SPDX-License-Identifier: MIT */
/* Exits for the tests of the tally and of reports, and its rows. */
#ifndef UNIT_TALLY_H
#define UNIT_TALLY_H

#include "base/util.h"
#include "record/fields.h"
#include "record/status.h"
#include "record/tally.h"

#define SECOND NS_PER_SEC
#define TEXT(s) ((struct exeunt_bytes){ s, sizeof(s) - 1 })

static inline struct tally *new_tally(const struct tally_options *o)
{
	struct tally *t = NULL;

	assert_int_equal(tally_new(&t, o), 0);
	return t;
}

static inline struct tally *by(enum exeunt_field field)
{
	return new_tally(&(struct tally_options){ .fields = { (uint8_t)field }, .n_fields = 1 });
}

static inline struct exeunt_record exit_of(const char *comm, int32_t pid)
{
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT,
				   .pid = pid,
				   .entity_start_ns = (uint64_t)pid };

	memcpy(r.comm, comm, strlen(comm));
	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	field_set(&r, EXEUNT_F_COMM);
	return r;
}

static inline struct exeunt_record exit_with_cpu(const char *comm, int32_t pid, uint64_t user_us)
{
	struct exeunt_record r = exit_of(comm, pid);

	r.cpu_user_us = user_us;
	field_set(&r, EXEUNT_F_CPU_USER);
	return r;
}

static inline struct tally_rows rows_of(struct tally *t, enum tally_sort sort, uint64_t top)
{
	struct tally_rows rows;

	assert_int_equal(tally_rows(t, sort, top, &rows), 0);
	return rows;
}

static inline void assert_comm(struct tally *t, const struct tally_row *row, const char *comm)
{
	struct exeunt_record r;

	assert_non_null(row->group);
	tally_group_record(t, row->group, &r);
	assert_true(exeunt_has(&r, EXEUNT_F_COMM));
	assert_string_equal(r.comm, comm);
}

#endif
