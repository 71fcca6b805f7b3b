/* SPDX-License-Identifier: MIT */
/* The latest exits, those of one group, one exit with all its fields, and the help. See top-screen.h. */
#include "view/top-screen.h"

#include "record/fields.h"
#include "record/filter.h"

/* As `exeunt live` shows it; NULL stands for the titles. Without its newline. */
static void put_exit(struct top_screen *s, const struct exeunt_record *r, enum top_style style)
{
	struct top_line *l = top_screen_line(s, style);
	const char *text;
	ssize_t len = text_format(s->text, r, &text);

	if (len <= 0 || text_buffer_room(&l->text, (size_t)len) < 0)
		return;
	len -= text[len - 1] == '\n';
	memcpy(l->text.data, text, (size_t)len);
	l->text.len = (size_t)len;
	l->columns = s->width;
}

static enum top_style style_of(const struct exeunt_record *r)
{
	if (!exeunt_has(r, EXEUNT_F_EXIT_CAUSE))
		return TOP_STYLE_PLAIN;
	if (r->exit_cause != EXEUNT_CAUSE_EXITED)
		return TOP_STYLE_BAD;
	return r->exit_code ? TOP_STYLE_FAILED : TOP_STYLE_PLAIN;
}

void top_draw_latest(struct top_screen *s, struct top_model *m, const struct filter *filter,
		     int rows)
{
	const struct top_exit *e = top_model_latest(m), *shown[TOP_EXITS_OF_GROUP];
	int n = 0, most = MIN(rows, TOP_EXITS_OF_GROUP);

	put_exit(s, NULL, TOP_STYLE_TITLE);
	for (; e && n < most; e = e->older)
		if (!filter || filter_match(filter, &e->record))
			shown[n++] = e;
	for (int i = n; i < rows; i++)
		top_screen_line(s, TOP_STYLE_PLAIN);
	while (n--)
		put_exit(s, &shown[n]->record, style_of(&shown[n]->record));
}

static bool is_of_group(const struct top_view *v, const struct exeunt_record *r,
			struct top_key *scratch)
{
	struct exeunt_bytes part;
	bool known;

	top_key_make(scratch, r);
	part = top_key_part(scratch->data, scratch->len, v->by, &known);
	return known == v->part_known && part.len == v->part_len &&
	       (!part.len || !memcmp(part.data, v->part, part.len));
}

static void collect(struct top_screen *s, const struct top_view *v, struct top_model *m,
		    const struct filter *filter)
{
	static struct top_key scratch;

	s->n_exits = 0;
	if (!s->exits)
		s->exits = calloc(TOP_EXITS_MOST, sizeof(struct top_exit *));
	if (!s->ids)
		s->ids = calloc(TOP_EXITS_MOST, sizeof(*s->ids));
	if (!s->exits || !s->ids)
		return;
	for (const struct top_exit *e = top_model_latest(m); e && s->n_exits < TOP_EXITS_MOST;
	     e = e->older) {
		if ((filter && !filter_match(filter, &e->record)) ||
		    !is_of_group(v, &e->record, &scratch))
			continue;
		s->ids[s->n_exits] = e->id;
		s->exits[s->n_exits++] = e;
	}
}

/* The cursor is always among what is seen. */
static size_t scroll(struct top_view *v, size_t n, size_t rows)
{
	v->inner_n = n;
	v->page_rows = rows;
	v->inner_cursor = MIN(v->inner_cursor, n ? n - 1 : 0);
	if (v->inner_cursor < v->inner_scroll)
		v->inner_scroll = v->inner_cursor;
	if (v->inner_cursor >= v->inner_scroll + rows)
		v->inner_scroll = v->inner_cursor - rows + 1;
	return v->inner_scroll;
}

static void put_group_name(struct top_screen *s, const struct top_view *v, struct top_line *l)
{
	static struct top_key key;
	struct exeunt_record r;
	enum exeunt_field f;
	int used;

	top_key_make(&key, &s->exits[0]->record);
	top_key_record(key.data, key.len, &r);
	f = top_key_field(&r, v->by);
	if (f == EXEUNT_F_COUNT || l->columns >= s->width)
		return;
	used = text_field(&l->text, &r, f, s->width - l->columns, false);
	l->columns += MAX(used, 0);
}

