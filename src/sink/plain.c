/* SPDX-License-Identifier: MIT */
/* See plain.h. */
#include "sink/plain.h"

#include "record/fields.h"

int plain_bytes(struct text_buffer *b, const void *data, size_t len)
{
	int r = text_buffer_room(b, len);

	if (r < 0)
		return r;
	if (len)
		b->len = (size_t)(fmt_mem(b->data + b->len, data, len) - b->data);
	return 0;
}

int plain_str(struct text_buffer *b, const char *s)
{
	return plain_bytes(b, s, strlen(s));
}

int plain_u64(struct text_buffer *b, uint64_t v)
{
	char text[FMT_U64_MAX + FMT_SLACK];

	return plain_bytes(b, text, (size_t)(fmt_u64(text, v) - text));
}

static bool is_word(const struct exeunt_bytes *s)
{
	for (uint32_t i = 0; i < s->len; i++) {
		char c = s->data[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    (!c || !strchr("_-+=.,:/@%^", c)))
			return false;
	}
	return s->len > 0;
}

/* Single quotes; one within leaves them, and comes back with a backslash. */
static int put_quoted(struct text_buffer *b, const struct exeunt_bytes *s)
{
	int r = plain_str(b, "'");
	uint32_t from = 0;

	for (uint32_t i = 0; i <= s->len && r >= 0; i++) {
		if (i < s->len && s->data[i] != '\'')
			continue;
		r = plain_bytes(b, s->data + from, i - from);
		if (r >= 0 && i < s->len)
			r = plain_str(b, "'\\''");
		from = i + 1;
	}
	return r < 0 ? r : plain_str(b, "'");
}

static int put_args(struct text_buffer *b, const struct exeunt_record *r)
{
	int status = 0;

	for (uint32_t i = 0; i < r->n_args && status >= 0; i++) {
		if (i)
			status = plain_str(b, " ");
		if (status >= 0)
			status = is_word(&r->args[i])
					 ? plain_bytes(b, r->args[i].data, r->args[i].len)
					 : put_quoted(b, &r->args[i]);
	}
	return status;
}

int plain_field(struct plain *p, struct text_buffer *b, const struct exeunt_record *r,
		unsigned int field)
{
	const void *v = field_ptr(r, field);
	const struct exeunt_bytes *bytes = v;
	char text[FMT_TIME_LEN + ENTITY_MAX + FMT_SLACK];

	switch (field_table[field].kind) {
	case FIELD_U64:
		return plain_u64(b, *(const uint64_t *)v);
	case FIELD_TIME:
		fmt_time(text, *(const int64_t *)v, &p->times);
		return plain_bytes(b, text, FMT_TIME_LEN);
	case FIELD_BOOL:
		return plain_str(b, *(const bool *)v ? "true" : "false");
	case FIELD_BYTES:
		return plain_bytes(b, bytes->data, bytes->len);
	case FIELD_COMM:
		return plain_bytes(b, v, strnlen(v, sizeof(r->comm)));
	case FIELD_ARGS:
		return put_args(b, r);
	case FIELD_ENTITY:
		entity_format(text, p->boot_hex, r->pid, r->entity_start_ns);
		return plain_str(b, text);
	case FIELD_I32:
	case FIELD_U32:
	case FIELD_SIGNAL_NAME:
	case FIELD_CAUSE:
	case FIELD_SOURCES:
	case FIELD_PATHS:
		break;
	}
	return MIN(text_field(b, r, field, -1, true), 0);
}
