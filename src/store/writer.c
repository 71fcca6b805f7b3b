/* SPDX-License-Identifier: MIT */
/* See writer.h. */
#include "store/writer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "store/directory.h"

#define SEGMENT_NS (3600 * NS_PER_SEC)
#define SEGMENT_BYTES (UINT64_C(256) << 20)
#define SEGMENTS 16

struct store_writer {
	struct store_options options;
	char dir[STORE_PATH_SIZE], path[STORE_PATH_SIZE]; /* of the segment that grows */
	int lock_fd;
	struct segment *segment; /* NULL: begun with the next record */
	int64_t begun_ns;
	int64_t next_id;
	struct store_run run;
	uint64_t bytes; /* of the segments that do not grow any more */
	size_t n_segments;
	char error[STORE_PATH_SIZE + 512];
};

PRINTF(3, 4)
static void say(struct store_writer *w, int level, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (!w->options.say)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	w->options.say(level, text, w->options.userdata);
}

static void rename_with(const char *path, const char *suffix, const char *behind)
{
	char from[STORE_PATH_SIZE + 16], to[STORE_PATH_SIZE + 32];

	snprintf(from, sizeof(from), "%s%s", path, suffix);
	snprintf(to, sizeof(to), "%s%s", from, behind);
	rename(from, to);
}

static void set_aside(struct store_writer *w, const char *path, const char *why)
{
	say(w, 3, "segment set aside as '%s.damaged', the others go on: %s", path, why);
	rename_with(path, "", ".damaged");
	rename_with(path, "-wal", ".damaged");
	rename_with(path, "-shm", ".damaged");
}

static void remove_segment(const char *path)
{
	char other[STORE_PATH_SIZE + 16];

	unlink(path);
	snprintf(other, sizeof(other), "%s-wal", path);
	unlink(other);
	snprintf(other, sizeof(other), "%s-shm", path);
	unlink(other);
}

static int lock(struct store_writer *w, char *error, size_t size)
{
	char path[STORE_PATH_SIZE + 8];

	if (mkdir(w->dir, 0750) && errno != EEXIST) {
		snprintf(error, size, "cannot make the directory '%s': %s", w->dir,
			 strerror(errno));
		return -errno;
	}
	snprintf(path, sizeof(path), "%s/lock", w->dir);
	w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (w->lock_fd < 0) {
		snprintf(error, size, "cannot open '%s': %s", path, strerror(errno));
		return -errno;
	}
	if (!flock(w->lock_fd, LOCK_EX | LOCK_NB))
		return 0;
	snprintf(error, size, "another process writes to the store '%s'", w->dir);
	return -EBUSY;
}

static int begin_segment(struct store_writer *w, int64_t now_ns)
{
	int r = store_segment_path(w->path, w->dir, w->next_id, now_ns);

	if (r < 0) {
		snprintf(w->error, sizeof(w->error), "the path '%s' is too long", w->dir);
		return r;
	}
	r = segment_open(&w->segment, w->path, w->error, sizeof(w->error));
	if (r < 0)
		return r;
	w->begun_ns = now_ns;
	r = segment_begin(w->segment);
	if (r >= 0)
		r = segment_add_run(w->segment, &w->run);
	if (r >= 0)
		r = segment_commit(w->segment);
	if (r < 0) {
		snprintf(w->error, sizeof(w->error), "%s: %s", w->path, segment_error(w->segment));
		segment_free(TAKE(w->segment));
		remove_segment(w->path);
	}
	return r;
}

static void end_segment(struct store_writer *w)
{
	if (!w->segment)
		return;
	if (segment_finish(w->segment) < 0)
		say(w, 4, "%s: %s", w->path, segment_error(w->segment));
	segment_free(TAKE(w->segment));
	w->bytes += segment_bytes(w->path);
	w->n_segments++;
}