void top_draw_group(struct top_screen *s, struct top_view *v, struct top_model *m,
		    const struct filter *filter, int rows)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_STRONG);
	size_t body = (size_t)MAX(rows - 2, 1), at;

	collect(s, v, m, filter);
	top_put(s, l, TOP_STYLE_STRONG, "the latest %zu exits, the newest first, of %s ",
		s->n_exits, top_by_word(v->by));
	if (s->n_exits)
		put_group_name(s, v, l);
	put_exit(s, NULL, TOP_STYLE_TITLE);
	at = scroll(v, s->n_exits, body);
	for (size_t i = at; i < s->n_exits && i < at + body; i++)
		put_exit(s, &s->exits[i]->record,
			 i == v->inner_cursor ? TOP_STYLE_CURSOR : style_of(&s->exits[i]->record));
}

void top_draw_exit(struct top_screen *s, struct top_view *v, struct top_model *m, int rows,
		   bool utc)
{
	const struct top_exit *e = top_model_latest(m);
	struct top_line *l = top_screen_line(s, TOP_STYLE_TITLE);
	size_t body = (size_t)MAX(rows - 1, 1), n = 0, at;
	uint8_t shown[EXEUNT_F_COUNT];

	while (e && e->id != v->exit_id)
		e = e->older;
	if (!e) {
		top_put(s, l, TOP_STYLE_TITLE, "this exit is no longer kept");
		return;
	}
	top_put(s, l, TOP_STYLE_TITLE, "all that is known of one exit");
	for (unsigned int f = 0; f < EXEUNT_F_COUNT; f++)
		if (exeunt_has(&e->record, f))
			shown[n++] = (uint8_t)f;
	at = scroll(v, n, body);
	for (size_t i = at; i < n && i < at + body; i++) {
		int used;

		l = top_screen_line(s, i == v->inner_cursor ? TOP_STYLE_CURSOR : TOP_STYLE_PLAIN);
		top_put(s, l, l->style, "%-32s ", field_table[shown[i]].path);
		used = text_field(&l->text, &e->record, shown[i], MAX(s->width - l->columns, 0),
				  utc);
		l->columns += MAX(used, 0);
	}
}

void top_draw_help(struct top_screen *s, struct top_view *v, int rows)
{
	static const char *const help[] = {
		"  1 2 3 4     group by command, executable, user, login user,",
		"  5 6 7 8     parent, unit or cgroup, container, exit status; g G: next, before",
		"  < >         sort by the column on the left, on the right; R: the least first",
		"  P M E F K   sort by CPU, RSS, exits, failed, killed; T: longest life; N: name",
		"  w           window: last 10 s, min, 5 min (older ones fade), since the start",
		"  / or f      a filter as --filter takes it; a word is looked for in commands",
		"  Enter       the latest exits of a group; then all fields of one; Esc: back",
		"  up down     move; also PgUp, PgDn, Home, End",
		"  space       freeze, and go on",
		"  l           the latest exits below the table, on and off",
		"  d           seconds from one screen to the next",
		"  0           count from now on",
		"  W           remember these choices for the next time",
		"  ^L q        draw the screen again; quit",
		"",
		"  >5: at least 5, some did not tell. -: nobody told. *: sorted by this.",
		"  CPU%: of the CPU of all in the table. MEAN, LONGEST: how long they lived.",
	};
	struct top_line *l = top_screen_line(s, TOP_STYLE_TITLE);
	size_t body = (size_t)MAX(rows - 1, 1), at = scroll(v, ARRAY_SIZE(help), body);

	top_put(s, l, TOP_STYLE_TITLE, "keys; any key leads back");
	for (size_t i = at; i < ARRAY_SIZE(help) && i < at + body; i++)
		top_put(s, top_screen_line(s, TOP_STYLE_PLAIN), TOP_STYLE_PLAIN, "%s", help[i]);
}
