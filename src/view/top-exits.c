/* SPDX-License-Identifier: MIT */
/* See top-exits.h. */
#include "view/top-exits.h"

#include "record/fields.h"

static const uint8_t texts[] = {
	EXEUNT_F_EXE_PATH, EXEUNT_F_USER,	EXEUNT_F_GROUP,	    EXEUNT_F_TTY,
	EXEUNT_F_CWD,	   EXEUNT_F_CGROUP,	EXEUNT_F_UNIT,	    EXEUNT_F_CONTAINER_ID,
	EXEUNT_F_SUBJECT,  EXEUNT_F_LOGIN_USER, EXEUNT_F_AUDIT_KEY,
};

void top_exits_clear(struct top_exits *x)
{
	while (x->oldest) {
		struct top_exit *e = x->oldest;

		x->oldest = e->newer;
		free(e->text);
		free(e->args);
		free(e);
	}
	*x = (struct top_exits){ .most = x->most, .next_id = x->next_id };
}

static size_t text_size(const struct exeunt_record *r)
{
	size_t size = 0;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (exeunt_has(r, texts[i]))
			size += ((const struct exeunt_bytes *)field_ptr(r, texts[i]))->len;
	for (uint32_t i = 0; exeunt_has(r, EXEUNT_F_ARGS) && i < r->n_args; i++)
		size += r->args[i].len;
	return MIN(size, (size_t)TOP_EXIT_TEXT_MOST);
}

/* Without memory for its text it has none. */
static bool make_room(struct top_exit *e, size_t text, size_t args)
{
	if (text > e->text_size) {
		char *p = realloc(e->text, text);

		if (!p)
			return false;
		e->text = p;
		e->text_size = text;
	}
	if (args > e->args_size) {
		struct exeunt_bytes *p = reallocarray(e->args, args, sizeof(*p));

		if (!p)
			return false;
		e->args = p;
		e->args_size = args;
	}
	return true;
}

static void copy_text(struct exeunt_bytes *b, struct top_exit *e, size_t *used, size_t most)
{
	size_t len = MIN((size_t)b->len, most - *used);

	if (len)
		memcpy(e->text + *used, b->data, len);
	*b = (struct exeunt_bytes){ e->text + *used, (uint32_t)len };
	*used += len;
}

#define ARGS_MOST 256u

static void copy(struct top_exit *e, const struct exeunt_record *r)
{
	size_t most = text_size(r), used = 0;
	uint32_t n = exeunt_has(r, EXEUNT_F_ARGS) ? MIN(r->n_args, ARGS_MOST) : 0;
	bool room = make_room(e, most, n);

	e->record = *r;
	e->record.loss = NULL;
	e->record.status = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct exeunt_bytes *b =
			(void *)((char *)&e->record + field_table[texts[i]].offset);

		if (!room)
			field_clear(&e->record, texts[i]);
		else if (exeunt_has(r, texts[i]))
			copy_text(b, e, &used, most);
	}
	e->record.args = e->args;
	e->record.n_args = room ? n : 0;
	for (uint32_t i = 0; i < e->record.n_args; i++) {
		e->args[i] = r->args[i];
		copy_text(&e->args[i], e, &used, most);
	}
}

static void leave_group(struct top_exit *e)
{
	struct top_group *g = e->group;

	if (!g)
		return;
	*(e->before ? &e->before->after : &g->first) = e->after;
	*(e->after ? &e->after->before : &g->last) = e->before;
	e->before = e->after = NULL;
	e->group = NULL;
	g->n_kept--;
}

static void leave_all(struct top_exits *x, struct top_exit *e)
{
	*(e->older ? &e->older->newer : &x->oldest) = e->newer;
	*(e->newer ? &e->newer->older : &x->newest) = e->older;
	e->older = e->newer = NULL;
}

static struct top_exit *take_place(struct top_exits *x, struct top_group *g)
{
	struct top_exit *e = NULL;

	if (g->n_kept >= TOP_EXITS_OF_GROUP)
		e = g->first;
	else if (x->n >= x->most)
		e = x->oldest;
	if (!e) {
		e = calloc(1, sizeof(*e));
		x->n += e != NULL;
		return e;
	}
	leave_group(e);
	leave_all(x, e);
	return e;
}

struct top_exit *top_exits_keep(struct top_exits *x, struct top_group *g,
				const struct exeunt_record *r)
{
	struct top_exit *e = take_place(x, g);

	if (!e)
		return NULL;
	copy(e, r);
	e->id = ++x->next_id;
	e->older = x->newest;
	*(x->newest ? &x->newest->newer : &x->oldest) = e;
	x->newest = e;
	e->group = g;
	e->before = g->last;
	*(g->last ? &g->last->after : &g->first) = e;
	g->last = e;
	g->n_kept++;
	return e;
}

void top_exits_amend(struct top_exit *e, const struct exeunt_record *r)
{
	uint16_t type = e->record.type;

	copy(e, r);
	e->record.type = type;
}

void top_exits_forget_group(struct top_group *g)
{
	while (g->first)
		leave_group(g->first);
}
