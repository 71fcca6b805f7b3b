/* SPDX-License-Identifier: MIT */
/* See stream.h. */
#include "cmd/stream.h"

#include <sys/ioctl.h>

#include "base/clock.h"
#include "cmd/cmd.h"
#include "record/fields.h"
#include "sink/outfile.h"

#define FINISH_MS 2000
#define LOSS_ROOM 4096 /* bytes that the line of a loss may take */

static int open_filter(struct stream *s, const char *command)
{
	char error[FILTER_ERROR_SIZE], hint[32];
	int r;

	if (!s->options->filter)
		return -1;
	r = filter_new(&s->filter, s->options->filter, error, sizeof(error));
	if (r == -EINVAL) {
		fprintf(stderr, "exeunt: %s\n", error);
		return CMD_USAGE;
	}
	snprintf(hint, sizeof(hint), "%s ", command);
	return r < 0 ? cmd_usage_error(hint, "--filter: %s", strerror(-r)) : -1;
}

static enum outfile_how how_to_open(const struct options *o)
{
	if (o->append)
		return OUTFILE_ADD;
	return o->pacct_state ? OUTFILE_KEEP : OUTFILE_REPLACE;
}

static int open_output(struct stream *s)
{
	const char *path = s->options->output;
	int r;

	s->fd = STDOUT_FILENO;
	if (path && strcmp(path, "-")) {
		s->fd = outfile_open(path, how_to_open(s->options));
		if (s->fd < 0) {
			cmd_error("cannot open '%s' for writing: %s", path, strerror(-s->fd));
			return CMD_FAILED;
		}
	}
	r = output_new(&s->output, s->fd, s->options->buffer);
	if (r < 0) {
		cmd_error("cannot write to %s: %s", path ? path : "standard output", strerror(-r));
		return CMD_FAILED;
	}
	s->terminal = isatty(s->fd);
	return -1;
}

static bool want_color(const struct stream *s)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (s->options->color != COLOR_AUTO)
		return s->options->color == COLOR_ALWAYS;
	return s->terminal && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

/* COLUMNS counts where people set it, as it does for ps(1). */
int stream_width(const struct stream *s)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int n = columns ? atoi(columns) : 0;

	if (n > 0)
		return n;
	if (!s->terminal || ioctl(s->fd, TIOCGWINSZ, &size))
		return 0;
	return size.ws_col ? size.ws_col : 80;
}

static int make_text(struct stream *s)
{
	struct text_options o = { .width = stream_width(s),
				  .color = want_color(s),
				  .utc = s->options->utc,
				  .history = s->options->history };
	struct text *text;
	int r = text_new(&text, &o);

	if (r < 0)
		return r;
	text_free(s->text);
	s->text = text;
	return 0;
}

int stream_open(struct stream *s, const struct options *o, const char *command)
{
	int r;

	*s = (struct stream){ .options = o, .fd = -1 };
	r = open_filter(s, command);
	if (r < 0)
		r = open_output(s);
	if (r >= 0)
		return r;
	if (!o->json && make_text(s) < 0) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	return -1;
}

void stream_close(struct stream *s)
{
	output_free(s->output);
	filter_free(s->filter);
	json_free(s->json);
	text_free(s->text);
	if (s->fd > STDERR_FILENO)
		close_fd(s->fd);
}

void stream_resize(struct stream *s)
{
	if (s->text)
		make_text(s); /* without memory the old width stays */
}

bool stream_is_done(const struct stream *s)
{
	return s->options->count && s->shown >= s->options->count;
}

static int write_json(struct stream *s, const struct exeunt_record *r)
{
	/* the name of a replayed host comes from the file, and the next file may be of another one */
	if (r->type == EXEUNT_TYPE_START)
		json_free(TAKE(s->json));
	if (!s->json && json_new(&s->json, exeunt_host_name(s->x), exeunt_boot_id(s->x)) < 0)
		return -ENOMEM;
	return json_write(s->json, r, s->output);
}

static int write_text(struct stream *s, const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_START || r->type == EXEUNT_TYPE_STATUS ||
	    r->type == EXEUNT_TYPE_STOP)
		return 0; /* those go to stderr, from the command */
	if (!s->header_out && (record_is_about_process(r) || r->type == EXEUNT_TYPE_LOSS)) {
		s->header_out = true;
		text_header(s->text, s->output);
	}
	return text_write(s->text, r, s->output);
}

/*
 * A chunk goes out as soon as it is full: the next one is then written where the last one was, in the cache still.
 */
