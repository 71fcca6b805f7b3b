/* SPDX-License-Identifier: MIT */
/*
 * What the kernel says of audit itself, while records are read: asked through the keeper, when records came since the
 * last time. A question is not free: the kernel answers each by a thread of its own, whose end every collector sees.
 * Where no record comes, nothing can have been lost, and a change of the rules or the owner is a record too.
 */
#include "source/audit.h"
#include "source/audit_internal.h"

#include <stdarg.h>

#include "base/clock.h"

#define OPEN_MS 500
#define FINISH_MS 500
#define ANSWER_MS 2000
#define ASK_NS (10 * NS_PER_SEC)
#define ASK_CHANGED_NS NS_PER_SEC
#define STUCK_NS (5 * NS_PER_SEC)

static const char stuck_text[] =
	"audit does not answer: its queue is full, and who asks has to wait; "
	"what it loses is told when it answers";

void watch_say(struct audit_source *s, int level, const char *format, ...)
{
	unsigned int i = (s->first_message + s->n_messages) % AUDIT_MESSAGES_MOST;
	va_list ap;

	if (s->n_messages == AUDIT_MESSAGES_MOST) /* the oldest says the least of how it is now */
		s->first_message = (s->first_message + 1) % AUDIT_MESSAGES_MOST;
	else
		s->n_messages++;
	s->levels[i] = level;
	va_start(ap, format);
	vsnprintf(s->messages[i], sizeof(s->messages[i]), format, ap);
	va_end(ap);
}

const char *watch_message(struct audit_source *s, int *level)
{
	const char *text = s->messages[s->first_message];

	if (!s->n_messages)
		return NULL;
	*level = s->levels[s->first_message];
	s->first_message = (s->first_message + 1) % AUDIT_MESSAGES_MOST;
	s->n_messages--;
	return text;
}

/* The gravest finding becomes the reason; the source works all the same. */
static void tell_status(struct audit_source *s)
{
	const struct audit_finding *worst;

	audit_report_judge(&s->report, s->mode == AUDIT_MODE_UNICAST ? (uint32_t)getpid() : 0);
	worst = audit_report_worst(&s->report);
	if (s->base.status->state == EXEUNT_STATE_FAILED)
		return;
	s->base.status->reason = worst ? worst->reason : NULL;
	s->base.status->remedy = worst ? worst->remedy : NULL;
}

static void tell_changes(struct audit_source *s, const struct audit_facts *now)
{
	uint32_t own_pid = (uint32_t)getpid();
	bool ours = s->report.facts.pid == own_pid || now->pid == own_pid;
	unsigned int step = 0;
	const char *text;
	char buf[200];
	int level;

	while ((text = audit_report_change(&s->report.facts, now, &step, &level, buf, sizeof(buf))))
		if (!ours || text != buf) /* who owns it: told elsewhere if it is about us */
			watch_say(s, level, "%s", text);
}

/* Rules that were not asked for this time are as they were. */
static void keep_rules(struct audit_facts *now, const struct audit_facts *before)
{
	if (now->rules_known || now->error)
		return;
	now->rules_known = before->rules_known;
	now->never_task = before->never_task;
	now->exit_rule = before->exit_rule;
	now->exit_all = before->exit_all;
	now->kept = before->kept;
	now->kept_loaded = before->kept_loaded;
	now->rules = before->rules;
	now->own_rules = before->own_rules;
}

static int tell_lost(struct audit_source *s, const struct audit_facts *now, frame_fn fn,
		     void *userdata)
{
	uint64_t count = audit_report_lost(&s->report.facts, now);
	struct frame f = {
		.source = EXEUNT_SOURCE_AUDIT,
		.kind = FRAME_LOST,
		.channel = AUDIT_CHANNEL_KERNEL,
		.mono_ns = mono_now(),
		.real_ns = real_now(),
		.since_ns = s->told_ns,
		.data = &count,
		.len = sizeof(count),
	};

	if (!count)
		return 0;
	s->base.status->lost += count;
	return fn(&f, userdata);
}

static bool tells_all(const struct audit_facts *f)
{
	return !f->error && f->enabled && f->rules_known && f->exit_all && !f->never_task;
}

/* The first look is what later ones are held against. */
int watch_take(struct audit_source *s, struct audit_facts *now, frame_fn fn, void *userdata)
{
	bool fresh = now->rules_known;
	int r = 0;

	s->asked = s->stuck = false;
	keep_rules(now, &s->report.facts);
	if (s->mode == AUDIT_MODE_UNICAST && !now->error && now->pid != (uint32_t)getpid())
		s->challenged = true;
	if (s->known && fn) {
		tell_changes(s, now);
		r = tell_lost(s, now, fn, userdata);
		if (fresh)
			kept_judge(s, now);
	}
	s->full |= tells_all(now);
	/* without an answer the counter is still where it was */
	if (!now->error || !s->known)
		s->report.facts = *now;
	s->known = true;
	s->told_ns = mono_now();
	tell_status(s);
	return r;
}

