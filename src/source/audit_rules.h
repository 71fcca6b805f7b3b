/* SPDX-License-Identifier: MIT */
/*
 * Files of audit rules of ours, and the kernel's own list: reading, loading, unloading, comparing. What is loaded is
 * appended, so that whatever an administrator loaded before wins; what is unloaded is deleted rule by rule, exactly, and
 * has a key of ours. Never deletes a rule of anybody else.
 */
#ifndef SOURCE_AUDIT_RULES_H
#define SOURCE_AUDIT_RULES_H

#include <stdbool.h>
#include <stddef.h>

struct audit_rule_data;

/* One file. */
struct audit_ruleset {
	char name[64];	   /* "exits", of 10-exeunt-exits.rules */
	char summary[128]; /* its first line of comment */
	struct audit_rule_data **rules;
	size_t n;
};

/*
 * Reads a file; empty of rules is an error as well. Errors: -errno of open and read, -EINVAL, -ENOMEM; `error` has the
 * sentence.
 */
int audit_ruleset_read(struct audit_ruleset *ret, const char *path, char *error, size_t error_size);
void audit_ruleset_done(struct audit_ruleset *s);

/* All files *.rules of a folder, by name; *ret is for audit_rulesets_free(). The same errors. */
int audit_rulesets_read(struct audit_ruleset **ret, size_t *n, const char *dir, char *error,
			size_t error_size);
void audit_rulesets_free(struct audit_ruleset *sets, size_t n);

/* The set of that name of the folder, or the file, if there is a slash in the name. The same errors, and -ENOENT. */
int audit_ruleset_find(struct audit_ruleset *ret, const char *dir, const char *name, char *error,
		       size_t error_size);

/* Several of them, with commas between. */
int audit_rulesets_find(struct audit_ruleset **ret, size_t *n, const char *dir, const char *names,
			char *error, size_t error_size);

/* What the kernel has loaded, in its order. */
struct audit_loaded {
	struct audit_rule_data **rules;
	size_t n;
};

/* `fd`: see audit_control.h, as for the errors. */
int audit_loaded_read(struct audit_loaded *ret, int fd);
void audit_loaded_done(struct audit_loaded *l);
bool audit_loaded_has(const struct audit_loaded *l, const struct audit_rule_data *rule);

/*
 * Loads a set, whole or not at all. Returns how many rules were added; those that are there already are not.
 * Errors: -EPERM (locked, or no CAP_AUDIT_CONTROL), others of the kernel.
 */
int audit_ruleset_load(int fd, const struct audit_ruleset *s);

/* Deletes the rules of a set, those that are loaded. Returns how many. The same errors. */
int audit_ruleset_unload(int fd, const struct audit_ruleset *s);

/* Deletes every loaded rule that has a key of ours alone. Returns how many. The same errors. */
int audit_rules_unload_all(int fd);

#endif
