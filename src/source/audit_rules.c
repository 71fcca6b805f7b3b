/* SPDX-License-Identifier: MIT */
/* See audit_rules.h. */
#include "source/audit_rules.h"

#include <dirent.h>
#include <libaudit.h>

#include "base/util.h"
#include "source/audit_control.h"
#include "source/audit_report.h"
#include "source/audit_rule.h"

#define LINE_MOST 2048

/* "exits" of "/usr/share/exeunt/rules/10-exeunt-exits.rules" */
static void name_of(char *ret, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/'), *p = slash ? slash + 1 : path;
	size_t len;

	p += strspn(p, "0123456789");
	p += *p == '-';
	if (!strncmp(p, AUDIT_KEY_PREFIX, strlen(AUDIT_KEY_PREFIX)))
		p += strlen(AUDIT_KEY_PREFIX);
	len = strlen(p);
	if (len > 6 && !strcmp(p + len - 6, ".rules"))
		len -= 6;
	snprintf(ret, size, "%.*s", (int)len, p);
}

static int append(struct audit_rule_data ***rules, size_t *n, struct audit_rule_data *rule)
{
	struct audit_rule_data **grown = realloc(*rules, (*n + 1) * sizeof(*grown));

	if (!grown) {
		audit_rule_free(rule);
		return -ENOMEM;
	}
	*rules = grown;
	grown[(*n)++] = rule;
	return 0;
}

static int take_line(struct audit_ruleset *s, const char *line, char *error, size_t size)
{
	struct audit_rule_data *rule;
	int r;

	if (line[0] == '#' && !s->summary[0]) {
		line += strspn(line, "# ");
		snprintf(s->summary, sizeof(s->summary), "%.*s", (int)strcspn(line, "\n"), line);
		return 0;
	}
	r = audit_rule_parse(&rule, line, error, size);
	return r > 0 ? append(&s->rules, &s->n, rule) : r;
}

static int take_lines(struct audit_ruleset *s, FILE *file, const char *path, char *error,
		      size_t size)
{
	char line[LINE_MOST], reason[LINE_MOST];
	int number = 0, r = 0;

	while (r >= 0 && fgets(line, sizeof(line), file)) {
		number++;
		reason[0] = '\0';
		r = take_line(s, line, reason, sizeof(reason));
	}
	if (r == -EINVAL)
		snprintf(error, size, "%s, line %d: %s", path, number, reason);
	else if (r < 0)
		snprintf(error, size, "%s: %s", path, strerror(-r));
	else if (ferror(file)) {
		r = -EIO;
		snprintf(error, size, "%s cannot be read", path);
	} else if (!s->n) {
		r = -EINVAL;
		snprintf(error, size, "%s has no rule for this machine", path);
	}
	return r;
}

int audit_ruleset_read(struct audit_ruleset *ret, const char *path, char *error, size_t error_size)
{
	struct audit_ruleset s = { .n = 0 };
	_cleanup_file_
	FILE *file = fopen(path, "re");
	int r;

	if (!file) {
		r = -errno;
		snprintf(error, error_size, "%s: %s", path, strerror(-r));
		return r;
	}
	name_of(s.name, sizeof(s.name), path);
	r = take_lines(&s, file, path, error, error_size);
	if (r < 0)
		audit_ruleset_done(&s);
	else
		*ret = s;
	return r;
}

static void free_rules(struct audit_rule_data **rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		audit_rule_free(rules[i]);
	free(rules);
}

void audit_ruleset_done(struct audit_ruleset *s)
{
	free_rules(s->rules, s->n);
	s->rules = NULL;
	s->n = 0;
}

static int is_rules_file(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return e->d_name[0] != '.' && len > 6 && !strcmp(e->d_name + len - 6, ".rules");
}

int audit_rulesets_read(struct audit_ruleset **ret, size_t *n, const char *dir, char *error,
			size_t error_size)
{
	struct dirent **entries;
	struct audit_ruleset *sets;
	int found = scandir(dir, &entries, is_rules_file, alphasort), r = 0;

	if (found < 0) {
		r = -errno;
		snprintf(
			error, error_size,
			r == -ENOENT
				? "%s: %s; it comes with an installed exeunt. Elsewhere: exeunt rules "
				  "--dir DIR, or the path of a file, with a slash in it"
				: "%s: %s",
			dir, strerror(-r));
		return r;
	}
	sets = calloc((size_t)found + 1, sizeof(*sets));
	*n = 0;
	for (int i = 0; i < found; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, entries[i]->d_name);
		if (sets && r >= 0)
			r = audit_ruleset_read(&sets[*n], path, error, error_size);
		if (sets && r >= 0)
			(*n)++;
		free(entries[i]);
	}
	free(entries);
	if (!sets)
		r = -ENOMEM;
	if (r < 0) {
		audit_rulesets_free(sets, *n);
		return r;
	}
	*ret = sets;
	return 0;
}

