/* SPDX-License-Identifier: MIT */
/*
 * Fuzz harness of the filter language. The input up to the first newline is an expression; what is behind it becomes
 * a record: presence bits, then the bytes of its members, and text that the text fields point to. Checked: a refusal
 * has a message that is safe to print, and an expression and its opposite never both let the record pass.
 */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fuzz/fuzz.h"
#include "record/fields.h"
#include "record/filter.h"

#define EXPR_MAX 4096
#define ARGS_MAX 4

/* The rest of the input: each taker gets the next bytes, zeros when they end. */
struct input {
	const uint8_t *data;
	size_t size;
};

static void take(struct input *in, void *to, size_t len)
{
	size_t n = MIN(len, in->size);

	memset(to, 0, len);
	if (n)
		memcpy(to, in->data, n);
	in->data += n;
	in->size -= n;
}

/* A copy of its own, so that a sanitizer sees a read past the end. */
static struct exeunt_bytes take_bytes(struct input *in)
{
	uint8_t len;
	char *copy;

	take(in, &len, 1);
	len = (uint8_t)MIN((size_t)len, in->size);
	copy = malloc(len ? len : 1);
	if (!copy)
		abort();
	take(in, copy, len);
	return (struct exeunt_bytes){ copy, len };
}

static void fill_field(struct exeunt_record *r, int field, struct input *in,
		       struct exeunt_bytes *args)
{
	char *member = (char *)r + field_table[field].offset;
	struct exeunt_bytes b;

	switch (field_table[field].kind) {
	case FIELD_BYTES:
		b = take_bytes(in);
		memcpy(member, &b, sizeof(b));
		break;
	case FIELD_ARGS:
		for (r->n_args = 0; r->n_args < ARGS_MAX; r->n_args++)
			args[r->n_args] = take_bytes(in);
		r->args = args;
		break;
	case FIELD_COMM:
		take(in, member, sizeof(r->comm));
		break;
	case FIELD_BOOL:
		take(in, member, 1);
		*member &= 1;
		break;
	case FIELD_U64:
	case FIELD_TIME:
	case FIELD_ENTITY:
		take(in, member, sizeof(uint64_t));
		break;
	case FIELD_PATHS:
		take(in, member, sizeof(r->inherited));
		break;
	case FIELD_CAUSE:
		take(in, member, 1);
		r->exit_cause %= EXEUNT_CAUSE_CORE_DUMPED + 1;
		break;
	default:
		take(in, member, sizeof(uint32_t));
	}
}

static void free_fields(struct exeunt_record *r)
{
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		struct exeunt_bytes b;

		if (field_table[i].kind != FIELD_BYTES)
			continue;
		memcpy(&b, field_ptr(r, i), sizeof(b));
		free((void *)(uintptr_t)b.data);
	}
	for (uint32_t i = 0; i < r->n_args; i++)
		free((void *)(uintptr_t)r->args[i].data);
}

static void check_message(const char *error, size_t size)
{
	const char *end = memchr(error, '\0', size);
	unsigned int lines = 0;

	if (!end || end == error)
		abort();
	for (const char *c = error; c < end; c++) {
		if (*c == '\n')
			lines++;
		else if ((unsigned char)*c < 0x20 || *c == 0x7f)
			abort();
	}
	if (lines != 2)
		abort();
}

/* -1: refused; else whether the record passes. */
static int judge(const char *expr, const struct exeunt_record *r)
{
	char error[FILTER_ERROR_SIZE];
	struct filter *f;
	int result;

	switch (filter_new(&f, expr, error, sizeof(error))) {
	case 0:
		result = filter_match(f, r);
		filter_free(f);
		return result;
	case -EINVAL:
		check_message(error, sizeof(error));
		return -1;
	default:
		return -1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t len = newline ? (size_t)(newline - data) : size;
	struct input in = { data + MIN(len + 1, size), size - MIN(len + 1, size) };
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT };
	char expr[EXPR_MAX + 1], opposite[EXPR_MAX + 16];
	struct exeunt_bytes args[ARGS_MAX];
	int yes, no;

	len = MIN(len, (size_t)EXPR_MAX);
	if (len)
		memcpy(expr, data, len);
	expr[len] = '\0';
	snprintf(opposite, sizeof(opposite), "not (%s)", expr);
	take(&in, r.present, sizeof(r.present));
	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		if (exeunt_has(&r, i))
			fill_field(&r, i, &in, args);
	}
	yes = judge(expr, &r);
	no = judge(opposite, &r);
	if (yes == 1 && no == 1)
		abort();
	free_fields(&r);
	return 0;
}
