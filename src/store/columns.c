/* SPDX-License-Identifier: MIT */
/* See columns.h. */
#include "store/columns.h"

#include <exeunt/exeunt.h>

#include "base/utf8.h"
#include "record/fields.h"
#include "store/columns-internal.h"

#define NAMES_MAX 128

const char *column_name(enum exeunt_field field, char buf[COLUMN_NAME_SIZE])
{
	snprintf(buf, COLUMN_NAME_SIZE, "%s", field_table[field].path);
	for (char *p = buf; *p; p++)
		if (*p == '.')
			*p = '_';
	return buf;
}

static const char *type_of(enum field_kind kind)
{
	switch (kind) {
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_TIME:
	case FIELD_BOOL:
	case FIELD_ENTITY:
		return "INTEGER";
	case FIELD_ARGS:
		return ""; /* as it is bound */
	case FIELD_BYTES:
	case FIELD_COMM:
	case FIELD_SIGNAL_NAME:
	case FIELD_CAUSE:
	case FIELD_SOURCES:
	case FIELD_PATHS:
		return "TEXT";
	}
	return "";
}

char *columns_declare(void)
{
	char *text = NULL, name[COLUMN_NAME_SIZE];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		fprintf(f, ", %s %s", column_name(i, name), type_of(field_table[i].kind));
	fclose(f);
	return text;
}

char *columns_list(const uint64_t *mask, int *n)
{
	char *text = NULL, name[COLUMN_NAME_SIZE];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	*n = 0;
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		if (!field_in(mask, (unsigned int)i))
			continue;
		fprintf(f, ", %s", column_name(i, name));
		++*n;
	}
	fclose(f);
	return text;
}

/* Text as sqlite3 shows it whole: valid, and no NUL in it. */
static bool is_text(const char *s, size_t len)
{
	uint32_t cp;

	while (len) {
		int n;

		if ((unsigned char)*s < 0x80) {
			if (!*s)
				return false;
			n = 1;
		} else {
			n = utf8_decode(s, len, &cp);
			if (n <= 0)
				return false;
		}
		s += n;
		len -= (size_t)n;
	}
	return true;
}

static int bind_bytes(sqlite3_stmt *st, int at, const char *data, size_t len)
{
	if (is_text(data, len))
		return sqlite3_bind_text(st, at, len ? data : "", (int)len, SQLITE_STATIC);
	return sqlite3_bind_blob(st, at, data, (int)len, SQLITE_STATIC);
}

/* Can the arguments be told apart again by the separator? */
static bool are_separable(const struct exeunt_record *r)
{
	for (uint32_t i = 0; i < r->n_args; i++)
		if (memchr(r->args[i].data, SEPARATOR, r->args[i].len) ||
		    !is_text(r->args[i].data, r->args[i].len))
			return false;
	return r->n_args != 0;
}

static int bind_args(sqlite3_stmt *st, int at, const struct exeunt_record *r)
{
	bool text = are_separable(r);
	size_t size = 0;
	char *joined, *p;

	for (uint32_t i = 0; i < r->n_args; i++)
		size += r->args[i].len + 1;
	p = joined = sqlite3_malloc64(size + 1);
	if (!joined)
		return SQLITE_NOMEM;
	for (uint32_t i = 0; i < r->n_args; i++) {
		memcpy(p, r->args[i].data, r->args[i].len);
		p += r->args[i].len;
		*p++ = text ? SEPARATOR : '\0';
	}
	if (text)
		return sqlite3_bind_text(st, at, joined, (int)size, sqlite3_free);
	return sqlite3_bind_blob(st, at, joined, (int)size, sqlite3_free);
}

static int bind_names(sqlite3_stmt *st, int at, uint32_t mask)
{
	char names[NAMES_MAX];
	size_t len = 0;

	*names = '\0';
	for (int i = 0; i < EXEUNT_SOURCE_COUNT; i++)
		if (mask >> i & 1)
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? "," : "", exeunt_source_name(i));
	return sqlite3_bind_text(st, at, names, (int)len, SQLITE_TRANSIENT);
}

static int bind_paths(sqlite3_stmt *st, int at, const uint64_t *mask)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int r;

	if (!f)
		return SQLITE_NOMEM;
	for (int i = 0; i < EXEUNT_F_COUNT; i++)
		if (field_in(mask, (unsigned int)i))
			fprintf(f, ",%s", field_table[i].path);
	fclose(f);
	r = sqlite3_bind_text(st, at, *text ? text + 1 : text, -1, SQLITE_TRANSIENT);
	free(text);
	return r;
}

const char *const column_causes[] = { [EXEUNT_CAUSE_EXITED] = "exited",
				      [EXEUNT_CAUSE_SIGNALED] = "signaled",
				      [EXEUNT_CAUSE_CORE_DUMPED] = "core_dumped" };

static int bind_signal(sqlite3_stmt *st, int at, unsigned int number)
{
	const char *name = exeunt_signal_name(number);

	return name ? sqlite3_bind_text(st, at, name, -1, SQLITE_TRANSIENT) : SQLITE_OK;
}

static int bind_field(sqlite3_stmt *st, int at, enum exeunt_field field,
		      const struct exeunt_record *r)
{
	const void *p = field_ptr(r, field);
	const struct exeunt_bytes *bytes = p;

	switch (field_table[field].kind) {
	case FIELD_I32:
		return sqlite3_bind_int(st, at, *(const int32_t *)p);
	case FIELD_U32:
		return sqlite3_bind_int64(st, at, *(const uint32_t *)p);
	case FIELD_U64:
	case FIELD_ENTITY:
		return sqlite3_bind_int64(st, at, (int64_t) * (const uint64_t *)p);
	case FIELD_TIME:
		return sqlite3_bind_int64(st, at, *(const int64_t *)p);
	case FIELD_BOOL:
		return sqlite3_bind_int(st, at, *(const bool *)p);
	case FIELD_BYTES:
		return bind_bytes(st, at, bytes->data, bytes->len);
	case FIELD_COMM:
		return bind_bytes(st, at, p, strlen(p));
	case FIELD_ARGS:
		return bind_args(st, at, r);
	case FIELD_SIGNAL_NAME:
		return bind_signal(st, at, r->exit_signal);
	case FIELD_CAUSE:
		return sqlite3_bind_text(st, at, column_causes[r->exit_cause], -1, SQLITE_STATIC);
	case FIELD_SOURCES:
		return bind_names(st, at, *(const uint32_t *)p);
	case FIELD_PATHS:
		return bind_paths(st, at, p);
	}
	return SQLITE_MISUSE;
}

int columns_bind(sqlite3_stmt *st, int first, const struct exeunt_record *r)
{
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		int e = exeunt_has(r, i) ? bind_field(st, first + i, i, r)
					 : sqlite3_bind_null(st, first + i);

		if (e != SQLITE_OK)
			return e;
	}
	return SQLITE_OK;
}
