/* SPDX-License-Identifier: MIT */
/* Records with any fields and any bytes in them, by the field table, for what has to keep a record as it is. */
#ifndef UNIT_ANY_RECORD_H
#define UNIT_ANY_RECORD_H

#include <stdlib.h>
#include <string.h>

#include "record/fields.h"

/* A record and what it points to. */
struct any_record {
	struct exeunt_record r;
	struct exeunt_bytes args[8];
	char bytes[EXEUNT_F_COUNT + 8][24];
	struct exeunt_loss loss;
};

static inline uint64_t any_number(void)
{
	uint64_t n = (uint64_t)random() << 31 ^ (uint64_t)random();

	return n >> (random() % 53 + 11); /* what JSON can say */
}

/* Often text, sometimes not; with the separators that somebody may have thought of. */
static inline struct exeunt_bytes any_bytes(char *room)
{
	static const char *const odd[] = { "",	       "\x1f",	"a\x1f-",    "\xff\xfe",
					   "\xc3\xa9", "a b\n", "x\x1b[31m", "\xc3" };
	uint32_t len;

	if (random() % 3 == 0) {
		const char *text = odd[random() % (long)(sizeof(odd) / sizeof(odd[0]))];

		strcpy(room, text);
		return (struct exeunt_bytes){ room, (uint32_t)strlen(text) };
	}
	len = (uint32_t)(random() % 20);
	for (uint32_t i = 0; i < len; i++)
		room[i] = random() % 8 ? (char)('a' + random() % 26) : (char)(random() % 255 + 1);
	return (struct exeunt_bytes){ room, len };
}

static inline void any_field(struct any_record *a, int field)
{
	char *at = (char *)&a->r + field_table[field].offset, *room = a->bytes[field];

	switch (field_table[field].kind) {
	case FIELD_I32:
		*(int32_t *)at = (int32_t)random();
		break;
	case FIELD_U32:
		*(uint32_t *)at = (uint32_t)random();
		break;
	case FIELD_U64:
	case FIELD_ENTITY:
		*(uint64_t *)at = any_number();
		break;
	case FIELD_TIME:
		*(int64_t *)at = (int64_t)any_number();
		break;
	case FIELD_BOOL:
		*(bool *)at = random() % 2;
		break;
	case FIELD_BYTES:
		*(struct exeunt_bytes *)at = any_bytes(room);
		break;
	case FIELD_COMM:
		memset(at, 0, sizeof(a->r.comm));
		strncpy(at, "any\xe2\x82 \x01 name", (size_t)(random() % 15));
		break;
	case FIELD_ARGS:
		a->r.args = a->args;
		a->r.n_args = (uint32_t)(random() % 8);
		for (uint32_t i = 0; i < a->r.n_args; i++)
			a->args[i] = any_bytes(a->bytes[EXEUNT_F_COUNT + i]);
		break;
	case FIELD_CAUSE:
		a->r.exit_cause = (enum exeunt_cause)(random() % 3);
		break;
	case FIELD_SOURCES:
		*(uint32_t *)at = (uint32_t)(random() % 15 + 1);
		break;
	case FIELD_PATHS:
		memset(at, 0, sizeof(a->r.inherited));
		*(uint64_t *)at = UINT64_C(1) << EXEUNT_F_CGROUP | UINT64_C(1) << EXEUNT_F_EXE_PATH;
		break;
	case FIELD_SIGNAL_NAME:
		break;
	}
	field_set(&a->r, field);
}

/* About a process, of any type; or a loss now and then. */
static inline void any_record(struct any_record *a)
{
	static const uint16_t types[] = { EXEUNT_TYPE_EXIT, EXEUNT_TYPE_EXIT, EXEUNT_TYPE_AMEND,
					  EXEUNT_TYPE_THREAD };

	memset(a, 0, sizeof(*a));
	a->r.size = sizeof(a->r);
	a->r.version = EXEUNT_RECORD_VERSION;
	a->r.type = types[random() % 4];
	a->r.time_ns = (int64_t)any_number();
	if (random() % 16 == 0) {
		a->loss = (struct exeunt_loss){
			.source = (enum exeunt_source)(random() % EXEUNT_SOURCE_COUNT),
			.cause = (enum exeunt_loss_cause)(random() % EXEUNT_LOSS_CAUSE_COUNT),
			.count = any_number(),
			.exact = random() % 2,
			.cpu = (int32_t)(random() % 5) - 1,
			.window_start_ns = (int64_t)any_number(),
			.window_end_ns = (int64_t)any_number(),
			.backfilled = any_number()
		};
		a->r.type = EXEUNT_TYPE_LOSS;
		a->r.loss = &a->loss;
		return;
	}
	for (int f = 0; f < EXEUNT_F_COUNT; f++)
		if (random() % 3 || f == EXEUNT_F_PID) /* which the entity id is made of, too */
			any_field(a, f);
	/* the name is of the number, and has to be of a signal that there is */
	a->r.exit_signal = (uint32_t)(random() % 31 + 1);
}

#endif
