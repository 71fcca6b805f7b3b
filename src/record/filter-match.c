/* SPDX-License-Identifier: MIT */
/*
 * Asks a compiled filter about a record. No allocation, no lookup; recursion only into parentheses and `not`, whose
 * depth filter.c bounds.
 */
#include <exeunt/exeunt.h>

#include "record/filter-internal.h"

/* In this order `and` is the least of its operands, `or` the greatest, `not` the mirror image. */
enum truth { FALSE, UNKNOWN, TRUE };

static enum truth truth(bool value)
{
	return value ? TRUE : FALSE;
}

static enum truth compare(const struct filter_node *n, uint64_t value)
{
	unsigned int outcome = value < n->number    ? COMPARE_LESS
			       : value == n->number ? COMPARE_EQUAL
						    : COMPARE_GREATER;

	return truth(n->compare & outcome);
}

/* For operators that know only == and !=. */
static enum truth equal(const struct filter_node *n, bool is_equal)
{
	return truth(is_equal == (n->compare == COMPARE_EQ));
}

static enum truth same_text(const struct filter_node *n, struct exeunt_bytes b)
{
	return equal(n, b.len == n->text.len && (!b.len || !memcmp(b.data, n->text.data, b.len)));
}

static struct exeunt_bytes bytes_of(const char *s)
{
	return (struct exeunt_bytes){ s, s ? (uint32_t)strlen(s) : 0 };
}

static struct exeunt_bytes text_of(const struct exeunt_record *r, const struct filter_node *n)
{
	const void *member = field_ptr(r, n->field);

	switch (field_table[n->field].kind) {
	case FIELD_BYTES:
		return *(const struct exeunt_bytes *)member;
	case FIELD_COMM:
		return (struct exeunt_bytes){ member, (uint32_t)strnlen(member, sizeof(r->comm)) };
	case FIELD_CAUSE:
		return bytes_of(filter_cause_name(r->exit_cause));
	default:
		return bytes_of(exeunt_signal_name(r->exit_signal));
	}
}

static bool has_argument(const struct filter_node *n, const struct exeunt_record *r)
{
	for (uint32_t i = 0; i < r->n_args; i++) {
		const struct exeunt_bytes *a = &r->args[i];

		if (a->len == n->text.len && !memcmp(a->data ? a->data : "", n->text.data, a->len))
			return true;
	}
	return false;
}

/* The arguments with a blank between them, as pgrep -f sees them. */
static bool line_has(const struct filter *f, const struct filter_node *n,
		     const struct exeunt_record *r)
{
	size_t len = 0;

	if (r->n_args == 1)
		return filter_pattern_match(n->pattern, r->args[0].data, r->args[0].len, f->line);
	for (uint32_t i = 0; i < r->n_args && len < FILTER_LINE_SIZE; i++) {
		size_t part;

		if (i > 0)
			f->line[len++] = ' ';
		part = MIN((size_t)r->args[i].len, FILTER_LINE_SIZE - len);
		if (part > 0)
			memcpy(f->line + len, r->args[i].data, part);
		len += part;
	}
	return filter_pattern_match(n->pattern, f->line, len, f->line);
}

/* A name that the record does not have, but its number. */
static enum truth same_account(const struct filter_node *n, const struct exeunt_record *r)
{
	enum exeunt_field id = n->field == EXEUNT_F_USER    ? EXEUNT_F_UID
			       : n->field == EXEUNT_F_GROUP ? EXEUNT_F_GID
							    : EXEUNT_F_LOGIN_UID;

	if (!n->has_id || !exeunt_has(r, id))
		return UNKNOWN;
	return equal(n, *(const uint32_t *)field_ptr(r, id) == n->id);
}

/* A field that is known not to apply is equal to nothing, below nothing and above nothing. */
static enum truth not_applicable(const struct filter_node *n)
{
	return truth(n->compare == COMPARE_NE);
}

