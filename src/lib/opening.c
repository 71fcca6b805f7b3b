/* SPDX-License-Identifier: MIT */
/* Opening the sources, with privilege: which, with what, and what it means for the joiner. See exeunt.h. */
#include "lib/engine.h"

#include <linux/capability.h>

#include "base/clock.h"
#include "base/util.h"
#include "source/audit.h"
#include "source/audit_rules.h"
#include "source/pacct.h"

/* taskstats is opened before the others, so that what they see of the first processes it has seen too. */
static const struct source_ops *const all_sources[] = {
	&source_taskstats,
	&source_procevents,
	&source_audit,
	&source_pacct,
};

/* So long after its window a loss waits for what other sources bring. */
#define HOLD_NS (2 * NS_PER_SEC)

void engine_tell_messages(struct exeunt *x, struct source *s)
{
	const char *text;
	int level;

	while (s->ops->message && (text = s->ops->message(s, &level)))
		engine_message(x, level, "%s", text);
}

static bool is_named(const struct exeunt *x, enum exeunt_source source)
{
	if (source == EXEUNT_SOURCE_AUDIT && x->options.audit_rules)
		return true;
	return (x->options.sources | x->options.sources_needed) & EXEUNT_SOURCE_BIT(source);
}

static bool is_wanted(const struct exeunt *x, enum exeunt_source source)
{
	return !x->options.sources || is_named(x, source);
}

static bool must_work(const struct exeunt *x, enum exeunt_source source)
{
	return x->options.sources_required ||
	       (source == EXEUNT_SOURCE_AUDIT && x->options.audit_rules) ||
	       (x->options.sources_needed & EXEUNT_SOURCE_BIT(source));
}

/* 1: open, 0: refused, with reason and remedy in its status. */
static int open_source(struct exeunt *x, const struct source_ops *ops,
		       const struct source_options *options)
{
	struct exeunt_source_status *status = &x->status[ops->id];
	int r = ops->open(&x->sources[ops->id], options, status);

	if (r == -ENOMEM)
		return engine_fail(x, r, "not enough memory to open %s",
				   exeunt_source_name(ops->id));
	if (r < 0 && must_work(x, ops->id))
		return engine_fail(x, -EPERM, "%s", status->reason ? status->reason : strerror(-r));
	if (x->sources[ops->id])
		engine_tell_messages(x, x->sources[ops->id]);
	/* accounting is found by the record of a child; what we switch on ourselves still has to show */
	status->tested = ops->id == EXEUNT_SOURCE_PACCT && status->state == EXEUNT_STATE_OPEN &&
			 !(options->pacct_mode && !strcmp(options->pacct_mode, "own"));
	return x->sources[ops->id] != NULL;
}

/*
 * The table of who is who: /proc is read when the events are listened to already. Without them it is not, for what was read
 * would never be known to be old; what audit tells is in the table then.
 */
static int open_context(struct exeunt *x)
{
	struct context_options o = {
		.proc_path = x->sources[EXEUNT_SOURCE_PROCEVENTS] ? NULL : "",
		.no_args = x->options.no_args,
		.redact = x->options.redact,
		.n_redact = x->options.n_redact,
	};
	size_t bad = 0;
	int r = context_new(&x->context, &o, &bad);

	if (r == -EINVAL)
		return engine_fail(x, r, "not a regular expression: %s", x->options.redact[bad]);
	if (r >= 0) {
		context_set_boot_offset(x->context, clock_ns(CLOCK_BOOTTIME) - mono_now());
		r = context_seed(x->context, mono_now());
	}
	if (r < 0)
		return engine_fail(x, r, "/proc cannot be read: %s", strerror(-r));
	x->intake.context = x->intake.cleaner = x->context;
	join_set_context(x->joiner, x->context);
	return 0;
}

/* Where audit and accounting are read may change while they are read. */
void engine_describe_sources(struct exeunt *x)
{
	const struct source *audit = x->sources[EXEUNT_SOURCE_AUDIT];
	const struct source *pacct = x->sources[EXEUNT_SOURCE_PACCT];

	x->status[EXEUNT_SOURCE_AUDIT].detail = audit ? audit_mode_now(audit) : NULL;
	x->status[EXEUNT_SOURCE_PACCT].detail = pacct ? pacct_source_path(pacct) : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(x->status); i++) {
		x->status[i].version = x->intake.versions[i];
		x->status[i].tested |= x->intake.own_told >> i & 1;
	}
}

