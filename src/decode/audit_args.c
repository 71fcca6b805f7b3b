/* SPDX-License-Identifier: MIT */
/*
 * Owns the tables within struct audit_args: see audit_args.h. The format is that of
 * audit_log_execve_info().
 */
#include "decode/audit_args.h"

#include "base/util.h"
#include "decode/audit_text.h"

/*
 * A record that is longer than this may be followed by another one (MAX_EXECVE_AUDIT_LEN is 7,500).
 */
#define RECORD_MAY_GO_ON 7000
/* The kernel cuts zeros off the end of a title, so 127 bytes may be 128. */
#define TITLE_FULL 127

struct audit_piece {
	uint32_t arg;
	uint32_t index; /* 0: the announced length; else the number of the piece, from 1 */
	uint32_t record;
	bool more; /* an index stood behind the name, or it is the length */
	struct audit_field field;
};

void audit_args_done(struct audit_args *args)
{
	free(args->v);
	free(args->pieces);
	*args = (struct audit_args){ 0 };
}

static int grow(void **table, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t n = *cap ? *cap : 64;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	p = realloc(*table, n * size);
	if (!p)
		return -ENOMEM;
	*table = p;
	*cap = n;
	return 0;
}

static int push_arg(struct audit_args *args, struct exeunt_bytes arg)
{
	if (args->n >= AUDIT_ARGS_MAX) {
		args->cut = true;
		return 0;
	}
	if (grow((void **)&args->v, &args->cap, args->n + 1, sizeof(*args->v)) < 0)
		return -ENOMEM;
	args->v[args->n++] = arg;
	return 0;
}

/* Appends what the value stands for to `arg`, which grows at the end of the pool. */
static int append_value(struct exeunt_bytes *arg, struct audit_field f, bool *cut,
			struct audit_pool *pool)
{
	size_t room = (size_t)(pool->end - pool->at);
	struct exeunt_bytes v;

	if (f.quote == AUDIT_UNTERMINATED) {
		*cut = true;
		f.quote = AUDIT_QUOTED;
	} else if (f.quote == AUDIT_BARE && f.value.len % 2) {
		*cut = true;
		f.value.len--;
	}
	if (audit_decode_untrusted(&v, &f, pool->at, room) < 0) {
		*cut |= f.value.len > 0;
		return 0;
	}
	if (v.data != pool->at) {
		if (v.len > room) {
			*cut = true;
			return 0;
		}
		memcpy(pool->at, v.data, v.len);
	}
	pool->at += v.len;
	arg->len += v.len;
	return (int)(f.quote == AUDIT_BARE ? f.value.len : v.len);
}

int audit_args_title(struct audit_args *args, struct exeunt_bytes raw, bool cut,
		     struct audit_pool *pool)
{
	struct exeunt_bytes title = { .data = pool->at };
	struct audit_cursor cursor;
	struct audit_field f;
	const char *p, *end;

	args->n = 0;
	args->cut = cut;
	audit_fields_begin(&cursor, raw);
	do {
		if (!audit_field_next(&cursor, &f))
			return 0;
	} while (f.name.len != 9 || memcmp(f.name.data, "proctitle", 9) != 0);
	append_value(&title, f, &args->cut, pool);
	if (title.len == 0)
		return 0;
	args->cut |= title.len >= TITLE_FULL;
	end = title.data + title.len;
	for (p = title.data; p < end;) {
		const char *stop = memchr(p, 0, (size_t)(end - p));

		if (push_arg(args, audit_slice(p, stop ? stop : end)) < 0)
			return -ENOMEM;
		p = stop ? stop + 1 : end;
	}
	return 1;
}

void audit_args_begin(struct audit_args *args)
{
	args->n = args->n_pieces = args->records = 0;
	args->argc = 0;
	args->bytes = 0;
	args->sorted = true;
	args->cut = args->has_argc = false;
}

/* "a0", "a0[3]" or "a0_len". Returns false for another name. */
static bool parse_name(struct audit_piece *piece, struct exeunt_bytes name)
{
	const char *p = name.data, *end = p + name.len;
	uint64_t arg, index;

	if (name.len < 2 || *p != 'a' || !(p = audit_parse_digits(p + 1, end, &arg)))
		return false;
	piece->more = p < end;
	piece->index = 1;
	piece->arg = (uint32_t)MIN(arg, (uint64_t)AUDIT_ARGS_MAX);
	if (p == end)
		return true;
	if (end - p == 4 && !memcmp(p, "_len", 4)) {
		piece->index = 0;
		return true;
	}
	if (*p != '[' || !(p = audit_parse_digits(p + 1, end, &index)) || p + 1 != end || *p != ']')
		return false;
	piece->index = (uint32_t)MIN(index, UINT64_C(0x7fffffff)) + 1;
	return true;
}

