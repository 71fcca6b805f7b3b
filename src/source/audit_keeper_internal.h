/* SPDX-License-Identifier: MIT */
/* Between the two halves of the keeper and for nobody else: a byte is a question, a struct audit_facts the answer. */
#ifndef SOURCE_AUDIT_KEEPER_INTERNAL_H
#define SOURCE_AUDIT_KEEPER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct audit_facts;
struct audit_ruleset;

/* The life of the forked process; `fd` is its end of the socket. */
_Noreturn void keeper_run(int fd, const struct audit_ruleset *sets, size_t n);

/* audit_keeper_rules.c: rules that are loaded while we run. */
struct kept_rules {
	const struct audit_ruleset *sets;
	size_t n;
	bool *ours; /* by rule, over all sets: we have loaded it */
};

/* Errors: -ENOMEM. */
int kept_rules_init(struct kept_rules *k, const struct audit_ruleset *sets, size_t n);
/* Loads what is missing; the outcome is in facts->kept_error. */
void kept_rules_load(struct kept_rules *k, int control, struct audit_facts *facts);
/* Deletes those that we have loaded and that are there. */
void kept_rules_unload(struct kept_rules *k, int control);
/* What the loaded rules mean, and how many of ours are among them. */
void kept_rules_facts(const struct kept_rules *k, int control, struct audit_facts *facts);

#endif
