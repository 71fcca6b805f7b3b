/* SPDX-License-Identifier: MIT */
/*
 * pacctdump: the source of accounting records by itself, with its decoder, for the live tests.
 *
 *	pacctdump MODE [--state FILE] [--dir DIR] [--bound BYTES] [--force] [--keep | --privileged]
 *
 * Prints one JSON object a line: {"open":R,...} with the status; {"pid":N,"comm":"..."} for each
 * record (phantom and selftest ones too, marked); {"file":OFFSET}, {"lost":SECONDS} with the length
 * of the window, {"message":"..."}, {"state":N,...} when that changed. A line on standard input is
 * a note: everything is drained, and the position saved with the note; answered by {"saved":R}. At
 * the end of input the source is finished, drained, saved and freed. It gives up all capabilities.
 * --keep: but those that the source says it needs; --privileged: none.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>

#include "base/clock.h"
#include "base/privileges.h"
#include "base/util.h"
#include "decode/pacct_stream.h"
#include "source/pacct.h"

static struct exeunt_source_status status = { .source = EXEUNT_SOURCE_PACCT };
static struct pacct_stream stream;
static uint64_t offset;
static struct source *source;
static bool begun;
static int32_t own[1024];
static unsigned int n_own;

static void print_text(const char *key, const char *text)
{
	printf("\"%s\":\"", key);
	for (; *text; text++)
		printf(*text == '"' || *text == '\\' ? "\\%c"
		       : *text < ' '		     ? "\\u%04x"
						     : "%c",
		       *text);
	printf("\"");
}

static void print_status(const char *word, int r)
{
	printf("{\"%s\":%d,\"state\":%d,\"error\":%d", word, r, (int)status.state, status.error);
	if (status.reason) {
		printf(",");
		print_text("reason", status.reason);
	}
	if (status.remedy) {
		printf(",");
		print_text("remedy", status.remedy);
	}
	if (source) {
		printf(",\"keep\":%" PRIu64 ",", source->keep_capabilities);
		print_text("note", pacct_source_note(source));
	}
	printf("}\n");
}

static bool is_own(uint32_t pid)
{
	for (unsigned int i = 0; i < n_own; i++) {
		if (own[i] == (int32_t)pid) {
			own[i] = own[--n_own];
			return true;
		}
	}
	return false;
}

static int on_exit_record(const struct pacct_exit *e, void *userdata)
{
	(void)userdata;
	printf("{\"pid\":%" PRIu32 ",\"ppid\":%" PRIu32 ",\"status\":%" PRIu32 ",", e->pid, e->ppid,
	       e->status);
	print_text("comm", e->comm);
	printf("%s%s}\n", e->phantom ? ",\"phantom\":true" : "",
	       is_own(e->pid) ? ",\"selftest\":true" : "");
	return 0;
}

static void on_damage(uint64_t at, uint64_t bytes, enum pacct_damage damage, void *userdata)
{
	(void)userdata;
	(void)damage;
	printf("{\"damage\":%" PRIu64 ",\"at\":%" PRIu64 "}\n", bytes, at);
}

static void begin(uint64_t at)
{
	if (begun)
		pacct_stream_end(&stream);
	begun = true;
	offset = at;
	pacct_stream_init(&stream, at, on_exit_record, on_damage, NULL);
}

static int on_frame(const struct frame *f, void *userdata)
{
	(void)userdata;
	switch (f->kind) {
	case FRAME_FILE:
		begin(load_u64(f->data));
		printf("{\"file\":%" PRIu64 "}\n", offset);
		break;
	case FRAME_DATA:
		pacct_stream_feed(&stream, offset, f->data, f->len);
		offset += f->len;
		pacct_source_undecoded(source, (size_t)(offset - pacct_stream_offset(&stream)));
		break;
	case FRAME_LOST:
		printf("{\"lost\":%.3f,\"count\":%" PRIu64 "}\n",
		       (double)(f->mono_ns - f->since_ns) / NS_PER_SEC, load_u64(f->data));
		break;
	case FRAME_SELFTEST:
		if (n_own < ARRAY_SIZE(own))
			own[n_own++] = (int32_t)load_u32(f->data);
		break;
	case FRAME_EMPTY:
		break;
	}
	return 0;
}

static void print_messages(void)
{
	static enum exeunt_source_state before;
	const char *text;
	int level;

	while ((text = source->ops->message(source, &level))) {
		printf("{\"level\":%d,", level);
		print_text("message", text);
		printf("}\n");
	}
	if (before && status.state != before)
		print_status("changed", 0);
	before = status.state;
	fflush(stdout);
}

static int drain(bool woken)
{
	bool more;
	int r;

	do {
		r = source->ops->drain(source, woken, on_frame, NULL, &more);
	} while (r >= 0 && more);
	if (r >= 0)
		r = source->ops->check(source, on_frame, NULL);
	print_messages();
	return r;
}

static int run(void)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN },
			      { .fd = source->ops->fd(source), .events = POLLIN } };
	char note[256];
	int r = 0;

	while (r >= 0) {
		ssize_t n;

		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			continue;
		r = drain(p[1].revents != 0);
		if (!p[0].revents || r < 0)
			continue;
		n = read(STDIN_FILENO, note, sizeof(note) - 1);
		if (n <= 0)
			break;
		note[n - 1] = '\0';
		printf("{\"saved\":%d}\n", pacct_source_save(source, note));
		fflush(stdout);
	}
	if (r >= 0)
		r = source->ops->finish(source, on_frame, NULL);
	if (begun)
		pacct_stream_end(&stream);
	pacct_source_undecoded(source, 0);
	printf("{\"saved\":%d}\n", pacct_source_save(source, "end"));
	print_messages();
	return r;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "state", required_argument, NULL, 's' },
					       { "dir", required_argument, NULL, 'd' },
					       { "bound", required_argument, NULL, 'b' },
					       { "force", no_argument, NULL, 'f' },
					       { "keep", no_argument, NULL, 'k' },
					       { "privileged", no_argument, NULL, 'p' },
					       { NULL, 0, NULL, 0 } };
	static char text[512];
	struct source_options o = { .text = text, .text_size = sizeof(text) };
	bool keep = false, privileged = false;
	char error[256];
	int c, r;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			o.pacct_state = optarg;
			break;
		case 'd':
			o.pacct_dir = optarg;
			break;
		case 'b':
			o.pacct_bound = strtoull(optarg, NULL, 10);
			break;
		case 'f':
			o.pacct_force = true;
			break;
		case 'k':
			keep = true;
			break;
		case 'p':
			privileged = true;
			break;
		default:
			return 2;
		}
	}
	o.pacct_mode = argv[optind];
	r = source_pacct.open(&source, &o, &status);
	print_status("open", r);
	fflush(stdout);
	if (r < 0)
		return 1;
	if (!privileged &&
	    privileges_drop(NULL, keep ? source->keep_capabilities : 0, error, sizeof(error)) < 0)
		return 1;
	print_messages();
	r = run();
	source_pacct.free(source);
	source = NULL;
	print_status("end", r);
	return r < 0;
}
