/* SPDX-License-Identifier: MIT */
/*
 * An execution that audit tells of when the process is out already: while audit falls behind faster than it is waited for. It
 * amends what was not read in time; what was is not touched. Of two executions soon after one another nobody would know which
 * is meant, and those are left as they are. See join.h.
 */
#include "join/joiner.h"

#include "record/fields.h"
#include "record/fill.h"

static struct process *find(const struct joiner *j, int32_t tgid)
{
	for (struct process *p = table_first(j->table, tgid); p; p = table_following(p))
		if (p->state == PROCESS_CLOSED && p->lacks_program)
			return p;
	return NULL;
}

bool join_awaits_exec(const struct joiner *j, int32_t tgid)
{
	return find(j, tgid) != NULL;
}

static bool is_own(const struct exeunt_record *r, enum exeunt_field field)
{
	return exeunt_has(r, field) && !(r->inherited[field / 64] >> (field % 64) & 1);
}

void join_exec(struct joiner *j, const struct audit_event *e, const struct frame *f)
{
	static const enum exeunt_field program[] = { EXEUNT_F_EXE_PATH, EXEUNT_F_ARGS, EXEUNT_F_CWD,
						     EXEUNT_F_LOGIN_UID, EXEUNT_F_SESSION };
	struct process *p = find(j, e->pid), told;

	if (!p)
		return;
	joiner_to_entry(e, &told);
	field_clear(&told.record, EXEUNT_F_UID); /* it may have become another since */
	if (p->text || !told.text || !joiner_audit_fits(p, &told)) {
		free(told.text);
		return;
	}
	p->text = TAKE(told.text);
	p->lacks_program = false;
	for (size_t i = 0; i < ARRAY_SIZE(program); i++) {
		enum exeunt_field field = program[i];

		if (!exeunt_has(&told.record, field) || is_own(&p->record, field))
			continue;
		record_copy_field(&p->record, &told.record, field);
		p->record.inherited[field / 64] &= ~(UINT64_C(1) << (field % 64));
	}
	joiner_update(j, p, f->mono_ns);
}
