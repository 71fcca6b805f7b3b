/* SPDX-License-Identifier: MIT */
/* Owns nothing: see audit_apply.h. */
#include "decode/audit_apply.h"

#include "base/util.h"
#include "decode/audit_text.h"

static inline bool row_matches(const struct audit_row *row, const struct exeunt_bytes *name,
			       uint64_t key)
{
	return audit_load_le64(row->name) == key && row->len == name->len &&
	       (name->len <= 8 || !memcmp(row->name + 8, name->data + 8, name->len - 8));
}

static const struct audit_row *find_row(const struct audit_rows *table, size_t *hint,
					const struct exeunt_bytes *name, uint64_t key)
{
	const struct audit_row *row = &table->rows[*hint];

	if (likely(row_matches(row, name, key))) {
		*hint = *hint + 1 < table->n ? *hint + 1 : 0;
		return row;
	}
	for (size_t i = 0; i < table->n; i++) {
		if (row_matches(&table->rows[i], name, key)) {
			*hint = i + 1 < table->n ? i + 1 : 0;
			return &table->rows[i];
		}
	}
	return NULL;
}

/* Kernels before 3.13 wrote "old auid=1 new auid=2" where later ones write "old-auid=1 auid=2". */
static const struct audit_row *find_old(const struct audit_rows *table, size_t *hint,
					const struct audit_field *f)
{
	struct exeunt_bytes name = f->name;
	char buf[16] = "old-";

	if (f->before.len < 3 || memcmp(f->before.data + f->before.len - 3, "old", 3) != 0 ||
	    name.len > sizeof(buf) - 4)
		return find_row(table, hint, &f->name, f->key);
	memcpy(buf + 4, name.data, name.len);
	name = (struct exeunt_bytes){ .data = buf, .len = name.len + 4 };
	return find_row(table, hint, &name, audit_name_key(buf));
}

