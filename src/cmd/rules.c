/* SPDX-License-Identifier: MIT */
/*
 * exeunt rules: the audit rules that exeunt offers, loaded and unloaded one set at a time. Touches no other rule, and
 * changes no setting of audit.
 */
#include "cmd/cmd.h"

#include <getopt.h>
#include <inttypes.h>
#include <libaudit.h>

#include "source/audit_control.h"
#include "source/audit_report.h"
#include "source/audit_rules.h"

static const char usage[] =
	"Usage: exeunt rules [OPTION]... list\n"
	"       exeunt rules [OPTION]... load NAME...\n"
	"       exeunt rules [OPTION]... unload [NAME]...\n"
	"       exeunt rules [OPTION]... status\n"
	"Load audit rules that tell of exits, and unload them again.\n\n"
	"  list      the sets of rules there are, and which are loaded\n"
	"  load      append a set to the kernel's rules, until the next boot\n"
	"  unload    delete a set again; without a name all rules whose key begins with " AUDIT_KEY_PREFIX
	"\n"
	"  status    what the kernel says of audit, and what is in the way\n\n"
	"A NAME with a slash in it is a file. Each set is a file of --dir, whose first lines tell its price.\n\n"
	"      --dir DIR    the folder of the sets (" EXEUNT_RULESDIR ")\n"
	"  -h, --help       this text\n";

struct rules {
	const char *dir;
	struct audit_ruleset *sets;
	size_t n;
	int fd; /* or negative errno */
	char error[512];
};

static int fail(int r, const char *what)
{
	switch (r) {
	case -EPERM:
		cmd_error("%s: not permitted; it needs CAP_AUDIT_CONTROL: sudo exeunt rules ...",
			  what);
		return CMD_NOT_PERMITTED;
	case -ECONNREFUSED:
		cmd_error("%s: audit is only to be had in the host's own user namespace", what);
		return CMD_NOT_PERMITTED;
	case -EPROTONOSUPPORT:
		cmd_error("%s: this kernel has no audit, or was booted with audit=0", what);
		return CMD_NOT_PERMITTED;
	case -ETIME:
		cmd_error("%s: audit does not answer", what);
		return CMD_FAILED;
	default:
		cmd_error("%s: %s", what, strerror(-r));
		return CMD_FAILED;
	}
}

static size_t count_loaded(const struct audit_ruleset *s, const struct audit_loaded *loaded)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += audit_loaded_has(loaded, s->rules[i]);
	return n;
}

static int read_sets(struct rules *r)
{
	if (r->sets ||
	    audit_rulesets_read(&r->sets, &r->n, r->dir, r->error, sizeof(r->error)) >= 0)
		return CMD_DONE;
	cmd_error("%s", r->error);
	return CMD_FAILED;
}

static int list(struct rules *r)
{
	struct audit_loaded loaded = { .n = 0 };
	int known, status = read_sets(r);

	if (status)
		return status;
	known = r->fd < 0 ? r->fd : audit_loaded_read(&loaded, r->fd);
	for (size_t i = 0; i < r->n; i++) {
		const struct audit_ruleset *s = &r->sets[i];
		size_t n = count_loaded(s, &loaded);

		printf("%-10s %-8s %s\n", s->name,
		       known < 0   ? "?"
		       : n == s->n ? "loaded"
		       : n	   ? "partly"
				   : "-",
		       s->summary);
	}
	if (known < 0)
		cmd_note("which are loaded cannot be told: %s", strerror(-known));
	audit_loaded_done(&loaded);
	return CMD_DONE;
}

/* *ret is for audit_ruleset_done(). */
static int find(struct rules *r, const char *name, struct audit_ruleset *ret)
{
	if (audit_ruleset_find(ret, r->dir, name, r->error, sizeof(r->error)) >= 0)
		return CMD_DONE;
	cmd_error("%s", r->error);
	return CMD_FAILED;
}

/* Asks before anything is changed: the kernel's own answer under -e 2 is the one for a missing capability, too. */
static int check_unlocked(struct rules *r, struct audit_facts *facts)
{
	int e = r->fd < 0 ? r->fd : audit_control_status(r->fd, facts);

	if (e < 0)
		return fail(e, "audit cannot be asked");
	if (facts->enabled == 2) {
		cmd_error(
			"the audit rules of this host are locked until its next boot (auditctl -e 2); "
			"put the file into /etc/audit/rules.d, and reboot");
		return CMD_NOT_PERMITTED;
	}
	return CMD_DONE;
}

/* What will keep the new rules from telling anything, or what they will cost elsewhere. */
static void warn(struct rules *r)
{
	struct audit_report report = { .n = 0 };

	if (audit_control_status(r->fd, &report.facts) < 0 ||
	    audit_control_rule_facts(r->fd, &report.facts) < 0)
		return;
	audit_report_judge(&report, 0);
	for (size_t i = 0; i < report.n; i++) {
		const struct audit_finding *f = &report.findings[i];

		if (f->in_the_way || f->id == AUDIT_FINDING_NO_OWNER)
			cmd_note("%s%s%s", f->reason, f->remedy ? ": " : "",
				 f->remedy ? f->remedy : "");
	}
}

