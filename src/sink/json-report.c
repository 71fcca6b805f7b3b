/* SPDX-License-Identifier: MIT */
/* See json-report.h. Not hot: a line for each group, not for each exit. */
#include "sink/json-report.h"

#include "sink/json-internal.h"
#include "sink/output.h"

/* More than everything but the values of variable length takes. */
#define ROW_ROOM 4096

/* A line being written, and the path of the key that was written last. */
struct row {
	struct json *json;
	const struct tally_sums *sums;
	char *p;
	const char *path;
};

static void key(struct row *w, const char *path)
{
	w->p = json_key(w->p, w->path, path);
	w->path = path;
}

static void number(struct row *w, const char *path, uint64_t value)
{
	key(w, path);
	w->p = json_u64(w->p, path, value);
}

static void time_of(struct row *w, const char *path, int64_t ns)
{
	key(w, path);
	*w->p++ = '"';
	w->p = fmt_time(w->p, ns, &w->json->times[TIME_RECORD]);
	*w->p++ = '"';
}

static void rare(struct row *w, unsigned int field, const struct exeunt_record *r)
{
	const struct field_info *f = &field_table[field];
	const struct step step = { .offset = f->offset,
				   .kind = (uint8_t)f->kind,
				   .field = (uint8_t)field };
	bool quoted =
		f->kind == FIELD_SIGNAL_NAME || f->kind == FIELD_CAUSE || f->kind == FIELD_ENTITY;

	if (quoted)
		*w->p++ = '"';
	if (f->kind == FIELD_ENTITY) {
		w->p = fmt_mem(w->p, w->json->boot_hex, ENTITY_BOOT_LEN);
		*w->p++ = '-';
	}
	w->p = json_rare(w->json, &step, r, w->p);
	if (quoted)
		*w->p++ = '"';
}

static void group_field(struct row *w, unsigned int field, const struct exeunt_record *r)
{
	const struct field_info *f = &field_table[field];
	const void *v = field_ptr(r, field);
	const struct exeunt_bytes *b = v;

	switch (f->kind) {
	case FIELD_I32:
		key(w, f->path);
		w->p = fmt_i64(w->p, *(const int32_t *)v);
		return;
	case FIELD_U32:
		number(w, f->path, *(const uint32_t *)v);
		return;
	case FIELD_U64:
		number(w, f->path, *(const uint64_t *)v);
		return;
	case FIELD_TIME:
		time_of(w, f->path, *(const int64_t *)v);
		return;
	default:
		break;
	}
	key(w, f->path);
	if (f->kind == FIELD_BOOL)
		w->p = fmt_str(w->p, *(const bool *)v ? "true" : "false");
	else if (f->kind == FIELD_BYTES)
		w->p = json_quoted(w->p, f->path, b->data, b->len);
	else if (f->kind == FIELD_COMM)
		w->p = json_quoted(w->p, f->path, v, strnlen(v, sizeof(r->comm)));
	else
		rare(w, field, r);
}

static void counts(struct row *w)
{
	const struct tally_sums *s = w->sums;

	number(w, "exits", s->exits);
	if (s->unknown_status == s->exits)
		return;
	number(w, "failed", s->failed);
	number(w, "killed", s->killed);
	number(w, "core_dumped", s->core_dumped);
	number(w, "uncertain", s->uncertain);
}

static uint64_t known(const struct tally_sums *s, int value)
{
	return s->exits - s->unknown[value];
}

static void value(struct row *w, int i)
{
	const struct tally_sums *s = w->sums;
	const char *path = field_table[tally_fields[i]].path;

	if (!known(s, i))
		return;
	if (i == TALLY_ELAPSED) {
		number(w, "usage.elapsed_us.sum", s->value[i]);
		number(w, "usage.elapsed_us.mean", s->value[i] / known(s, i));
		number(w, "usage.elapsed_us.max", s->elapsed_max_us);
	} else if (i == TALLY_RSS_PEAK) {
		number(w, "usage.memory.rss_peak_bytes.max", s->value[i]);
	} else {
		number(w, path, s->value[i]);
	}
}

