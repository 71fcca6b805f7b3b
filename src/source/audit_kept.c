/* SPDX-License-Identifier: MIT */
/*
 * Rules that are loaded while we run, by the keeper, and loaded again after somebody wiped them: augenrules --load and
 * whatever else begins with -D takes all rules away. Who does that loads others then, one by one, and ours belong behind
 * them; so a second passes first, and longer each time for whoever does it again and again.
 */
#include "source/audit_internal.h"

#include <linux/audit.h>

#include "base/clock.h"

#define RELOAD_NS NS_PER_SEC
#define RELOAD_MOST_NS (60 * NS_PER_SEC)
/* After so long in peace it begins anew. */
#define PEACE_NS (600 * NS_PER_SEC)

static const char locked[] =
	"the audit rules of this host are locked until its next boot (auditctl -e 2)";

static const char *explain(int error, const struct audit_facts *facts)
{
	if (error == -EPERM && facts->enabled == 2)
		return locked;
	if (error == -EPERM || error == -ECONNREFUSED)
		return "loading audit rules needs the capability CAP_AUDIT_CONTROL in the host's own "
		       "user and pid namespace";
	if (error == -ETIME)
		return "the audit rules cannot be loaded: audit does not answer";
	return "the kernel does not take the audit rules";
}

int kept_begin(struct audit_source *s, struct exeunt_source_status *st)
{
	struct audit_facts facts = { .enabled = 0 };
	int r = s->n_rules ? watch_ask(s, AUDIT_ASK_LOAD, &facts) : 0;

	if (!s->n_rules)
		return 0;
	if (r >= 0) {
		watch_take(s, &facts, NULL, NULL);
		r = facts.kept_error;
	}
	if (r >= 0 && facts.kept_loaded == facts.kept)
		return 0;
	return netlink_refuse(st, r ? -r : EIO, explain(r, &facts),
			      facts.enabled == 2
				      ? "put the file into /etc/audit/rules.d, and reboot"
				      : "sudo exeunt ...");
}

/* It goes on without them. */
static void tell_failure(struct audit_source *s, const struct audit_facts *now)
{
	if (!s->kept_off)
		watch_say(s, 4,
			  "the audit rules of exeunt were removed by somebody else, and are not "
			  "loaded again: %s",
			  explain(now->kept_error, now));
	s->kept_off = true;
}

static void tell_success(struct audit_source *s, int64_t now_ns)
{
	s->wiped = s->kept_off = false;
	s->reloaded_ns = now_ns;
	watch_say(s, 4,
		  "the audit rules of exeunt were removed by somebody else, and are loaded again");
}

static void plan(struct audit_source *s, int64_t now_ns)
{
	bool again = s->reload_wait_ns && now_ns - s->reloaded_ns < PEACE_NS;

	s->reload_wait_ns = again ? MIN(2 * s->reload_wait_ns, RELOAD_MOST_NS) : RELOAD_NS;
	s->reload_ns = now_ns + s->reload_wait_ns;
	if (again && !s->wiped)
		watch_say(s, 4,
			  "the audit rules of exeunt were removed again; they are loaded in %d s",
			  (int)(s->reload_wait_ns / NS_PER_SEC));
	s->wiped = true;
}

void kept_judge(struct audit_source *s, const struct audit_facts *now)
{
	int64_t now_ns = mono_now();

	if (!now->kept || now->error || !now->rules_known)
		return;
	if (now->kept_loaded == now->kept) {
		if (s->wiped)
			tell_success(s, now_ns);
		return;
	}
	if (now->kept_error)
		tell_failure(s, now);
	plan(s, now_ns);
}

bool kept_is_due(const struct audit_source *s, int64_t now_ns)
{
	return s->wiped && now_ns >= s->reload_ns;
}