void audit_rulesets_free(struct audit_ruleset *sets, size_t n)
{
	for (size_t i = 0; i < n; i++)
		audit_ruleset_done(&sets[i]);
	free(sets);
}

int audit_ruleset_find(struct audit_ruleset *ret, const char *dir, const char *name, char *error,
		       size_t error_size)
{
	struct audit_ruleset *sets;
	size_t n;
	int r;

	if (strchr(name, '/'))
		return audit_ruleset_read(ret, name, error, error_size);
	r = audit_rulesets_read(&sets, &n, dir, error, error_size);
	if (r < 0)
		return r;
	r = -ENOENT;
	for (size_t i = 0; i < n && r < 0; i++)
		if (!strcmp(sets[i].name, name)) {
			*ret = sets[i];
			sets[i] = (struct audit_ruleset){ .n = 0 };
			r = 0;
		}
	if (r < 0)
		snprintf(error, error_size,
			 "there is no set of rules '%s' in %s; exeunt rules list tells their names",
			 name, dir);
	audit_rulesets_free(sets, n);
	return r;
}

int audit_rulesets_find(struct audit_ruleset **ret, size_t *n, const char *dir, const char *names,
			char *error, size_t error_size)
{
	_cleanup_free_
	char *copy = strdup(names);
	struct audit_ruleset *sets = calloc(strlen(names) + 1, sizeof(*sets));
	char *rest = copy, *name;
	int r = copy && sets ? 0 : -ENOMEM;

	*n = 0;
	while (r >= 0 && (name = strsep(&rest, ","))) {
		r = audit_ruleset_find(&sets[*n], dir, name, error, error_size);
		*n += r >= 0;
	}
	if (r < 0) {
		audit_rulesets_free(sets, *n);
		*n = 0;
		return r;
	}
	*ret = sets;
	return 0;
}

static int keep_loaded(const struct audit_rule_data *rule, size_t len, void *userdata)
{
	struct audit_loaded *l = userdata;
	struct audit_rule_data *copy = malloc(len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, rule, len);
	return append(&l->rules, &l->n, copy);
}

int audit_loaded_read(struct audit_loaded *ret, int fd)
{
	struct audit_loaded l = { .n = 0 };
	int r = audit_control_rules(fd, keep_loaded, &l);

	if (r < 0)
		audit_loaded_done(&l);
	else
		*ret = l;
	return r;
}

void audit_loaded_done(struct audit_loaded *l)
{
	free_rules(l->rules, l->n);
	l->rules = NULL;
	l->n = 0;
}

bool audit_loaded_has(const struct audit_loaded *l, const struct audit_rule_data *rule)
{
	for (size_t i = 0; i < l->n; i++)
		if (audit_rule_equal(l->rules[i], rule))
			return true;
	return false;
}

static int delete_rule(int fd, struct audit_rule_data *rule)
{
	int r = audit_delete_rule_data(fd, rule, (int)rule->flags, (int)rule->action);

	return r > 0 ? 0 : r ? r : -EIO;
}

int audit_ruleset_load(int fd, const struct audit_ruleset *s)
{
	bool *added = calloc(s->n, sizeof(*added));
	int n = 0, r = added ? 0 : -ENOMEM;

	for (size_t i = 0; i < s->n && r >= 0; i++) {
		struct audit_rule_data *rule = s->rules[i];

		r = audit_add_rule_data(fd, rule, AUDIT_FILTER_EXIT, AUDIT_ALWAYS);
		if (r == -EEXIST)
			r = 0;
		else if (r > 0)
			n += added[i] = true;
		else if (!r)
			r = -EIO;
	}
	for (size_t i = 0; i < s->n && r < 0 && added; i++)
		if (added[i])
			delete_rule(fd, s->rules[i]);
	free(added);
	return r < 0 ? r : n;
}

int audit_ruleset_unload(int fd, const struct audit_ruleset *s)
{
	int n = 0;

	for (size_t i = 0; i < s->n; i++) {
		int r = delete_rule(fd, s->rules[i]);

		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		n++;
	}
	return n;
}

/* A rule that has a key of somebody else too is theirs. */
static bool is_only_ours(const struct audit_rule_data *rule)
{
	size_t len;
	const char *key = audit_rule_key(rule, &len);

	return key && !memchr(key, '\1', len) && audit_rule_is_ours(rule);
}

int audit_rules_unload_all(int fd)
{
	struct audit_loaded loaded;
	int n = 0, r = audit_loaded_read(&loaded, fd);

	if (r < 0)
		return r;
	for (size_t i = 0; i < loaded.n && r >= 0; i++) {
		if (!is_only_ours(loaded.rules[i]))
			continue;
		r = delete_rule(fd, loaded.rules[i]);
		if (r >= 0)
			n++;
	}
	audit_loaded_done(&loaded);
	return r < 0 ? r : n;
}