static int compare_pieces(const void *left, const void *right)
{
	const struct audit_piece *a = left, *b = right;

	if (a->arg != b->arg)
		return a->arg < b->arg ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int push_piece(struct audit_args *args, const struct audit_piece *piece)
{
	if (piece->arg >= AUDIT_ARGS_MAX) {
		args->cut = true;
		return 0;
	}
	if (grow((void **)&args->pieces, &args->cap_pieces, args->n_pieces + 1,
		 sizeof(*args->pieces)) < 0)
		return -ENOMEM;
	if (args->n_pieces && compare_pieces(&args->pieces[args->n_pieces - 1], piece) > 0)
		args->sorted = false;
	args->pieces[args->n_pieces++] = *piece;
	return 0;
}

int audit_args_add(struct audit_args *args, struct exeunt_bytes raw, bool cut)
{
	struct audit_cursor cursor;
	struct audit_field f;

	args->cut |= cut;
	args->records++;
	args->bytes += raw.len;
	audit_fields_begin(&cursor, raw);
	while (audit_field_next(&cursor, &f)) {
		struct audit_piece piece = { .record = args->records, .field = f };
		uint64_t argc;

		if (f.name.len == 4 && !memcmp(f.name.data, "argc", 4)) {
			args->has_argc = audit_decode_u64(&argc, &f.value) == 0;
			args->argc = args->has_argc ? (uint32_t)MIN(argc, UINT64_C(0xffffffff)) : 0;
		} else if (parse_name(&piece, f.name) && push_piece(args, &piece) < 0) {
			return -ENOMEM;
		}
	}
	return 0;
}

/*
 * Older kernels leave an empty argument out (audit-kernel issue 99). A gap within a record is that;
 * one where a record ends may as well be a record that was lost.
 */
static int fill_gap(struct audit_args *args, uint32_t until, bool certain)
{
	if (args->n < until && !certain)
		args->cut = true;
	while (args->n < until && args->n < AUDIT_ARGS_MAX) {
		if (push_arg(args, (struct exeunt_bytes){ .data = "" }) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* All pieces of one argument, which start at `i`. Returns where those of the next one start. */
static int join_pieces(struct audit_args *args, uint32_t i, struct audit_pool *pool)
{
	const struct audit_piece *first = &args->pieces[i];
	struct exeunt_bytes arg = { .data = pool->at };
	uint64_t announced = 0, seen = 0;
	uint32_t next = 1;

	for (; i < args->n_pieces && args->pieces[i].arg == first->arg; i++) {
		const struct audit_piece *piece = &args->pieces[i];

		if (piece->index == 0) {
			args->cut |= audit_decode_u64(&announced, &piece->field.value) < 0;
			continue;
		}
		if (piece->index < next)
			continue;
		args->cut |= piece->index > next;
		next = piece->index + 1;
		seen += (uint64_t)append_value(&arg, piece->field, &args->cut, pool);
	}
	/*
	 * The length is that of the text or that of the bytes, by kernel; the text is the longer
	 * one.
	 */
	args->cut |= seen < announced;
	if (push_arg(args, arg) < 0)
		return -ENOMEM;
	return (int)i;
}

int audit_args_finish(struct audit_args *args, struct audit_pool *pool)
{
	bool may_go_on = args->records > 1 || args->bytes > RECORD_MAY_GO_ON;
	uint32_t record = 1;

	if (!args->sorted)
		qsort(args->pieces, args->n_pieces, sizeof(*args->pieces), compare_pieces);
	for (uint32_t i = 0; i < args->n_pieces;) {
		const struct audit_piece *piece = &args->pieces[i];
		int next;

		if (fill_gap(args, piece->arg, piece->record == record) < 0)
			return -ENOMEM;
		next = join_pieces(args, i, pool);
		if (next < 0)
			return next;
		i = (uint32_t)next;
		record = args->pieces[i - 1].record;
	}
	if (!args->has_argc || args->argc > AUDIT_ARGS_MAX)
		args->cut = true;
	else if (fill_gap(args, args->argc, !may_go_on) < 0)
		return -ENOMEM;
	return args->n > 0;
}
