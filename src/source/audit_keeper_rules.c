/* SPDX-License-Identifier: MIT */
/* The keeper's rules: loaded while we run, and loaded again when asked after somebody wiped them. See audit_keeper.h. */
#include "source/audit_keeper_internal.h"

#include <libaudit.h>

#include "base/util.h"
#include "source/audit_report.h"
#include "source/audit_rules.h"

static size_t count(const struct kept_rules *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->n; i++)
		n += k->sets[i].n;
	return n;
}

static struct audit_rule_data *rule_at(const struct kept_rules *k, size_t i)
{
	size_t set = 0;

	for (; i >= k->sets[set].n; set++)
		i -= k->sets[set].n;
	return k->sets[set].rules[i];
}

int kept_rules_init(struct kept_rules *k, const struct audit_ruleset *sets, size_t n)
{
	*k = (struct kept_rules){ .sets = sets, .n = n };
	k->ours = calloc(count(k) + 1, sizeof(*k->ours));
	return k->ours ? 0 : -ENOMEM;
}

static int delete (struct kept_rules *k, int control, size_t i)
{
	struct audit_rule_data *rule = rule_at(k, i);

	k->ours[i] = false;
	return audit_delete_rule_data(control, rule, (int)rule->flags, (int)rule->action);
}

/* Returns whether it is there now because of this call; *error is what keeps it from being there. */
static bool add(struct kept_rules *k, int control, size_t i, int *error)
{
	int r = audit_add_rule_data(control, rule_at(k, i), AUDIT_FILTER_EXIT, AUDIT_ALWAYS);

	if (r > 0)
		k->ours[i] = true;
	else if (r != -EEXIST)
		*error = r ? r : -EIO;
	return r > 0;
}

void kept_rules_load(struct kept_rules *k, int control, struct audit_facts *facts)
{
	size_t n = count(k);
	bool *added = calloc(n + 1, sizeof(*added));

	facts->kept_error = added ? 0 : -ENOMEM;
	for (size_t i = 0; i < n && !facts->kept_error; i++)
		added[i] = add(k, control, i, &facts->kept_error);
	for (size_t i = 0; i < n && added && facts->kept_error; i++)
		if (added[i])
			delete (k, control, i);
	free(added);
}

void kept_rules_unload(struct kept_rules *k, int control)
{
	for (size_t i = 0; control >= 0 && i < count(k); i++)
		if (k->ours[i])
			delete (k, control, i);
}

void kept_rules_facts(const struct kept_rules *k, int control, struct audit_facts *facts)
{
	struct audit_loaded loaded;
	int r = audit_loaded_read(&loaded, control);

	facts->rules = facts->own_rules = facts->kept_loaded = 0;
	facts->never_task = facts->exit_rule = facts->exit_all = false;
	facts->kept = (uint32_t)count(k);
	facts->rules_known = r >= 0;
	if (r < 0)
		return;
	for (size_t i = 0; i < loaded.n; i++)
		audit_report_add_rule(facts, loaded.rules[i]);
	for (size_t i = 0; i < count(k); i++)
		facts->kept_loaded += audit_loaded_has(&loaded, rule_at(k, i));
	audit_loaded_done(&loaded);
}
