/* SPDX-License-Identifier: MIT */
/* See audit_report.h. */
#include "source/audit_report.h"

#include <inttypes.h>
#include <libaudit.h>

#include "base/util.h"
#include "source/audit_keeper.h"
#include "source/audit_rule.h"

#define ANSWER_MS 2000

static struct audit_finding *find(struct audit_report *r, enum audit_finding_id id, bool in_the_way,
				  const char *remedy)
{
	struct audit_finding *f = &r->findings[r->n++];

	*f = (struct audit_finding){ .id = id, .in_the_way = in_the_way, .remedy = remedy };
	return f;
}

#define FIND(r, id, in_the_way, remedy, ...)                                            \
	do {                                                                            \
		struct audit_finding *found_ = find((r), (id), (in_the_way), (remedy)); \
		snprintf(found_->reason, sizeof(found_->reason), __VA_ARGS__);          \
	} while (0)

static void judge_error(struct audit_report *r)
{
	switch (r->facts.error) {
	case -EPROTONOSUPPORT:
		FIND(r, AUDIT_FINDING_ABSENT, true, "use a kernel with CONFIG_AUDIT=y",
		     "this kernel has no audit");
		break;
	case -EPERM:
	case -ECONNREFUSED:
		FIND(r, AUDIT_FINDING_UNREADABLE, false,
		     "sudo exeunt check, in the host's own user and pid namespace",
		     "the state of audit cannot be read without the capability CAP_AUDIT_CONTROL");
		break;
	case -ETIME:
		FIND(r, AUDIT_FINDING_STUCK, false,
		     "see why the owner of audit does not read; auditctl -s tells who it is",
		     "audit does not answer: its queue is full, and who asks has to wait");
		break;
	default:
		FIND(r, AUDIT_FINDING_UNREADABLE, false, NULL, "audit cannot be asked: %s",
		     strerror(-r->facts.error));
	}
}

/* What keeps exits from being told of. */
static void judge_obstacles(struct audit_report *r)
{
	const struct audit_facts *f = &r->facts;

	if (!f->enabled)
		FIND(r, AUDIT_FINDING_OFF, true, "auditctl -e 1", "audit is switched off");
	if (f->rules_known && f->never_task)
		FIND(r, AUDIT_FINDING_NEVER_TASK, true,
		     "take the line '-a task,never' out of /etc/audit/rules.d, run augenrules --load, and start "
		     "again what shall be seen",
		     "the rule never,task is loaded: what begins while it is there is never seen by audit");
	if (f->rules_known && !f->exit_rule)
		FIND(r, AUDIT_FINDING_NO_EXIT_RULE, false, "exeunt rules list",
		     "no rule tells of exits: audit says who logged in and what dumped core, no more");
}

static void judge_dangers(struct audit_report *r)
{
	const struct audit_facts *f = &r->facts;

	if (f->failure == 2)
		FIND(r, AUDIT_FINDING_PANIC, false, "auditctl -f 1",
		     "the kernel panics when an audit record is lost");
	if (f->rate_limit)
		FIND(r, AUDIT_FINDING_RATE_LIMIT, true, "auditctl -r 0",
		     "audit drops what is above %" PRIu32 " records a second", f->rate_limit);
	if (f->lost)
		FIND(r, AUDIT_FINDING_LOST, false,
		     "auditctl -b 8192 makes the queue longer; auditctl --reset-lost begins anew",
		     "audit lost %" PRIu32 " records since it counts", f->lost);
}

static void judge_place(struct audit_report *r, uint32_t own_pid)
{
	const struct audit_facts *f = &r->facts;

	if (f->enabled == 2)
		FIND(r, AUDIT_FINDING_LOCKED, false, NULL,
		     "rules and settings of audit are locked until the next boot (-e 2)");
	if (f->pid && f->pid == own_pid)
		return;
	if (f->pid)
		FIND(r, AUDIT_FINDING_OWNER, false, NULL, "audit belongs to %s (pid %" PRIu32 ")",
		     f->owner[0] ? f->owner : "a process", f->pid);
	else if (f->enabled)
		FIND(r, AUDIT_FINDING_NO_OWNER, false,
		     "start auditd, or let exeunt take its place: --audit unicast",
		     "no auditd runs: what the rules log goes to the kernel's log too");
}

void audit_report_judge(struct audit_report *r, uint32_t own_pid)
{
	r->n = 0;
	if (r->facts.booted_off) {
		FIND(r, AUDIT_FINDING_BOOTED_OFF, true,
		     "take audit=0 off the kernel's command line, and reboot",
		     "the kernel was booted with audit=0");
		return;
	}
	if (r->facts.error) {
		judge_error(r);
		return;
	}
	judge_obstacles(r);
	judge_dangers(r);
	judge_place(r, own_pid);
}

const struct audit_finding *audit_report_worst(const struct audit_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->findings[i].in_the_way)
			return &r->findings[i];
	return NULL;
}

static const char *change_of_owner(const struct audit_facts *before, const struct audit_facts *now,
				   int *level, char *buf, size_t size)
{
	if (before->pid == now->pid)
		return NULL;
	*level = now->pid ? 6 : 4;
	if (now->pid)
		snprintf(buf, size, "audit now belongs to %s (pid %" PRIu32 ")",
			 now->owner[0] ? now->owner : "a process", now->pid);
	else
		snprintf(buf, size, "%s (pid %" PRIu32 ") no longer reads audit",
			 before->owner[0] ? before->owner : "the owner of audit", before->pid);
	return buf;
}