static int write_record(struct stream *s, const struct exeunt_record *r)
{
	int written = s->options->json ? write_json(s, r) : write_text(s, r);

	if (output_pending(s->output) >= OUTPUT_CHUNK && !s->error && !s->resume.path)
		output_flush(s->output);
	return written;
}

/* How long a slow reader is waited for: for ever where nothing runs away, not at all while listening, a little at the end. */
static int patience_ms(const struct stream *s)
{
	if (s->batch)
		return -1;
	return s->until_ns ? (int)(MAX(s->until_ns - mono_now(), 0) / NS_PER_MSEC) : 0;
}

int stream_record(const struct exeunt_record *r, void *userdata)
{
	struct stream *s = userdata;
	int written;

	if (record_is_about_process(r) &&
	    ((s->filter && !filter_match(s->filter, r)) || stream_is_done(s))) {
		exeunt_keep_back(s->x, r);
		return 0;
	}
	if (r->type == EXEUNT_TYPE_EXIT)
		s->shown++;
	if (r->type == EXEUNT_TYPE_STOP)
		text_summary(r, s->summary, sizeof(s->summary));
	written = write_record(s, r);
	if (written && patience_ms(s)) {
		output_drain(s->output, patience_ms(s));
		written = write_record(s, r);
	}
	if (written) {
		if (!s->dropped++)
			s->dropped_from_ns = r->time_ns;
		s->dropped_to_ns = r->time_ns;
	}
	return stream_is_done(s) || output_error(s->output) == EPIPE;
}

void stream_message(int level, const char *text, void *userdata)
{
	const struct stream *s = userdata;

	if (level <= 3 || !s->options->quiet)
		cmd_error("%s", text);
}

/* Told as soon as there is room again: a reader that is always slower never takes all. In a gap of `seq` besides. */
static void tell_dropped(struct stream *s)
{
	struct exeunt_loss loss = {
		.source = EXEUNT_SOURCE_OUTPUT,
		.cause = EXEUNT_LOSS_SLOW_SINK,
		.count = s->dropped,
		.exact = true,
		.cpu = -1,
		.window_start_ns = s->dropped_from_ns,
		.window_end_ns = s->dropped_to_ns,
	};

	if (!s->dropped)
		return;
	s->dropped = 0;
	exeunt_report_loss(s->x, &loss);
}

int stream_resume(struct stream *s)
{
	return resume_begin(&s->resume, s->options->pacct_state, s->fd) < 0 ? CMD_FAILED : -1;
}

/* With a state to keep, what is written and what it says go together. */
static int write_out(struct stream *s)
{
	int64_t now = s->resume.path ? mono_now() : 0;

	s->waiting = resume_may_wait(&s->resume, now) && output_pending(s->output) < OUTPUT_CHUNK;
	if (s->waiting)
		return 0;
	if (s->resume.path) {
		exeunt_settle(s->x);
		resume_before_flush(&s->resume, s->x, s->output, now);
	}
	return output_flush(s->output);
}

int stream_flush(struct stream *s)
{
	int r = write_out(s);

	if (r == -EPIPE)
		return r;
	if (r < 0 && s->error != -r)
		cmd_error(
			"writing to %s failed: %s; records are kept as far as the buffer goes, and tried again",
			s->options->output ? s->options->output : "standard output", strerror(-r));
	if (r >= 0 && s->error)
		cmd_error("writing works again");
	s->error = r < 0 ? -r : 0;
	if (r >= 0 && s->dropped && output_has_room(s->output, LOSS_ROOM)) {
		tell_dropped(s);
		r = output_flush(s->output);
	}
	return r < 0 && r != -EPIPE ? 1 : r;
}

int stream_stop(struct stream *s)
{
	int r;

	s->until_ns = mono_now() + FINISH_MS * NS_PER_MSEC;
	if (s->dropped) {
		output_drain(s->output, FINISH_MS);
		tell_dropped(s);
	}
	r = exeunt_stop(s->x);
	stream_flush(s);
	return r;
}

int stream_finish(struct stream *s)
{
	int r;

	resume_before_flush(&s->resume, s->x, s->output, 0);
	r = output_drain(s->output, s->batch ? -1 : FINISH_MS);
	if (r >= 0)
		resume_end(&s->resume, s->x);

	if (r == -EPIPE)
		return CMD_DONE;
	if (r == -ETIME)
		cmd_error("the reader of the output did not take the last %zu bytes",
			  output_pending(s->output));
	else if (r < 0)
		cmd_error("writing to %s failed: %s",
			  s->options->output ? s->options->output : "standard output",
			  strerror(-r));
	return r < 0 ? CMD_FAILED : CMD_DONE;
}
