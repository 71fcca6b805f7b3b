/* SPDX-License-Identifier: MIT */
/*
 * One audit rule: from the text that auditctl takes to the kernel's struct and back to a key. Takes only what a rule of
 * ours may be: appended to the exit list, for system calls, with one key that begins with AUDIT_KEY_PREFIX. Pure.
 */
#ifndef SOURCE_AUDIT_RULE_H
#define SOURCE_AUDIT_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct audit_rule_data;

/*
 * Parses one line, such as "-a always,exit -F arch=b64 -S exit_group -F a0!=0 -k exeunt-failed". Returns 1 and the rule,
 * for audit_rule_free(); 0 for a blank line or a comment, and for an architecture that this machine cannot run;
 * -EINVAL with the reason in `error`; -ENOMEM.
 */
int audit_rule_parse(struct audit_rule_data **ret, const char *line, char *error,
		     size_t error_size);

void audit_rule_free(struct audit_rule_data *rule);

/* The key, without NUL, borrowed; several are divided by a byte 1. NULL if there is none. */
const char *audit_rule_key(const struct audit_rule_data *rule, size_t *len);

/* True if one of its keys begins with AUDIT_KEY_PREFIX. */
bool audit_rule_is_ours(const struct audit_rule_data *rule);

/* True if the kernel would take the one for the other: the same list, action, calls, fields in order, and texts. */
bool audit_rule_equal(const struct audit_rule_data *a, const struct audit_rule_data *b);

#endif
