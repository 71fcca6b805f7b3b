/* SPDX-License-Identifier: MIT */
/*
 * What audit tells of an EXEC, in the context table; see context.h. Its records and the events of
 * the same EXEC come in either order, and some processes call exec twice within the grain of
 * audit's clock, so the k-th that was told is the k-th event.
 */
#include "join/context-internal.h"

/*
 * The entry of the process that called exec, made where there is none. NULL: too late, or no
 * memory.
 */
static struct context_entry *find_told(struct context *c, const struct context_told *t)
{
	struct context_entry *e = context_find(c, t->tgid, t->mono_ns + TOLD_EARLY_NS);

	if (e && e->flags & (CONTEXT_ENDED | CONTEXT_RELEASED) && t->mono_ns > e->end_ns)
		e = NULL; /* the next owner of the pid */
	else if (e && e->flags & CONTEXT_RELEASED)
		return NULL;
	if (!e)
		e = context_add(c, t->tgid, NULL);
	return e;
}

enum turn { TURN_PAST, TURN_NOW, TURN_NEXT };

/*
 * Whether it is of a program before the one that the last event brought, of that one, or of one
 * behind it.
 */
static enum turn count_told(struct context_entry *e, int64_t mono_ns)
{
	enum turn turn = e->told + 1 < e->execs	   ? TURN_PAST
			 : e->told + 1 == e->execs ? TURN_NOW
						   : TURN_NEXT;

	if (mono_ns >= e->exec_ns)
		turn = TURN_NEXT;
	else if (!e->execs || e->exec_ns - mono_ns > EXEC_APART_NS)
		return TURN_PAST;
	if (turn == TURN_NEXT) {
		e->told = MAX(e->told, e->execs);
		e->exec_ns = MAX(e->exec_ns, mono_ns);
	}
	e->told = (uint8_t)MIN(e->told + 1, UINT8_MAX);
	return turn;
}

static bool is_own(const struct context_entry *e, uint16_t field)
{
	return e->known & ~e->inherited & field;
}

static void take_text(struct context *c, struct context_entry *e, struct pool_item **at,
		      uint16_t field, const struct exeunt_bytes *text)
{
	if (is_own(e, field))
		return;
	if (text && text->len)
		context_set_text(c, e, at, field, text->data, text->len);
	else
		e->inherited |= field;
}

/*
 * Where some are missing, nobody knows which; what is there is told with a mark, but for patterns,
 * which half an argument could escape.
 */
static void take_args(struct context *c, struct context_entry *e, const struct context_told *t)
{
	struct args_list list;
	size_t len;

	if (!c->args || is_own(e, CONTEXT_ARGS))
		return;
	if (t->args && !(t->args_cut && args_redacts(c->args))) {
		len = args_put(c->args, t->args, t->n_args);
		if (args_take(c->args, len, t->args_cut ? ARGS_OPEN_END : 0, &list) > 0)
			context_set_args(c, e, &list);
	}
	if (!t->args || t->args_cut)
		e->inherited |= CONTEXT_ARGS;
}

void context_told_exec(struct context *c, const struct context_told *t)
{
	struct context_entry *e = find_told(c, t);
	enum turn turn;

	if (!e)
		return;
	context_touch(c, e, t->mono_ns);
	turn = count_told(e, t->mono_ns);
	if (turn == TURN_PAST)
		return;
	e->flags |= CONTEXT_EXECED;
	if (turn == TURN_NEXT)
		context_forget_program(c, e);
	take_text(c, e, &e->exe, CONTEXT_EXE, t->exe);
	take_text(c, e, &e->cwd, CONTEXT_CWD, t->cwd);
	take_args(c, e, t);
	if (t->has_login && !is_own(e, CONTEXT_LOGIN)) {
		e->login_uid = t->login_uid;
		e->session = t->session;
		e->known |= CONTEXT_LOGIN;
		e->inherited &= (uint16_t)~CONTEXT_LOGIN;
	}
	context_shrink(c, e);
}

uint32_t context_clean_args(struct context *c, const struct exeunt_bytes *args, uint32_t n,
			    bool open_end, const struct exeunt_bytes **ret)
{
	struct args_list list;
	size_t len;
	int got;

	if (!c->args)
		return 0;
	len = args_put(c->args, args, n);
	got = args_take(c->args, len, open_end ? ARGS_OPEN_END : 0, &list);
	*ret = list.parts;
	return (uint32_t)MAX(got, 0);
}