static int load_one(struct rules *r, const char *name)
{
	struct audit_ruleset s = { .n = 0 };
	int status = find(r, name, &s), n;

	if (status)
		return status;
	n = audit_ruleset_load(r->fd, &s);
	if (n < 0)
		status = fail(n, name);
	else if (!n)
		printf("%s: was loaded already\n", s.name);
	else
		printf("%s: %d rule%s loaded\n", s.name, n, n == 1 ? "" : "s");
	audit_ruleset_done(&s);
	return status;
}

static int unload_one(struct rules *r, const char *name)
{
	struct audit_ruleset s = { .n = 0 };
	int status = find(r, name, &s), n;

	if (status)
		return status;
	n = audit_ruleset_unload(r->fd, &s);
	if (n < 0)
		status = fail(n, name);
	else if (!n)
		printf("%s: was not loaded\n", s.name);
	else
		printf("%s: %d rule%s unloaded\n", s.name, n, n == 1 ? "" : "s");
	audit_ruleset_done(&s);
	return status;
}

static int unload_all(struct rules *r)
{
	int n = audit_rules_unload_all(r->fd);

	if (n < 0)
		return fail(n, "unload");
	printf("%d rule%s unloaded\n", n, n == 1 ? "" : "s");
	return CMD_DONE;
}

static int change(struct rules *r, bool load, int argc, char **argv)
{
	struct audit_facts facts = { 0 };
	int status = check_unlocked(r, &facts);

	if (status)
		return status;
	if (!load && !argc)
		return unload_all(r);
	for (int i = 0; i < argc && !status; i++)
		status = load ? load_one(r, argv[i]) : unload_one(r, argv[i]);
	if (load && !status) {
		fflush(stdout);
		warn(r);
	}
	return status;
}

static const char *switch_word(uint32_t enabled)
{
	return enabled == 2 ? "on, locked until the next boot" : enabled ? "on" : "off";
}

static int print_status(struct rules *r)
{
	struct audit_report report = { .n = 0 };
	struct audit_facts *f = &report.facts;
	int e = r->fd < 0 ? r->fd : audit_control_status(r->fd, f);

	if (!e)
		e = audit_control_rule_facts(r->fd, f);
	if (e < 0)
		return fail(e, "audit cannot be asked");
	audit_report_judge(&report, 0);
	printf("%-18s %s\n", "audit", switch_word(f->enabled));
	printf("%-18s %" PRIu32 ", of them %" PRIu32 " of exeunt\n", "rules", f->rules,
	       f->own_rules);
	printf("%-18s %" PRIu32 " of %" PRIu32 " queued, %" PRIu32 " lost since it counts\n",
	       "records", f->backlog, f->backlog_limit, f->lost);
	for (size_t i = 0; i < report.n; i++) {
		printf("%-18s %s\n", report.findings[i].in_the_way ? "in the way" : "note",
		       report.findings[i].reason);
		if (report.findings[i].remedy)
			printf("%-18s mend: %s\n", "", report.findings[i].remedy);
	}
	return CMD_DONE;
}

static int run(struct rules *r, int argc, char **argv)
{
	const char *word = argc ? argv[0] : NULL;

	if (!word)
		return cmd_usage_error("rules ", "list, load, unload or status is missing");
	if (!strcmp(word, "load") && argc > 1)
		return change(r, true, argc - 1, argv + 1);
	if (!strcmp(word, "load"))
		return cmd_usage_error("rules ", "load: the name of a set is missing");
	if (!strcmp(word, "unload"))
		return change(r, false, argc - 1, argv + 1);
	if (strcmp(word, "list") != 0 && strcmp(word, "status") != 0)
		return cmd_usage_error("rules ", "unknown word '%s'", word);
	if (argc > 1)
		return cmd_usage_error("rules ", "unexpected operand '%s'", argv[1]);
	return *word == 'l' ? list(r) : print_status(r);
}

/* Returns -1 to go on, or the exit status. */
static int parse(struct rules *r, int argc, char **argv)
{
	static const struct option longs[] = { { "dir", required_argument, NULL, 'd' },
					       { "help", no_argument, NULL, 'h' },
					       { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return CMD_DONE;
		}
		if (c == '?') {
			fprintf(stderr, "Try 'exeunt rules --help' for more information.\n");
			return CMD_USAGE;
		}
		r->dir = optarg;
	}
	return -1;
}

int cmd_rules(int argc, char **argv)
{
	struct rules r = { .dir = EXEUNT_RULESDIR };
	int status = parse(&r, argc, argv);

	if (status >= 0)
		return status;
	set_aumessage_mode(MSG_QUIET, DBG_NO);
	r.fd = audit_control_open();
	status = run(&r, argc - optind, argv + optind);
	close_fd(r.fd);
	audit_rulesets_free(r.sets, r.n);
	return status;
}
