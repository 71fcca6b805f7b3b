/* SPDX-License-Identifier: MIT */
/* Rows back into records; see columns.h. */
#include "store/columns.h"

#include <signal.h>

#include <exeunt/exeunt.h>

#include "record/fields.h"
#include "store/columns-internal.h"

void columns_room_done(struct columns_room *room)
{
	free(room->args);
	free(room->paths);
	*room = (struct columns_room){ 0 };
}

/* The pointer first: asking for the length may convert. */
static struct exeunt_bytes bytes_of(sqlite3_stmt *st, int at)
{
	struct exeunt_bytes b = { .data = sqlite3_column_blob(st, at) };

	b.len = (uint32_t)sqlite3_column_bytes(st, at);
	if (!b.data) /* of an empty one there is none */
		b.data = "";
	return b;
}

static bool make_room(struct columns_room *room, size_t n)
{
	size_t grown = room->n_args ? room->n_args * 2 : 16;
	struct exeunt_bytes *args;

	if (n < room->n_args)
		return true;
	args = realloc(room->args, grown * sizeof(*args));
	if (!args)
		return false;
	room->args = args;
	room->n_args = grown;
	return true;
}

static int read_args(sqlite3_stmt *st, int at, struct exeunt_record *r, struct columns_room *room)
{
	int behind = sqlite3_column_type(st, at) == SQLITE_TEXT ? SEPARATOR : '\0';
	struct exeunt_bytes all = bytes_of(st, at);
	const char *p = all.data, *end = p + all.len;
	size_t n = 0;

	while (p < end) {
		const char *stop = memchr(p, behind, (size_t)(end - p));

		if (!make_room(room, n))
			return -ENOMEM;
		stop = stop ? stop : end;
		room->args[n++] = (struct exeunt_bytes){ p, (uint32_t)(stop - p) };
		p = stop + 1;
	}
	r->args = room->args;
	r->n_args = (uint32_t)n;
	return 0;
}

static uint32_t read_names(sqlite3_stmt *st, int at)
{
	const char *p = (const char *)sqlite3_column_text(st, at);
	uint32_t mask = 0;

	while (p && *p) {
		size_t len = strcspn(p, ",");

		for (int i = 0; i < EXEUNT_SOURCE_COUNT; i++)
			if (strlen(exeunt_source_name(i)) == len &&
			    !memcmp(exeunt_source_name(i), p, len))
				mask |= EXEUNT_SOURCE_BIT(i);
		p += len + (p[len] == ',');
	}
	return mask;
}

static enum exeunt_cause read_cause(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at);

	for (size_t i = 0; text && i <= EXEUNT_CAUSE_CORE_DUMPED; i++)
		if (!strcmp(column_causes[i], text))
			return (enum exeunt_cause)i;
	return EXEUNT_CAUSE_EXITED;
}

/* The number is what a record has; it may not have been asked for. */
static unsigned int read_signal(sqlite3_stmt *st, int at)
{
	const char *text = (const char *)sqlite3_column_text(st, at), *name;

	for (unsigned int i = 1; text && i < NSIG; i++) {
		name = exeunt_signal_name(i);
		if (name && !strcmp(name, text))
			return i;
	}
	return 0;
}

static int read_paths(sqlite3_stmt *st, int at, uint64_t *mask, struct columns_room *room)
{
	const char *text = (const char *)sqlite3_column_text(st, at), *bad;
	size_t len;

	if (!text)
		return 0;
	if (!room->paths || strcmp(room->paths, text) != 0) {
		free(room->paths);
		room->paths = strdup(text);
		if (!room->paths)
			return -ENOMEM;
		field_parse_list(text, room->paths_mask, &bad, &len);
	}
	memcpy(mask, room->paths_mask, sizeof(room->paths_mask));
	return 0;
}

static int read_field(sqlite3_stmt *st, int at, enum exeunt_field field, struct exeunt_record *r,
		      struct columns_room *room)
{
	void *p = (char *)r + field_table[field].offset;
	struct exeunt_bytes bytes;

	switch (field_table[field].kind) {
	case FIELD_I32:
		*(int32_t *)p = sqlite3_column_int(st, at);
		break;
	case FIELD_U32:
		*(uint32_t *)p = (uint32_t)sqlite3_column_int64(st, at);
		break;
	case FIELD_U64:
	case FIELD_ENTITY:
		*(uint64_t *)p = (uint64_t)sqlite3_column_int64(st, at);
		break;
	case FIELD_TIME:
		*(int64_t *)p = sqlite3_column_int64(st, at);
		break;
	case FIELD_BOOL:
		*(bool *)p = sqlite3_column_int(st, at) != 0;
		break;
	case FIELD_BYTES:
		*(struct exeunt_bytes *)p = bytes_of(st, at);
		break;
	case FIELD_COMM:
		bytes = bytes_of(st, at);
		bytes.len = MIN(bytes.len, (uint32_t)sizeof(r->comm) - 1);
		memcpy(p, bytes.data, bytes.len);
		((char *)p)[bytes.len] = '\0';
		break;
	case FIELD_ARGS:
		return read_args(st, at, r, room);
	case FIELD_SIGNAL_NAME:
		r->exit_signal = read_signal(st, at);
		break;
	case FIELD_CAUSE:
		r->exit_cause = read_cause(st, at);
		break;
	case FIELD_SOURCES:
		*(uint32_t *)p = read_names(st, at);
		break;
	case FIELD_PATHS:
		return read_paths(st, at, p, room);
	}
	return 0;
}

int columns_read(sqlite3_stmt *st, int first, const uint64_t *mask, struct exeunt_record *r,
		 struct columns_room *room)
{
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		int e;

		if (!field_in(mask, (unsigned int)i))
			continue;
		if (sqlite3_column_type(st, first) != SQLITE_NULL) {
			e = read_field(st, first, i, r, room);
			if (e < 0)
				return e;
			field_set(r, i);
		}
		first++;
	}
	return 0;
}