static int add_all(struct store_writer *w, const struct store_item *items, size_t n)
{
	int r = segment_begin(w->segment);

	for (size_t i = 0; i < n && r >= 0; i++)
		r = segment_add(w->segment, w->next_id + (int64_t)i, w->run.id, items[i].record,
				items[i].json, items[i].json_len);
	if (r >= 0)
		r = segment_commit(w->segment);
	if (r >= 0) {
		w->next_id += (int64_t)n;
		return 0;
	}
	snprintf(w->error, sizeof(w->error), "%s: %s", w->path, segment_error(w->segment));
	segment_give_up(w->segment);
	return r;
}

int store_writer_add(struct store_writer *w, const struct store_item *items, size_t n,
		     int64_t now_ns)
{
	for (int attempt = 0;; attempt++) {
		int r = w->segment ? 0 : begin_segment(w, now_ns);

		if (r >= 0)
			r = add_all(w, items, n);
		if (r != -EBADMSG || attempt || !w->segment)
			return r;
		segment_free(TAKE(w->segment));
		set_aside(w, w->path, w->error);
	}
}

static void add_loss(struct store_writer *w, const struct exeunt_loss *loss, int64_t now_ns)
{
	const struct exeunt_record r = { .size = sizeof(r),
					 .version = EXEUNT_RECORD_VERSION,
					 .type = EXEUNT_TYPE_LOSS,
					 .time_ns = now_ns,
					 .loss = loss };
	const struct store_item item = { .record = &r };

	if (store_writer_add(w, &item, 1, now_ns) < 0)
		say(w, 3, "a loss could not be told in the store: %s", w->error);
}

/* Returns whether it is gone. */
static bool drop_oldest(struct store_writer *w, const char *path, int64_t now_ns)
{
	struct segment_extent extent;
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_OUTPUT,
				    .cause = EXEUNT_LOSS_RETENTION,
				    .exact = true,
				    .cpu = -1 };
	uint64_t bytes = segment_bytes(path);
	char error[512];

	if (segment_look(path, &extent, error, sizeof(error)) < 0) {
		set_aside(w, path, error);
	} else {
		/* what it has told of others goes with it, and is told again */
		loss.count = extent.exits + extent.gone;
		loss.window_start_ns = MIN(extent.first_ns, extent.gone_from_ns);
		loss.window_end_ns = extent.last_ns;
		remove_segment(path);
		add_loss(w, &loss, now_ns);
	}
	w->bytes -= MIN(bytes, w->bytes);
	w->n_segments -= w->n_segments != 0;
	return true;
}

static bool is_too_old(struct store_writer *w, const char *path, int64_t now_ns)
{
	struct segment_extent extent;
	char error[512];

	if (!w->options.keep_ns || segment_look(path, &extent, error, sizeof(error)) < 0)
		return false;
	return extent.last_ns && extent.last_ns < now_ns - w->options.keep_ns;
}

static void drop_old(struct store_writer *w, int64_t now_ns)
{
	struct store_names names;
	size_t n;

	if (store_list(&names, w->dir) < 0)
		return;
	/* the one that grows stays, whatever the options say */
	n = names.n - (names.n && w->segment);
	for (size_t i = 0; i < n; i++) {
		uint64_t all = w->bytes + (w->segment ? segment_bytes(w->path) : 0);

		if (!(w->options.keep_bytes && all > w->options.keep_bytes) &&
		    !is_too_old(w, names.paths[i], now_ns))
			break;
		drop_oldest(w, names.paths[i], now_ns);
	}
	store_names_done(&names);
}

void store_writer_tidy(struct store_writer *w, int64_t now_ns)
{
	if (w->segment && (now_ns - w->begun_ns >= w->options.segment_ns || now_ns < w->begun_ns ||
			   segment_bytes(w->path) >= w->options.segment_bytes))
		end_segment(w);
	if (w->options.keep_ns || w->options.keep_bytes)
		drop_old(w, now_ns);
}

const char *store_writer_error(const struct store_writer *w)
{
	return w->error;
}

uint64_t store_writer_bytes(const struct store_writer *w, size_t *segments)
{
	*segments = w->n_segments + (w->segment != NULL);
	return w->bytes + (w->segment ? segment_bytes(w->path) : 0);
}