static int put_u32(void *dst, const struct exeunt_bytes *v)
{
	uint64_t n;
	uint32_t out;

	if (v->len == 2 && !memcmp(v->data, "-1", 2))
		n = UINT32_MAX;
	else if (audit_decode_u64(&n, v) < 0 || n > UINT32_MAX)
		return -EBADMSG;
	out = (uint32_t)n;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static int put_pid(void *dst, const struct exeunt_bytes *v)
{
	uint64_t n;
	int32_t out;

	if (audit_decode_u64(&n, v) < 0 || n > INT32_MAX)
		return -EBADMSG;
	out = (int32_t)n;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static int put_i64(void *dst, const struct exeunt_bytes *v)
{
	bool negative = v->len > 1 && *v->data == '-';
	const struct exeunt_bytes digits = { .data = v->data + negative, .len = v->len - negative };
	uint64_t n;
	int64_t out;

	if (audit_decode_u64(&n, &digits) < 0 || n > INT64_MAX)
		return -EBADMSG;
	out = negative ? -(int64_t)n : (int64_t)n;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static int put_hex(void *dst, const struct exeunt_bytes *v)
{
	uint32_t skip = v->len > 2 && !memcmp(v->data, "0x", 2) ? 2 : 0;
	const struct exeunt_bytes digits = { .data = v->data + skip, .len = v->len - skip };
	uint64_t out;

	if (audit_decode_hex(&out, &digits) < 0)
		return -EBADMSG;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static bool is_word(const struct exeunt_bytes *v, const char *word)
{
	return v->len == strlen(word) && !memcmp(v->data, word, v->len);
}

static int put_bool(void *dst, const struct exeunt_bytes *v)
{
	bool out = is_word(v, "yes") || is_word(v, "success") || is_word(v, "1");

	if (!out && !is_word(v, "no") && !is_word(v, "failed") && !is_word(v, "0"))
		return -EBADMSG;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static int put_word(void *dst, const struct audit_field *f)
{
	if (f->quote == AUDIT_UNTERMINATED ||
	    (f->quote == AUDIT_BARE && audit_is_no_value(f->value.data, f->value.len)))
		return -ENODATA;
	memcpy(dst, &f->value, sizeof(f->value));
	return 0;
}

static int put_string(void *dst, const struct audit_field *f, struct audit_pool *pool)
{
	struct exeunt_bytes out;
	int r = audit_decode_untrusted(&out, f, pool->at, (size_t)(pool->end - pool->at));

	if (r < 0)
		return r;
	if (out.data == pool->at)
		pool->at += out.len;
	memcpy(dst, &out, sizeof(out));
	return 0;
}

static int put_value(void *dst, const struct audit_row *row, const struct audit_field *f,
		     struct audit_pool *pool)
{
	switch ((enum audit_row_kind)row->kind) {
	case AUDIT_ROW_PID:
		return put_pid(dst, &f->value);
	case AUDIT_ROW_U32:
		return put_u32(dst, &f->value);
	case AUDIT_ROW_I64:
		return put_i64(dst, &f->value);
	case AUDIT_ROW_HEX:
		return put_hex(dst, &f->value);
	case AUDIT_ROW_BOOL:
		return put_bool(dst, &f->value);
	case AUDIT_ROW_WORD:
	case AUDIT_ROW_LABEL:
		return put_word(dst, f);
	case AUDIT_ROW_STRING:
		return put_string(dst, f, pool);
	case AUDIT_ROW_SKIP:
		break;
	}
	return -ENODATA;
}

/* A label may hold blanks: AppArmor's has its mode behind it in parentheses. */
static void extend_label(struct exeunt_bytes *label, struct exeunt_bytes words)
{
	if (words.len)
		label->len = (uint32_t)(words.data + words.len - label->data);
}

/* Where the value starts if the field that comes next is the one of `row`; NULL if not. */
static inline const char *expect_name(const struct audit_cursor *c, const struct audit_row *row)
{
	unsigned int shift = 8 * (unsigned int)row->len;
	const char *p = c->at;
	uint64_t want;

	if (shift > 56 || c->end - p < 9)
		return NULL;
	p += *p == ' ';
	want = audit_load_le64(row->name) | (uint64_t)'=' << shift;
	return (audit_load_le64(p) ^ want) << (56 - shift) ? NULL : p + row->len + 1;
}

static inline const char *scan_hex(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	for (; p < end && p - start < 16; p++) {
		char c = *p;

		if (audit_is_digit(c))
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			break;
	}
	*ret = v;
	return p;
}

static inline const char *scan_decimal(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;

	for (; p < end && p - start < 18 && audit_is_digit(*p); p++)
		v = v * 10 + (uint64_t)(*p - '0');
	*ret = v;
	return p;
}

/* True if it fits. */
static inline bool store_number(void *dst, unsigned int kind, uint64_t v)
{
	uint32_t narrow = (uint32_t)v;

	if (kind == AUDIT_ROW_HEX || kind == AUDIT_ROW_I64) {
		memcpy(dst, &v, sizeof(v));
		return true;
	}
	if (v > (kind == AUDIT_ROW_PID ? (uint64_t)INT32_MAX : (uint64_t)UINT32_MAX))
		return false;
	memcpy(dst, &narrow, sizeof(narrow));
	return true;
}

/*
 * The common case apart: the field that is due, with a plain number. Name and digits are taken by
 * branches that the processor foresees, so that it works on several fields at once; the general
 * walk must know where one field ends before it begins with the next. It takes a sixth off the time
 * of a SYSCALL record. Returns false, with nothing changed, for all else.
 */
static inline bool take_number(struct audit_cursor *c, const struct audit_row *row, void *dst)
{
	const char *start, *p;
	uint64_t v;

	if (row->kind > AUDIT_ROW_HEX)
		return false;
	start = expect_name(c, row);
	if (!start)
		return false;
	if (row->kind == AUDIT_ROW_HEX || row->kind == AUDIT_ROW_SKIP)
		p = scan_hex(start, c->end, &v);
	else
		p = scan_decimal(start, c->end, &v);
	if (p == start || (p < c->end && *p != ' '))
		return false;
	if (row->kind != AUDIT_ROW_SKIP && !store_number((char *)dst + row->offset, row->kind, v))
		return false;
	c->at = p;
	return true;
}

struct progress {
	uint64_t met, set;
	uint64_t tail; /* the bit of the last field, if a cut would harm it */
	struct exeunt_bytes *label;
	size_t hint;
};

static bool take_any(const struct audit_rows *table, struct progress *at, struct audit_cursor *c,
		     void *dst, struct audit_pool *pool)
{
	const struct audit_row *row;
	struct audit_field f;

	if (!audit_field_next(c, &f))
		return false;
	if (unlikely(f.before.len)) {
		row = find_old(table, &at->hint, &f);
		if (at->label)
			extend_label(at->label, f.before);
	} else {
		row = find_row(table, &at->hint, &f.name, f.key);
	}
	at->label = NULL;
	at->tail = 0;
	if (!row || at->met & row->bit)
		return true;
	at->met |= row->bit;
	if (put_value((char *)dst + row->offset, row, &f, pool) == 0) {
		at->set |= row->bit;
		at->tail = f.quote == AUDIT_BARE ? row->bit : 0;
		if (row->kind == AUDIT_ROW_LABEL)
			at->label = (struct exeunt_bytes *)((char *)dst + row->offset);
	}
	return true;
}

void audit_apply(const struct audit_rows *table, struct exeunt_bytes text, bool cut, void *dst,
		 uint64_t *has, struct audit_pool *pool, struct exeunt_bytes *glued)
{
	struct progress at = { 0 };
	struct audit_cursor cursor;

	audit_fields_begin(&cursor, text);
	for (;;) {
		const struct audit_row *row = &table->rows[at.hint];

		if (!(at.met & row->bit) && take_number(&cursor, row, dst)) {
			at.met |= row->bit;
			at.set |= row->bit;
			at.tail = row->bit;
			at.label = NULL;
			at.hint = at.hint + 1 < table->n ? at.hint + 1 : 0;
		} else if (!take_any(table, &at, &cursor, dst, pool)) {
			break;
		}
		if (table->enough && (at.met & table->enough) == table->enough) {
			if (cursor.at < cursor.end)
				at.tail = 0;
			break;
		}
	}
	if (at.label)
		extend_label(at.label, cursor.tail);
	if ((cut || (at.met & table->last) != table->last) && !cursor.glued.data)
		at.set &= ~at.tail;
	*has |= at.set;
	if (glued)
		*glued = cursor.glued;
}
