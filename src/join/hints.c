/* SPDX-License-Identifier: MIT */
/*
 * Audit records of threads that ended by exit(2). Most are of a process that lives on; but who has only one thread, or ends
 * them one by one, ends so too, and audit says nothing else of it. So the latest of each process is kept for a while: if the
 * end is told by another source, it was the end where there was one thread, and tells who it was in any case. See joiner.h.
 */
#include "join/joiner.h"

#include "record/fields.h"

/* As long as what stands alone waits for the leading source. */
#define HINT_NS (2 * NS_PER_SEC)

static struct process *find_hint(const struct joiner *j, int32_t tgid)
{
	for (struct process *p = table_first(j->table, tgid); p; p = table_following(p))
		if (p->state == PROCESS_HINT)
			return p;
	return NULL;
}

void joiner_add_hint(struct joiner *j, struct process *told, const struct frame *f)
{
	struct process *p = find_hint(j, told->record.pid);

	if (p)
		table_remove(j->table, p);
	p = joiner_add(j, told->record.pid, f);
	if (!p)
		return;
	p->record = told->record;
	p->text = TAKE(told->text);
	p->args_are_title = told->args_are_title;
	p->audit_ns = told->audit_ns;
	p->audit_who = told->audit_who;
	table_move(j->table, p, PROCESS_HINT);
}

void joiner_take_hint(struct joiner *j, struct process *p)
{
	struct process *hint;

	if (p->sources & BIT_AUDIT)
		return;
	hint = find_hint(j, p->tgid);
	if (!hint || !joiner_audit_fits(p, hint))
		return;
	joiner_take_told(p, hint, p->single);
	table_remove(j->table, hint);
}

void joiner_forget_hints(struct joiner *j, int64_t now_ns)
{
	struct process *p;

	while ((p = table_oldest(j->table, PROCESS_HINT)) && p->touched_ns + HINT_NS < now_ns)
		table_remove(j->table, p);
}