/* In the order of the field table, so that each object is opened once. */
static void fields(struct row *w, const struct exeunt_record *r)
{
	int next = 0;

	for (unsigned int field = 0; field < EXEUNT_F_COUNT; field++) {
		if (field == EXEUNT_F_ELAPSED)
			counts(w);
		if (next < TALLY_VALUES && field == tally_fields[next])
			value(w, next++);
		else if (exeunt_has(r, field))
			group_field(w, field, r);
	}
}

static void list(struct row *w, const char *path, bool *first)
{
	if (*first)
		key(w, "incomplete");
	*w->p++ = *first ? '[' : ',';
	*first = false;
	*w->p++ = '"';
	w->p = fmt_str(w->p, path);
	*w->p++ = '"';
}

static void incomplete(struct row *w)
{
	const struct tally_sums *s = w->sums;
	bool first = true;

	if (s->unknown_status && s->unknown_status < s->exits)
		list(w, field_table[EXEUNT_F_EXIT_STATUS].path, &first);
	for (int i = 0; i < TALLY_VALUES; i++)
		if (s->unknown[i] && known(s, i))
			list(w, field_table[tally_fields[i]].path, &first);
	if (!first)
		*w->p++ = ']';
}

/* The clock ends in 2262, and so does its last interval. */
static int64_t interval_end(int64_t start_ns, int64_t interval_ns)
{
	return start_ns > INT64_MAX - interval_ns ? INT64_MAX : start_ns + interval_ns;
}

static void line(struct row *w, const struct tally_row *row, const struct exeunt_record *r,
		 int64_t interval_ns)
{
	w->p = FMT_LIT(w->p, "{\"schema\":\"" EXEUNT_SCHEMA "\",\"type\":\"report\"");
	if (row->has_interval) {
		time_of(w, "interval.start", row->interval_start_ns);
		time_of(w, "interval.end", interval_end(row->interval_start_ns, interval_ns));
	}
	if (!row->group) {
		key(w, "others");
		w->p = FMT_LIT(w->p, "true");
		if (row->groups)
			number(w, "groups", row->groups);
	}
	fields(w, r);
	if (row->sums->timed) {
		time_of(w, "first_exit", row->sums->first_ns);
		time_of(w, "last_exit", row->sums->last_ns);
	}
	incomplete(w);
	w->p = json_close(w->p, w->path);
	w->p = FMT_LIT(w->p, "}\n");
}

static size_t room_for(const struct exeunt_record *r)
{
	size_t room = ROW_ROOM;

	for (unsigned int field = 0; field < EXEUNT_F_COUNT; field++) {
		const struct exeunt_bytes *b = field_ptr(r, field);

		if (!exeunt_has(r, field))
			continue;
		room += 256;
		if (field_table[field].kind == FIELD_BYTES)
			room += JSON_STRING_MAX(b->len);
		if (field_table[field].kind == FIELD_PATHS)
			room += (size_t)EXEUNT_F_COUNT * JSON_PATH_ROOM;
		for (uint32_t i = 0; field == EXEUNT_F_ARGS && i < r->n_args; i++)
			room += JSON_STRING_MAX(r->args[i].len);
	}
	return room;
}

ssize_t json_report_format(struct json *j, struct tally *t, const struct tally_row *row,
			   const char **ret)
{
	struct row w = { .json = j, .sums = row->sums, .path = "" };
	struct exeunt_record r = { 0 };
	size_t room;

	if (row->group)
		tally_group_record(t, row->group, &r);
	room = room_for(&r);
	if (room > j->scratch_size) {
		char *scratch = realloc(j->scratch, room);

		if (!scratch)
			return -ENOMEM;
		j->scratch = scratch;
		j->scratch_size = room;
	}
	w.p = j->scratch;
	line(&w, row, &r, tally_interval(t));
	*ret = j->scratch;
	return w.p - j->scratch;
}

int json_report_row(struct json *j, struct tally *t, const struct tally_row *row, struct output *o)
{
	const char *text;
	ssize_t len = json_report_format(j, t, row, &text);
	char *p;

	if (len < 0)
		return (int)len;
	p = output_reserve(o, (size_t)len);
	if (!p)
		return 1;
	memcpy(p, text, (size_t)len);
	output_commit(o, (size_t)len);
	return 0;
}
