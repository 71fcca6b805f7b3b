/* SPDX-License-Identifier: MIT */
/*
 * sourcedump: opens one source by itself and prints what it hands on, for the live tests of the sources.
 *
 *	sourcedump SOURCE [--audit MODE] [--rcvbuf BYTES] [--sleep-until-input] [--drop]
 *
 * Prints one JSON object a line: {"open":R,...} with the status, then {"frame":...} for each frame, data in hex. At a
 * line on standard input it drains and checks once more (with --sleep-until-input only then, so that the kernel's
 * queues fill); at its end or at SIGTERM it closes the source, and prints {"end":...} with the status. --drop: gives up
 * all capabilities once it is open. With --audit stdin the audit stream is on standard input, and SIGTERM ends it.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <exeunt/exeunt.h>

#include "base/privileges.h"
#include "base/util.h"
#include "source/audit.h"
#include "source/source.h"

static const struct source_ops *const sources[] = {
	&source_taskstats,
	&source_procevents,
	&source_audit,
};

static struct exeunt_source_status status;

static void print_text(const char *key, const char *text)
{
	if (!text)
		return;
	printf(",\"%s\":\"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
	printf("\"");
}

static void print_status(const char *word, int r)
{
	printf("{\"%s\":%d,\"state\":%d,\"error\":%d,\"messages\":%" PRIu64 ",\"lost\":%" PRIu64
	       ",\"receive_buffer\":%" PRIu64 ",\"sockets\":%" PRIu32,
	       word, r, (int)status.state, status.error, status.messages, status.lost,
	       status.receive_buffer, status.sockets);
	print_text("reason", status.reason);
	print_text("remedy", status.remedy);
	printf("}\n");
	fflush(stdout);
}

static int on_frame(const struct frame *f, void *userdata)
{
	static const char *const kinds[] = { "?", "data", "lost", "empty", "selftest" };
	const unsigned char *p = f->data;

	(void)userdata;
	if (f->kind == FRAME_EMPTY)
		return 0;
	printf("{\"frame\":\"%s\",\"channel\":%d,\"mono\":%" PRId64 ",\"since\":%" PRId64,
	       kinds[f->kind], f->channel, f->mono_ns, f->since_ns);
	if (f->kind == FRAME_LOST) {
		printf(",\"count\":%" PRIu64 "}\n", load_u64(f->data));
		return 0;
	}
	printf(",\"data\":\"");
	for (size_t i = 0; i < f->len; i++)
		printf("%02x", p[i]);
	printf("\"}\n");
	return 0;
}

static void print_messages(struct source *s)
{
	const char *text;
	int level;

	while (s->ops->message && (text = s->ops->message(s, &level))) {
		printf("{\"level\":%d", level);
		print_text("message", text);
		printf("}\n");
	}
}

static int drain(struct source *s, bool woken)
{
	bool more;
	int r;

	do {
		r = s->ops->drain(s, woken, on_frame, NULL, &more);
	} while (r >= 0 && more);
	if (r >= 0)
		r = s->ops->check(s, on_frame, NULL);
	print_messages(s);
	fflush(stdout);
	return r;
}

static int run(struct source *s, bool only_asked, int command_fd, int signal_fd)
{
	struct pollfd p[] = { { .fd = signal_fd, .events = POLLIN },
			      { .fd = command_fd, .events = POLLIN },
			      { .fd = only_asked ? -1 : s->ops->fd(s), .events = POLLIN } };
	char line[256];
	int r = 0;

	while (r >= 0 && !p[0].revents) {
		ssize_t n;

		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			continue;
		r = drain(s, p[2].revents != 0);
		if (!p[1].revents)
			continue;
		n = read(command_fd, line, sizeof(line));
		if (n <= 0)
			break;
		printf("{\"asked\":%zd}\n", n);
		fflush(stdout);
	}
	if (r >= 0)
		r = drain(s, false);
	if (r >= 0 && s->ops->finish)
		r = s->ops->finish(s, on_frame, NULL);
	print_messages(s);
	return r;
}

static int watch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static const struct source_ops *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (name && !strcmp(exeunt_source_name(sources[i]->id), name))
			return sources[i];
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "rcvbuf", required_argument, NULL, 'r' },
					       { "sleep-until-input", no_argument, NULL, 's' },
					       { "drop", no_argument, NULL, 'd' },
					       { "audit", required_argument, NULL, 'a' },
					       { NULL, 0, NULL, 0 } };
	struct source_options o = { 0 };
	bool only_asked = false, drop = false;
	const struct source_ops *ops;
	struct source *s = NULL;
	char error[256];
	int c, r;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'r')
			o.receive_buffer = (uint32_t)strtoul(optarg, NULL, 10);
		if (c == 'a' && audit_mode_parse(&o.audit_mode, optarg) < 0)
			return 2;
		only_asked |= c == 's';
		drop |= c == 'd';
		if (c == '?')
			return 2;
	}
	ops = find(argv[optind]);
	if (!ops)
		return 2;
	status.source = ops->id;
	r = ops->open(&s, &o, &status);
	print_status("open", r);
	if (r < 0)
		return 1;
	if (drop && privileges_drop(NULL, 0, error, sizeof(error)) < 0)
		return 1;
	r = run(s, only_asked, o.audit_mode == AUDIT_MODE_STDIN ? -1 : STDIN_FILENO,
		watch_signals());
	print_status("end", r);
	ops->free(s);
	return r < 0;
}