/* What a field means that the record leaves out. */
static enum truth absent(const struct filter_node *n, const struct exeunt_record *r)
{
	bool ended = exeunt_has(r, EXEUNT_F_EXIT_CAUSE);
	bool by_itself = r->exit_cause == EXEUNT_CAUSE_EXITED;

	switch (n->field) {
	case EXEUNT_F_EXIT_CODE:
		return ended && !by_itself ? not_applicable(n) : UNKNOWN;
	case EXEUNT_F_EXIT_SIGNAL:
	case EXEUNT_F_EXIT_SIGNAL_NAME:
		return ended && by_itself ? not_applicable(n) : UNKNOWN;
	case EXEUNT_F_EXIT_CORE_DUMPED:
		return ended && by_itself ? compare(n, false) : UNKNOWN;
	case EXEUNT_F_EXIT_CERTAIN:
		return ended ? compare(n, true) : UNKNOWN;
	case EXEUNT_F_BACKFILLED:
		return compare(n, false);
	case EXEUNT_F_MISSING:
	case EXEUNT_F_INHERITED:
		return not_applicable(n);
	case EXEUNT_F_USER:
	case EXEUNT_F_GROUP:
	case EXEUNT_F_LOGIN_USER:
		return n->op == FILTER_ACCOUNT ? same_account(n, r) : UNKNOWN;
	default:
		return UNKNOWN;
	}
}

static enum truth test(const struct filter *f, const struct filter_node *n,
		       const struct exeunt_record *r)
{
	const void *member = field_ptr(r, n->field);
	struct exeunt_bytes b;

	if (!exeunt_has(r, n->field))
		return absent(n, r);
	switch (n->op) {
	case FILTER_I32:
		return compare(n, (uint64_t)(int64_t) * (const int32_t *)member + FILTER_SIGN_BIAS);
	case FILTER_I64:
		return compare(n, (uint64_t) * (const int64_t *)member + FILTER_SIGN_BIAS);
	case FILTER_U32:
		return compare(n, *(const uint32_t *)member);
	case FILTER_U64:
		return compare(n, *(const uint64_t *)member);
	case FILTER_BOOL:
		return compare(n, *(const bool *)member);
	case FILTER_TEXT:
	case FILTER_ACCOUNT:
		return same_text(n, text_of(r, n));
	case FILTER_ARGUMENT:
		return equal(n, has_argument(n, r));
	case FILTER_SOURCE:
		return equal(n, *(const uint32_t *)member >> n->number & 1);
	case FILTER_PATH:
		return equal(n, ((const uint64_t *)member)[n->number / 64] >> (n->number % 64) & 1);
	case FILTER_PATTERN:
		b = text_of(r, n);
		return equal(n, filter_pattern_match(n->pattern, b.data, b.len, f->line));
	case FILTER_LINE:
		return equal(n, line_has(f, n, r));
	default:
		return UNKNOWN;
	}
}

static enum truth ask(const struct filter *f, uint32_t index, const struct exeunt_record *r)
{
	const struct filter_node *n = &f->nodes[index];
	enum truth result;

	switch (n->op) {
	case FILTER_AND:
		result = TRUE;
		for (uint32_t i = n->child; i != FILTER_NONE && result != FALSE;
		     i = f->nodes[i].next)
			result = MIN(result, ask(f, i, r));
		return result;
	case FILTER_OR:
		result = FALSE;
		for (uint32_t i = n->child; i != FILTER_NONE && result != TRUE;
		     i = f->nodes[i].next)
			result = MAX(result, ask(f, i, r));
		return result;
	case FILTER_NOT:
		return TRUE - ask(f, n->child, r);
	case FILTER_EXISTS:
		return truth(exeunt_has(r, n->field));
	default:
		return test(f, n, r);
	}
}

bool filter_match(const struct filter *f, const struct exeunt_record *r)
{
	switch (r->type) {
	case EXEUNT_TYPE_EXIT:
	case EXEUNT_TYPE_THREAD:
	case EXEUNT_TYPE_AMEND:
	case EXEUNT_TYPE_INTERIM:
		return ask(f, f->root, r) == TRUE;
	default:
		return true;
	}
}