static const char *change_of_rules(const struct audit_facts *before, const struct audit_facts *now,
				   int *level)
{
	if (!before->rules_known || !now->rules_known)
		return NULL;
	*level = 4;
	if (!before->never_task && now->never_task)
		return "the rule never,task was loaded: what begins from now on is never seen by audit";
	if (before->own_rules && !now->own_rules && !now->kept)
		return "the audit rules of exeunt were removed by somebody else; exeunt rules load brings them back";
	if (before->exit_rule && !now->exit_rule && now->kept == now->kept_loaded)
		return "the audit rule that told of exits was removed";
	*level = 6;
	if (before->never_task && !now->never_task)
		return "the rule never,task was removed: what begins from now on is seen by audit";
	if (!before->exit_rule && now->exit_rule && before->kept == before->kept_loaded)
		return "an audit rule now tells of exits";
	return NULL;
}

static const char *change_of_switch(const struct audit_facts *before, const struct audit_facts *now,
				    int *level)
{
	if (before->enabled == now->enabled)
		return NULL;
	if (now->enabled == 2 && before->enabled) {
		*level = 6;
		return "the rules and settings of audit are locked now, until the next boot";
	}
	if (!before->enabled == !now->enabled)
		return NULL;
	*level = now->enabled ? 6 : 4;
	return now->enabled ? "audit was switched on"
			    : "audit was switched off; auditctl -e 1 switches it on";
}

const char *audit_report_change(const struct audit_facts *before, const struct audit_facts *now,
				unsigned int *step, int *level, char *buf, size_t size)
{
	const char *text = NULL;

	if (before->error || now->error)
		return NULL;
	while (!text && *step < 3) {
		switch ((*step)++) {
		case 0:
			text = change_of_switch(before, now, level);
			break;
		case 1:
			text = change_of_owner(before, now, level, buf, size);
			break;
		case 2:
			text = change_of_rules(before, now, level);
			break;
		}
	}
	return text;
}

uint64_t audit_report_lost(const struct audit_facts *before, const struct audit_facts *now)
{
	if (before->error || now->error)
		return 0;
	if (now->booted_on && (!before->pid || !now->pid))
		return 0;
	return now->lost >= before->lost ? now->lost - before->lost : now->lost;
}

/* True if the rule is about this system call, of the architecture that it names. */
static bool has_syscall(const struct audit_rule_data *rule, const char *name)
{
	int machine = audit_detect_machine(), nr;

	for (uint32_t i = 0; i < MIN(rule->field_count, (uint32_t)AUDIT_MAX_FIELDS); i++)
		if (rule->fields[i] == AUDIT_ARCH)
			machine = audit_elf_to_machine(rule->values[i]);
	nr = machine < 0 ? -1 : audit_name_to_syscall(name, machine);
	if (nr < 0 || AUDIT_WORD(nr) >= AUDIT_BITMASK_SIZE)
		return false;
	return rule->mask[AUDIT_WORD(nr)] & AUDIT_BIT(nr);
}

/* Of all programs that are made for this machine; those of its 32-bit brother are few. */
static bool is_unconditional(const struct audit_rule_data *rule)
{
	for (uint32_t i = 0; i < MIN(rule->field_count, (uint32_t)AUDIT_MAX_FIELDS); i++) {
		if (rule->fields[i] == AUDIT_FILTERKEY)
			continue;
		if (rule->fields[i] != AUDIT_ARCH ||
		    audit_elf_to_machine(rule->values[i]) != audit_detect_machine())
			return false;
	}
	return true;
}

void audit_report_add_rule(struct audit_facts *facts, const struct audit_rule_data *rule)
{
	uint32_t list = rule->flags & ~(uint32_t)AUDIT_FILTER_PREPEND;

	facts->rules++;
	if (list == AUDIT_FILTER_TASK && rule->action == AUDIT_NEVER && !rule->field_count)
		facts->never_task = true;
	if (list == AUDIT_FILTER_EXIT && rule->action == AUDIT_ALWAYS &&
	    has_syscall(rule, "exit_group")) {
		facts->exit_rule = true;
		facts->exit_all |= is_unconditional(rule);
	}
	if (audit_rule_is_ours(rule))
		facts->own_rules++;
}

void audit_report_boot(struct audit_facts *facts, const char *cmdline)
{
	while (*cmdline) {
		size_t len = strcspn(cmdline, " ");

		/* the last one counts (kernel/audit.c: audit_enable()) */
		if (len > 6 && !strncmp(cmdline, "audit=", 6)) {
			const char *value = cmdline + 6;
			bool off = (len == 7 && *value == '0') ||
				   (len == 9 && !strncmp(value, "off", 3));

			facts->booted_off = off;
			facts->booted_on = !off;
		}
		cmdline += len;
		cmdline += strspn(cmdline, " ");
	}
}

int audit_report_read(struct audit_report *ret)
{
	struct audit_keeper *keeper;
	int r = audit_keeper_start(&keeper, NULL, 0);

	memset(ret, 0, sizeof(*ret));
	if (r < 0)
		return r;
	r = audit_keeper_ask(keeper, AUDIT_ASK_RULES);
	if (r >= 0)
		r = audit_keeper_wait(keeper, &ret->facts, ANSWER_MS);
	if (r < 0)
		ret->facts.error = r;
	audit_keeper_stop(keeper);
	audit_report_judge(ret, 0);
	return 0;
}
