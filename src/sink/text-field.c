/* SPDX-License-Identifier: MIT */
/* See text-field.h. */
#include "sink/text-field.h"

#include <time.h>

#include <exeunt/exeunt.h>

#include "base/utf8.h"
#include "record/entity.h"
#include "record/fields.h"

#define NUMBER_ROOM 96

int text_buffer_room(struct text_buffer *b, size_t more)
{
	size_t size = b->len + more + FMT_SLACK;
	char *data;

	if (size <= b->size)
		return 0;
	size += size / 2;
	data = realloc(b->data, size);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->size = size;
	return 0;
}

int text_field_raw(struct text_buffer *b, const char *s, size_t len, int columns)
{
	size_t most = 4 * len;
	int used = 0, r;

	if (columns >= 0)
		most = MIN(most, (size_t)columns * UTF8_VISIBLE_COLUMN_MAX);
	r = text_buffer_room(b, most + 4);
	if (r < 0)
		return r;
	b->len = (size_t)(utf8_visible(b->data + b->len, s, len, columns, &used) - b->data);
	return used;
}

size_t text_time(char *p, int64_t ns, bool utc)
{
	time_t second = ns / NS_PER_SEC - (ns % NS_PER_SEC < 0);
	struct tm tm;

	if (!(utc ? gmtime_r(&second, &tm) : localtime_r(&second, &tm)))
		return 0;
	return strftime(p, 32, "%Y-%m-%d %H:%M:%S", &tm);
}

static char *put_unit(char *p, uint64_t v, enum field_unit unit)
{
	switch (unit) {
	case UNIT_US:
		return fmt_duration_us(p, v);
	case UNIT_NS:
		return fmt_duration_us(p, v / 1000);
	case UNIT_BYTES:
		return fmt_bytes(p, v);
	case UNIT_NONE:
		break;
	}
	return fmt_u64(p, v);
}

static char *put_signal(char *p, uint32_t signal)
{
	const char *name = exeunt_signal_name(signal);

	return name ? fmt_str(p, name) : fmt_u32(FMT_LIT(p, "SIG"), signal);
}

static const char *cause_name(enum exeunt_cause cause)
{
	switch (cause) {
	case EXEUNT_CAUSE_EXITED:
		return "exited";
	case EXEUNT_CAUSE_SIGNALED:
		return "signaled";
	case EXEUNT_CAUSE_CORE_DUMPED:
		return "core_dumped";
	}
	return "unknown";
}

/* What is short and plain; NULL for what is not. */
static char *put_plain(char *p, const struct exeunt_record *r, unsigned int field, bool utc)
{
	const struct field_info *f = &field_table[field];
	const void *v = field_ptr(r, field);

	switch (f->kind) {
	case FIELD_I32:
		return fmt_i64(p, *(const int32_t *)v);
	case FIELD_U32:
		return fmt_u32(p, *(const uint32_t *)v);
	case FIELD_U64:
		return put_unit(p, *(const uint64_t *)v, f->unit);
	case FIELD_TIME:
		return p + text_time(p, *(const int64_t *)v, utc);
	case FIELD_BOOL:
		return fmt_str(p, *(const bool *)v ? "yes" : "no");
	case FIELD_SIGNAL_NAME:
		return put_signal(p, *(const uint32_t *)v);
	case FIELD_CAUSE:
		return fmt_str(p, cause_name(*(const enum exeunt_cause *)v));
	case FIELD_ENTITY:
		return entity_tail(p, r->pid, r->entity_start_ns);
	case FIELD_BYTES:
	case FIELD_COMM:
	case FIELD_ARGS:
	case FIELD_SOURCES:
	case FIELD_PATHS:
		break;
	}
	return NULL;
}

/* Names with commas between, of a mask of `n` bits. */
static int put_names(struct text_buffer *names, const uint64_t *mask, unsigned int n,
		     const char *(*name)(unsigned int))
{
	int r = 0;

	for (unsigned int i = 0; i < n && r >= 0; i++) {
		if (!(mask[i / 64] >> (i % 64) & 1))
			continue;
		r = text_buffer_room(names, strlen(name(i)) + 1);
		if (r < 0)
			break;
		if (names->len)
			names->data[names->len++] = ',';
		names->len = (size_t)(fmt_str(names->data + names->len, name(i)) - names->data);
	}
	return r;
}

static const char *source_name(unsigned int i)
{
	return exeunt_source_name((enum exeunt_source)i);
}

static const char *path_name(unsigned int i)
{
	return field_table[i].path;
}

static int put_args(struct text_buffer *line, const struct exeunt_record *r)
{
	for (uint32_t i = 0; i < r->n_args; i++) {
		const struct exeunt_bytes a =
			r->args[i].len ? r->args[i] : (struct exeunt_bytes){ "\"\"", 2 };
		int status = text_buffer_room(line, (size_t)a.len + 1);

		if (status < 0)
			return status;
		if (i)
			line->data[line->len++] = ' ';
		line->len = (size_t)(fmt_mem(line->data + line->len, a.data, a.len) - line->data);
	}
	return 0;
}

/* Put together first, then made visible. */
static int put_list(struct text_buffer *b, const struct exeunt_record *r, unsigned int field,
		    int columns)
{
	struct text_buffer list = { 0 };
	const void *v = field_ptr(r, field);
	int used;

	if (field_table[field].kind == FIELD_ARGS)
		used = put_args(&list, r);
	else if (field_table[field].kind == FIELD_SOURCES)
		used = put_names(&list, &(uint64_t){ *(const uint32_t *)v }, EXEUNT_SOURCE_COUNT,
				 source_name);
	else
		used = put_names(&list, v, EXEUNT_F_COUNT, path_name);
	if (used >= 0)
		used = text_field_raw(b, list.data, list.len, columns);
	free(list.data);
	return used;
}

int text_field(struct text_buffer *b, const struct exeunt_record *r, unsigned int field,
	       int columns, bool utc)
{
	const struct exeunt_bytes *bytes = field_ptr(r, field);
	char number[NUMBER_ROOM], *end;
	struct exeunt_bytes text;

	if (!exeunt_has(r, field))
		return text_field_raw(b, "-", 1, columns);
	end = put_plain(number, r, field, utc);
	if (end)
		return text_field_raw(b, number, (size_t)(end - number), columns);
	if (field_table[field].kind == FIELD_BYTES)
		text = *bytes;
	else if (field_table[field].kind == FIELD_COMM)
		text = (struct exeunt_bytes){
			(const char *)bytes, (uint32_t)strnlen((const char *)bytes, sizeof(r->comm))
		};
	else
		return put_list(b, r, field, columns);
	if (!text.len)
		return text_field_raw(b, "\"\"", 2, columns);
	return text_field_raw(b, text.data, text.len, columns);
}