void engine_update_sources(struct exeunt *x)
{
	const struct source *audit = x->sources[EXEUNT_SOURCE_AUDIT];
	uint32_t active = 0, awaited = 0;

	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++)
		if (x->sources[i] && x->status[i].state == EXEUNT_STATE_OPEN)
			active |= EXEUNT_SOURCE_BIT(i);
	awaited |= active & EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT);
	if (x->auditing.awaited_until_ns || (audit && audit_tells_exits(audit)))
		awaited |= EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_AUDIT);
	join_set_sources(x->joiner, active, awaited);
	ledger_set_hold(x->ledger, active & EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT) ? HOLD_NS : 0);
}

/* Who is who is of no use without an end, and audit tells of ends only under a rule. */
bool engine_tells_of_ends(const struct exeunt *x)
{
	return source_in_use(x, EXEUNT_SOURCE_TASKSTATS) || source_in_use(x, EXEUNT_SOURCE_PACCT) ||
	       (source_in_use(x, EXEUNT_SOURCE_AUDIT) && is_named(x, EXEUNT_SOURCE_AUDIT));
}

static int nothing_works(struct exeunt *x)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_sources); i++) {
		const struct exeunt_source_status *s = &x->status[all_sources[i]->id];

		if (s->state == EXEUNT_STATE_REFUSED && s->reason)
			return engine_fail(x, -EPERM, "%s", s->reason);
	}
	return engine_fail(x, -EPERM, "none of the sources asked for tells of ends");
}

static int parse_mode(struct exeunt *x, enum audit_mode *mode)
{
	if (x->options.audit && audit_mode_parse(mode, x->options.audit) < 0)
		return engine_fail(x, -EINVAL, "audit: there is no mode '%s'", x->options.audit);
	if (*mode == AUDIT_MODE_OFF && x->options.audit_rules)
		return engine_fail(x, -EINVAL, "audit is off, and rules for it are asked for");
	return 0;
}

static int read_rules(struct exeunt *x, struct audit_ruleset **sets, size_t *n)
{
	char error[400] = "not enough memory to read the audit rules";
	int r;

	if (!x->options.audit_rules)
		return 0;
	r = audit_rulesets_find(sets, n, EXEUNT_RULESDIR, x->options.audit_rules, error,
				sizeof(error));
	return r < 0 ? engine_fail(x, r == -EPERM ? -EACCES : r, "%s", error) : 0;
}

static int open_sources(struct exeunt *x, enum audit_mode mode)
{
	struct audit_ruleset *rules = NULL;
	struct source_options options = {
		.audit_mode = mode,
		.receive_buffer = x->options.receive_buffer,
		.pacct_mode = x->options.pacct,
		.pacct_state = x->options.pacct_state,
		.pacct_force = x->options.pacct_force,
	};
	int r = read_rules(x, &rules, &options.n_audit_rules);

	options.audit_rules = rules;
	for (size_t i = 0; i < ARRAY_SIZE(all_sources) && r >= 0; i++)
		if (is_wanted(x, all_sources[i]->id))
			r = open_source(x, all_sources[i], &options);
	audit_rulesets_free(rules, options.n_audit_rules);
	return r;
}

int exeunt_open(struct exeunt *x)
{
	enum audit_mode mode = AUDIT_MODE_AUTO;
	int r = parse_mode(x, &mode);

	join_set_since(x->joiner, real_now());
	if (r >= 0)
		r = open_sources(x, mode);
	if (r < 0)
		return r;
	if (!engine_tells_of_ends(x))
		return nothing_works(x);
	if (x->sources[EXEUNT_SOURCE_AUDIT] && mode == AUDIT_MODE_STDIN)
		loop_nap_short(x);
	if (x->sources[EXEUNT_SOURCE_PROCEVENTS] || x->sources[EXEUNT_SOURCE_AUDIT])
		r = open_context(x);
	if (r < 0)
		return r;
	engine_update_sources(x);
	engine_describe_sources(x);
	return loop_watch(x);
}

uint64_t exeunt_capabilities(const struct exeunt *x)
{
	uint64_t keep = 0;

	for (size_t i = 0; i < ARRAY_SIZE(x->sources); i++)
		if (x->sources[i])
			keep |= x->sources[i]->keep_capabilities;
	if (x->sources[EXEUNT_SOURCE_PROCEVENTS])
		keep |= UINT64_C(1) << CAP_SYS_PTRACE; /* /proc/PID/exe and cwd of other users */
	return keep;
}
