/* SPDX-License-Identifier: MIT */
/* exeunt check: what can be collected here, proven by a child that ends, and what cannot, why, and what mends it. */
#include "cmd/cmd.h"

#include <inttypes.h>
#include <sys/utsname.h>

#include "cmd/options.h"

#include <exeunt/exeunt.h>

static const char usage[] =
	"Usage: exeunt check [OPTION]...\n"
	"Tell for each source whether it works on this host, proven, and if not what mends it.\n"
	"Exit status: 0 if exits can be collected here, 3 if not.\n";

struct findings {
	struct exeunt *x;
	bool collects; /* the start record came */
	bool delays;
};

static int on_record(const struct exeunt_record *r, void *userdata)
{
	struct findings *f = userdata;

	if (r->type != EXEUNT_TYPE_START)
		return 0;
	f->collects = true;
	f->delays = r->status->delay_accounting;
	return 0;
}

static const char *word(const struct exeunt_source_status *s)
{
	switch (s->state) {
	case EXEUNT_STATE_OPEN:
		return "works";
	case EXEUNT_STATE_OFF:
		return "off";
	default:
		return "no";
	}
}

static void print_works(const struct exeunt_source_status *s)
{
	printf("%-18s %-6s version %d, %u CPU%s, receive buffer %" PRIu64
	       " KiB each; the exit of a test process arrived from every one\n",
	       exeunt_source_name(s->source), word(s), s->version, s->sockets,
	       s->sockets == 1 ? "" : "s", s->receive_buffer / 1024);
}

static void print_text(const struct findings *f)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(f->x, &n);
	struct utsname name = { 0 };

	uname(&name);
	printf("%-18s %s %s\n", "kernel", name.release, name.machine);
	for (size_t i = 0; i < n; i++) {
		if (s[i].state == EXEUNT_STATE_OFF)
			continue;
		if (s[i].state == EXEUNT_STATE_OPEN) {
			print_works(&s[i]);
			continue;
		}
		printf("%-18s %-6s %s\n", exeunt_source_name(s[i].source), word(&s[i]),
		       s[i].reason);
		if (s[i].remedy)
			printf("%-25s mend: %s\n", "", s[i].remedy);
	}
	if (!f->collects)
		return;
	printf("%-18s %-6s %s\n", "delay accounting", f->delays ? "on" : "off",
	       f->delays ? "for processes that began since it was switched on"
			 : "delays other than the CPU's are not kept");
	if (!f->delays)
		printf("%-25s mend: sysctl kernel.task_delayacct=1\n", "");
}

static void print_json_text(const char *key, const char *text)
{
	printf(",\"%s\":\"", key);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void print_json(const struct findings *f)
{
	size_t n;
	const struct exeunt_source_status *s = exeunt_sources(f->x, &n);
	struct utsname name = { 0 };
	bool first = true;

	uname(&name);
	printf("{\"schema\":\"%s\",\"type\":\"check\",\"collects\":%s", EXEUNT_SCHEMA,
	       f->collects ? "true" : "false");
	print_json_text("kernel_release", name.release);
	if (f->collects)
		printf(",\"delay_accounting\":%s", f->delays ? "true" : "false");
	printf(",\"sources\":[");
	for (size_t i = 0; i < n; i++) {
		if (s[i].state == EXEUNT_STATE_OFF)
			continue;
		printf("%s{\"name\":\"%s\",\"works\":%s", first ? "" : ",",
		       exeunt_source_name(s[i].source),
		       s[i].state == EXEUNT_STATE_OPEN ? "true" : "false");
		first = false;
		if (s[i].version)
			printf(",\"version\":%d", s[i].version);
		if (s[i].sockets)
			printf(",\"sockets\":%u,\"receive_buffer_bytes\":%" PRIu64, s[i].sockets,
			       s[i].receive_buffer);
		if (s[i].state != EXEUNT_STATE_OPEN && s[i].reason)
			print_json_text("reason", s[i].reason);
		if (s[i].state != EXEUNT_STATE_OPEN && s[i].remedy)
			print_json_text("remedy", s[i].remedy);
		printf("}");
	}
	printf("]}\n");
}

int cmd_check(int argc, char **argv)
{
	struct options o;
	struct findings f = { 0 };
	struct exeunt_options options = { .size = sizeof(options),
					  .on_record = on_record,
					  .userdata = &f };
	int status = options_parse(&o, argc, argv, "check", OPTIONS_JSON, usage), r;

	if (status >= 0)
		return status;
	if (o.first_operand < argc)
		return cmd_usage_error("check ", "unexpected operand '%s'", argv[o.first_operand]);
	r = exeunt_new(&f.x, &options);
	if (r < 0) {
		cmd_error("cannot begin: %s", strerror(-r));
		return CMD_FAILED;
	}
	if (exeunt_open(f.x) >= 0)
		exeunt_start(f.x);
	if (o.json)
		print_json(&f);
	else
		print_text(&f);
	exeunt_free(f.x);
	return f.collects ? CMD_DONE : CMD_NOT_PERMITTED;
}
