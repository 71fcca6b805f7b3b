/* SPDX-License-Identifier: MIT */
/* exeunt check: what can be collected here, proven by children that end, and what cannot, why, and what mends it. */
#include "cmd/check.h"

#include <inttypes.h>
#include <sys/utsname.h>

#include "cmd/cmd.h"
#include "cmd/options.h"

static const char usage[] =
	"Usage: exeunt check [OPTION]...\n"
	"Tell for each source whether it works on this host, what was found, and what mends it. Changes nothing.\n"
	"Exit status: 0 if exits can be collected here, 3 if not.\n";

#define INDENT "                          "

static void print_remedy(const char *remedy)
{
	if (remedy && *remedy)
		printf(INDENT "mend: %s\n", remedy);
}

static void print_text(const struct check *c, const struct utsname *name)
{
	printf("%-18s %s %s\n", "kernel", name->release, name->machine);
	for (size_t i = 0; i < c->n; i++) {
		const struct check_row *row = &c->rows[i];

		printf("%-18s %-6s %s\n", row->name, row->word, row->text);
		print_remedy(row->remedy);
		for (size_t k = 0; k < row->n_notes; k++) {
			printf(INDENT "%s%s\n",
			       row->notes[k].in_the_way ? "in the way: " : "note: ",
			       row->notes[k].reason);
			print_remedy(row->notes[k].remedy);
		}
	}
	if (!c->collects)
		printf("%-18s %s\n", "in all", "the exits of processes cannot be collected here");
}

/* Control characters are in none of these texts. */
static void print_json_text(const char *key, const char *text)
{
	if (!text || !*text)
		return;
	printf(",\"%s\":\"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static const char *boolean(bool b)
{
	return b ? "true" : "false";
}

static void print_json_notes(const struct check_row *row)
{
	printf(",\"notes\":[");
	for (size_t i = 0; i < row->n_notes; i++) {
		printf("%s{\"in_the_way\":%s", i ? "," : "", boolean(row->notes[i].in_the_way));
		print_json_text("reason", row->notes[i].reason);
		print_json_text("remedy", row->notes[i].remedy);
		putchar('}');
	}
	putchar(']');
}

static void print_json_row(const struct check_row *row)
{
	printf("{\"name\":\"%s\",\"state\":\"%s\",\"works\":%s,\"tested\":%s", row->name, row->word,
	       boolean(row->works), boolean(row->tested));
	print_json_text("text", row->text);
	print_json_text("remedy", row->remedy);
	print_json_text("detail", row->detail);
	if (row->version)
		printf(",\"version\":%d", row->version);
	if (row->sockets)
		printf(",\"sockets\":%u,\"receive_buffer_bytes\":%" PRIu64, row->sockets,
		       row->receive_buffer);
	if (row->n_notes)
		print_json_notes(row);
	putchar('}');
}

static void print_json(const struct check *c, const struct utsname *name)
{
	bool first = true;

	printf("{\"schema\":\"%s\",\"type\":\"check\",\"collects\":%s", EXEUNT_SCHEMA,
	       boolean(c->collects));
	print_json_text("kernel_release", name->release);
	for (size_t i = 0; i < c->n; i++)
		if (!c->rows[i].is_source)
			printf(",\"delay_accounting\":%s", boolean(c->delays));
	printf(",\"sources\":[");
	for (size_t i = 0; i < c->n; i++) {
		if (!c->rows[i].is_source)
			continue;
		if (!first)
			putchar(',');
		first = false;
		print_json_row(&c->rows[i]);
	}
	printf("]}\n");
}

int cmd_check(int argc, char **argv)
{
	static struct check c;
	struct utsname name = { 0 };
	struct options o;
	int status = options_parse(&o, argc, argv, "check", OPTIONS_JSON, usage), r;

	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("check ", "unexpected operand '%s'", argv[o.first_operand]);
	r = check_run(&c);
	if (r < 0) {
		cmd_error("cannot begin: %s", strerror(-r));
		return CMD_FAILED;
	}
	uname(&name);
	if (o.json)
		print_json(&c, &name);
	else
		print_text(&c, &name);
	return c.collects ? CMD_DONE : CMD_NOT_PERMITTED;
}
