/* SPDX-License-Identifier: MIT */
/*
 * What audit does now, as far as the engine has to know: whether it tells of exits, so that records wait for it, and that it
 * stopped telling of them, which is a loss. Rules come and go, audit is switched on and off.
 */
#include "lib/engine.h"

#include "base/clock.h"
#include "base/util.h"
#include "source/audit.h"

/* So long after an exit that audit told of, others are waited for, if the kernel cannot be asked. */
#define AWAIT_AUDIT_NS (10 * NS_PER_SEC)

/* The ends of which audit would have told: they have records, but for what only audit knows. */
static void tell_loss(struct exeunt *x)
{
	struct engine_auditing *a = &x->auditing;
	uint64_t untold = join_untold(x->joiner);
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_AUDIT,
		.cause = EXEUNT_LOSS_NOT_RUNNING,
		.count = untold - MIN(untold, a->untold),
		.cpu = -1,
		.window_start_ns = a->since_ns,
		.window_end_ns = x->intake.real_ns,
	};

	a->blind = false;
	if (loss.count)
		ledger_lose(x->ledger, &loss);
}

static void judge_blindness(struct exeunt *x, const struct source *audit)
{
	struct engine_auditing *a = &x->auditing;
	bool blind = audit_is_blind(audit);

	if (blind && !a->blind) {
		a->untold = x->intake.audit_untold;
		a->since_ns = x->intake.audit_told_ns ? x->intake.audit_told_ns : x->started_ns;
		a->blind = true;
	} else if (!blind && a->blind) {
		tell_loss(x);
	}
}

void engine_judge_audit(struct exeunt *x, int64_t now_ns)
{
	struct source *audit = source_in_use(x, EXEUNT_SOURCE_AUDIT);
	struct engine_auditing *a = &x->auditing;
	bool told = x->intake.audit_exits != a->exits;

	if (!audit)
		return;
	if (told)
		a->awaited_until_ns = now_ns + AWAIT_AUDIT_NS;
	else if (now_ns >= a->awaited_until_ns)
		a->awaited_until_ns = 0;
	a->exits = x->intake.audit_exits;
	if (x->intake.audit_changes != a->changes)
		audit_note_change(audit);
	a->changes = x->intake.audit_changes;
	judge_blindness(x, audit);
	engine_update_sources(x);
}

void engine_end_audit(struct exeunt *x)
{
	if (x->auditing.blind)
		tell_loss(x);
}