/* No row takes less than 64 bytes: what a damaged segment may have numbered lies below. */
static int64_t id_behind(const char *path)
{
	return store_first_id(path) + (int64_t)(segment_bytes(path) / 64) + 1;
}

static void tell_gap(struct store_writer *w, const struct segment_extent *last, int64_t now_ns)
{
	const struct exeunt_loss loss = { .source = EXEUNT_SOURCE_OUTPUT,
					  .cause = EXEUNT_LOSS_NOT_RUNNING,
					  .cpu = -1,
					  .window_start_ns = MIN(last->last_ns, now_ns),
					  .window_end_ns = now_ns };

	add_loss(w, &loss, now_ns);
}

/* Goes on behind the last segment, in it if it is not done. */
static void take_up(struct store_writer *w, const char *path, int64_t now_ns)
{
	struct segment_extent extent;
	char error[512];

	if (segment_look(path, &extent, error, sizeof(error)) < 0) {
		w->run.id = w->next_id = id_behind(path);
		set_aside(w, path, error);
		return;
	}
	w->next_id = MAX(extent.last_id + 1, store_first_id(path));
	w->run.id = w->next_id;
	if (!extent.done && segment_open(&w->segment, path, error, sizeof(error)) >= 0 &&
	    segment_begin(w->segment) >= 0 && segment_add_run(w->segment, &w->run) >= 0 &&
	    segment_commit(w->segment) >= 0) {
		snprintf(w->path, sizeof(w->path), "%s", path);
		w->begun_ns = extent.first_id ? extent.first_ns : now_ns;
	} else {
		segment_free(TAKE(w->segment));
		w->bytes += segment_bytes(path);
		w->n_segments++;
	}
	if (extent.last_id && !extent.stopped)
		tell_gap(w, &extent, now_ns);
}

static int take_up_all(struct store_writer *w, int64_t now_ns, char *error, size_t size)
{
	struct store_names names;
	int r = store_list(&names, w->dir);

	if (r < 0) {
		snprintf(error, size, "cannot read the directory '%s': %s", w->dir, strerror(-r));
		return r;
	}
	for (size_t i = 0; i + 1 < names.n; i++) {
		w->bytes += segment_bytes(names.paths[i]);
		w->n_segments++;
	}
	if (names.n)
		take_up(w, names.paths[names.n - 1], now_ns);
	store_names_done(&names);
	return 0;
}

static void choose(struct store_options *o)
{
	int64_t part = o->keep_ns / SEGMENTS;

	part = part ? MAX(part, NS_PER_SEC) : SEGMENT_NS;
	if (!o->segment_ns)
		o->segment_ns = MIN(part, SEGMENT_NS);
	if (!o->segment_bytes)
		o->segment_bytes = o->keep_bytes ? o->keep_bytes / SEGMENTS : SEGMENT_BYTES;
}

int store_writer_open(struct store_writer **ret, const char *dir, const struct store_options *o,
		      int64_t now_ns, char *error, size_t size)
{
	struct store_writer *w = calloc(1, sizeof(*w));
	int r;

	snprintf(error, size, "not enough memory");
	if (!w)
		return -ENOMEM;
	*w = (struct store_writer){ .options = *o, .lock_fd = -1, .next_id = 1 };
	choose(&w->options);
	w->run = (struct store_run){ .id = 1,
				     .host_name = o->host_name,
				     .boot_id = o->boot_id,
				     .version = EXEUNT_VERSION,
				     .started_ns = now_ns };
	snprintf(w->dir, sizeof(w->dir), "%s", dir);
	r = lock(w, error, size);
	if (r >= 0)
		r = take_up_all(w, now_ns, error, size);
	if (r < 0) {
		store_writer_free(w);
		return r;
	}
	*ret = w;
	return 0;
}

void store_writer_free(struct store_writer *w)
{
	if (!w)
		return;
	segment_free(w->segment);
	close_fd(w->lock_fd);
	free(w);
}
