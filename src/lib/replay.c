/* SPDX-License-Identifier: MIT */
/*
 * Files instead of the kernel: each is known by how it begins, several are put in order by when they begin, and what is
 * in them goes in by the same door as what is live.
 */
#include "lib/replay.h"

#include <sys/stat.h>

#include "base/util.h"

/* What files exeunt knows; a new kind is a line here. */
static const struct replay_format *const formats[] = { &replay_capture, &replay_audit,
						       &replay_pacct, &replay_store };

#define HEAD_BYTES INPUT_PEEK_MAX

void replay_start(struct exeunt *x, int64_t started_ns, uint32_t sources)
{
	for (size_t s = 0; s < ARRAY_SIZE(x->status); s++)
		if (sources & EXEUNT_SOURCE_BIT(s))
			x->status[s].state = EXEUNT_STATE_OPEN;
	join_flush(x->joiner); /* of a file before, whose sources may have been others */
	join_set_sources(x->joiner, sources, sources & EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_PACCT));
	if (x->started && !strcmp(x->info.host, x->announced.host) &&
	    !strcmp(x->info.boot_id, x->announced.boot_id))
		return;
	if (!x->started)
		x->started_ns = started_ns;
	x->started = true;
	x->announced = x->info;
	x->intake.real_ns = started_ns;
	engine_emit_status(x, EXEUNT_TYPE_START);
}

int replay_context(struct exeunt *x, bool untimed, bool same_boot)
{
	const struct context_options o = {
		.proc_path = "",
		.no_args = x->options.no_args,
		.redact = x->options.redact,
		.n_redact = x->options.n_redact,
	};
	size_t bad = 0;
	int r;

	if (x->context && x->intake.untimed == untimed && same_boot)
		return 0;
	join_flush(x->joiner); /* what waits is of the table that goes */
	context_free(TAKE(x->context));
	x->intake.untimed = untimed;
	r = context_new(&x->context, &o, &bad);
	x->intake.context = x->intake.cleaner = x->context;
	join_set_context(x->joiner, x->context);
	if (r == -EINVAL)
		return engine_fail(x, r, "not a regular expression: %s", x->options.redact[bad]);
	return r < 0 ? engine_fail(x, r, "not enough memory to replay a file") : 0;
}

ssize_t replay_next(struct exeunt *x, struct input *in, const uint8_t **data)
{
	ssize_t n;

	do
		n = input_next(in, data);
	while (n == -EINTR);
	if (n < 0)
		return engine_fail(x, n == -EBADMSG ? -EIO : (int)n, "%s", input_error(in));
	return n;
}

static const struct replay_format *recognise(const void *head, size_t len, bool whole)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (formats[i]->is(head, len, whole))
			return formats[i];
	return NULL;
}

struct file {
	const char *path;
	struct input *in;
	const struct replay_format *format;
	int64_t first_ns;
	size_t place; /* in the command: keeps the order of files that do not say when they began */
};

static int open_file(struct exeunt *x, struct file *f)
{
	const uint8_t *head;
	ssize_t len;
	int r = input_open(&f->in, f->path);

	if (r < 0)
		return engine_fail(x, r, "cannot read '%s': %s", f->path, strerror(-r));
	len = input_peek(f->in, HEAD_BYTES, &head);
	if (len < 0)
		return engine_fail(x, (int)len, "%s", input_error(f->in));
	if (!len)
		return engine_fail(x, -EBADMSG, "'%s' is empty", input_name(f->in));
	f->format = recognise(head, (size_t)len, (size_t)len < HEAD_BYTES);
	if (!f->format)
		return engine_fail(
			x, -EBADMSG,
			"'%s' is no file that exeunt knows: at offset 0 there is no capture, no accounting record "
			"and no audit record",
			input_name(f->in));
	f->first_ns = f->format->first_ns(head, (size_t)len);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x->place < y->place ? -1 : 1;
}

/* What was read of a pipe is gone. */
static bool can_be_opened_again(const char *path)
{
	struct stat st;

	return strcmp(path, "-") && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* Reads the beginnings, and closes again what waits for its turn: there may be more files than descriptors. */
static int look_at(struct exeunt *x, struct file *files, const char *const *paths, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct file *f = &files[i];
		int r;

		*f = (struct file){ .path = paths[i], .place = i };
		r = open_file(x, f);
		if (r < 0) {
			engine_message(x, 3, "%s", x->error);
			failed = failed ? failed : r;
			f->format = NULL;
		}
		if (!f->format || (n > 1 && can_be_opened_again(f->path)))
			input_close(TAKE(f->in));
	}
	return failed;
}

/* A file that does not say where it is from is taken to be of this host, whatever the one before was of. */
static int begin_file(struct exeunt *x)
{
	x->info = x->home;
	x->intake.delay_accounting = x->home.delay_accounting;
	if (x->users || x->options.numeric)
		return 0;
	return users_new(&x->users) < 0 ? engine_fail(x, -ENOMEM, "not enough memory to replay")
					: 0;
}

/* The next one has its own clock, message numbers and test children. */
static void end_file(struct exeunt *x)
{
	intake_end(&x->intake);
	join_flush(x->joiner);
	/* twice: a gap counts when two looks agree */
	intake_settle(&x->intake);
	intake_settle(&x->intake);
	ledger_restart(x->ledger);
	x->intake.n_own = 0;
}

static int replay_one(struct exeunt *x, struct file *f)
{
	int r = begin_file(x);

	if (r >= 0 && !f->in)
		r = open_file(x, f);
	if (r >= 0)
		r = f->format->replay(x, f->in);
	if (r < 0)
		engine_message(x, 3, "%s", x->error);
	end_file(x);
	input_close(TAKE(f->in));
	return r;
}

static int replay_all(struct exeunt *x, const char *const *paths, size_t n)
{
	_cleanup_free_
	struct file *files = calloc(n ? n : 1, sizeof(*files));
	int failed;

	if (!files)
		return -ENOMEM;
	failed = look_at(x, files, paths, n);
	qsort(files, n, sizeof(*files), by_time);
	for (size_t i = 0; i < n; i++) {
		int r = files[i].format && !x->stop_value ? replay_one(x, &files[i]) : 0;

		failed = failed ? failed : r;
	}
	for (size_t i = 0; i < n; i++)
		input_close(files[i].in);
	return failed;
}

int exeunt_replay(struct exeunt *x, const char *const *paths, size_t n)
{
	struct store_names files;
	int failed, r;

	x->intake.from_file = true;
	failed = replay_paths(x, &files, paths, n);
	if (failed == -ENOMEM)
		return failed;
	r = replay_all(x, (const char *const *)files.paths, files.n);
	store_names_done(&files);
	failed = failed ? failed : r;
	return failed ? failed : x->stop_value;
}