static void gone(struct audit_source *s)
{
	audit_keeper_stop(s->keeper);
	s->keeper = NULL;
	s->asked = false;
	watch_say(s, 4,
		  "the process that asks for the state of audit has ended: "
		  "what the kernel loses is no longer counted");
}

static void ask(struct audit_source *s, enum audit_ask what)
{
	if (audit_keeper_ask(s->keeper, what) < 0) {
		gone(s);
		return;
	}
	s->asked = true;
	s->asked_ns = mono_now();
	s->seen = 0;
	s->config_changed = false;
}

void watch_begin(struct audit_source *s)
{
	struct audit_facts facts;

	s->told_ns = mono_now();
	if (audit_keeper_start(&s->keeper, s->rules, s->n_rules) < 0 ||
	    audit_watch_fd(s, audit_keeper_fd(s->keeper)) < 0)
		return;
	ask(s, AUDIT_ASK_RULES);
	if (s->keeper && !audit_keeper_wait(s->keeper, &facts, OPEN_MS))
		watch_take(s, &facts, NULL, NULL);
	if (s->keeper && s->asked)
		watch_say(s, 4,
			  "audit does not answer: its queue is full, and who asks has to wait");
	if (!s->known || s->report.facts.error)
		watch_say(s, 6, "the kernel's own count of lost audit records cannot be read here");
}

int watch_ask(struct audit_source *s, enum audit_ask what, struct audit_facts *facts)
{
	int r = s->keeper && !s->asked ? audit_keeper_ask(s->keeper, what) : -ETIME;

	if (r >= 0)
		r = audit_keeper_wait(s->keeper, facts, ANSWER_MS);
	return r < 0 ? r : facts->error;
}

int watch_answer(struct audit_source *s, frame_fn fn, void *userdata)
{
	struct audit_facts facts;
	int r;

	if (!s->asked || !s->keeper)
		return 0;
	r = audit_keeper_answer(s->keeper, &facts);
	if (r < 0)
		gone(s);
	return r > 0 ? watch_take(s, &facts, fn, userdata) : 0;
}

/* Of that there is no record (kernel/audit.c: audit_do_config_change()); but while it is off there are hardly any. */
static bool was_switched_on(const struct audit_source *s)
{
	return s->known && !s->report.facts.error && !s->report.facts.enabled && s->seen;
}

void watch_check(struct audit_source *s, int64_t now_ns)
{
	if (s->asked && !s->stuck && now_ns - s->asked_ns >= STUCK_NS) {
		s->stuck = true;
		watch_say(s, 4, "%s", stuck_text);
	}
	if (!s->keeper || s->asked || (s->known && s->report.facts.error))
		return;
	if (kept_is_due(s, now_ns))
		ask(s, AUDIT_ASK_LOAD);
	else if ((s->config_changed || was_switched_on(s)) &&
		 now_ns - s->asked_ns >= ASK_CHANGED_NS)
		ask(s, AUDIT_ASK_RULES);
	else if (s->seen && now_ns - s->asked_ns >= ASK_NS)
		ask(s, AUDIT_ASK_STATUS);
}

int watch_finish(struct audit_source *s, frame_fn fn, void *userdata)
{
	struct audit_facts facts;
	int r = 0;

	if (!s->keeper || (s->known && s->report.facts.error))
		return 0;
	if (s->asked) {
		r = audit_keeper_wait(s->keeper, &facts, FINISH_MS);
		if (r >= 0)
			r = watch_take(s, &facts, fn, userdata);
		else
			return 0;
	}
	if (r < 0 || !s->seen)
		return r;
	ask(s, AUDIT_ASK_STATUS);
	if (s->keeper && !audit_keeper_wait(s->keeper, &facts, FINISH_MS))
		r = watch_take(s, &facts, fn, userdata);
	return r;
}

bool audit_tells_exits(const struct source *base)
{
	const struct audit_source *s = (const struct audit_source *)base;
	const struct audit_facts *f = &s->report.facts;

	return s->known && !f->error && f->enabled && f->rules_known && f->exit_rule;
}

bool audit_is_blind(const struct source *base)
{
	const struct audit_source *s = (const struct audit_source *)base;

	return s->full && s->known && !s->report.facts.error && !tells_all(&s->report.facts);
}

bool audit_is_unsettled(const struct source *base)
{
	const struct audit_source *s = (const struct audit_source *)base;

	return s->keeper && (s->config_changed || s->wiped || s->asked);
}

void audit_note_change(struct source *base)
{
	((struct audit_source *)base)->config_changed = true;
}
