/* SPDX-License-Identifier: MIT */
/* exeunt last out of a store: from its end, and what comes to it. See last.h. */
#include "cmd/last.h"

#include <poll.h>

#include "cmd/cmd.h"
#include "store/directory.h"
#include "store/reader.h"

#define FOLLOW_LINES 10
#define FOLLOW_MS 500

static int read_segment(struct last *l, const char *path, bool *done)
{
	const struct store_query q = { .newest_first = true,
				       .since_ns = l->since_ns,
				       .until_ns = l->until_ns };
	struct store_reader *reader;
	const struct store_row *row;
	char error[512];
	int r = store_reader_new(&reader, path, &q, error, sizeof(error));

	if (r < 0) {
		cmd_error("%s", error);
		return CMD_FAILED;
	}
	while (!*done && (r = store_reader_next(reader, &row)) > 0) {
		if (row->json || !row->record.type)
			continue;
		last_take_host(l, row->host_name, row->boot_id);
		*done = newest_take(l->newest, &row->record);
		stream_flush(&l->stream);
	}
	if (r < 0)
		cmd_error("'%s': %s", path, store_reader_error(reader));
	store_reader_free(reader);
	return r < 0 ? CMD_FAILED : CMD_DONE;
}

int last_read_store(struct last *l, const char *dir)
{
	struct store_names names;
	int status = CMD_DONE, r = store_list(&names, dir);
	bool done = false;

	if (r < 0) {
		cmd_error("cannot read the store '%s': %s; exeunt run --to=store:DIR writes one",
			  dir, strerror(-r));
		return CMD_FAILED;
	}
	for (size_t i = names.n; i-- && !done;) {
		int s = read_segment(l, names.paths[i], &done);

		status = status ? status : s;
	}
	store_names_done(&names);
	return status;
}

/* What came behind the row with *last_id; the segments before it are passed over. */
static int read_newer(struct last *l, const char *dir, int64_t *last_id)
{
	struct store_names names;
	int r = store_list(&names, dir);

	for (size_t i = 0; r >= 0 && i < names.n; i++) {
		const struct store_query q = { .after_id = *last_id };
		struct store_reader *reader;
		const struct store_row *row;
		char error[512];

		if (i + 1 < names.n && store_first_id(names.paths[i + 1]) <= *last_id + 1)
			continue;
		/* one that is just made, or just dropped, is for the next look */
		if (store_reader_new(&reader, names.paths[i], &q, error, sizeof(error)) < 0)
			break;
		while (store_reader_next(reader, &row) > 0) {
			*last_id = row->id;
			last_take_host(l, row->host_name, row->boot_id);
			if (!row->json && row->record.type)
				last_show(l, &row->record);
		}
		store_reader_free(reader);
	}
	if (r >= 0)
		store_names_done(&names);
	return r;
}

/* The id behind which the newest lines are. */
static int64_t follow_from(const char *dir)
{
	const struct store_query q = { .newest_first = true };
	struct store_names names;
	int64_t from = 0;
	int left = FOLLOW_LINES;

	if (store_list(&names, dir) < 0)
		return 0;
	for (size_t i = names.n; i-- && left;) {
		struct store_reader *reader;
		const struct store_row *row;
		char error[512];

		if (store_reader_new(&reader, names.paths[i], &q, error, sizeof(error)) < 0)
			continue;
		while (left && store_reader_next(reader, &row) > 0) {
			from = row->id - 1;
			left -= row->record.type == EXEUNT_TYPE_EXIT;
		}
		store_reader_free(reader);
	}
	store_names_done(&names);
	return from;
}

int last_follow(struct last *l, const char *dir)
{
	int64_t last_id = follow_from(dir);

	for (;;) {
		struct pollfd p = { .fd = output_poll_fd(l->stream.output) };
		int r = read_newer(l, dir, &last_id);

		if (r < 0) {
			cmd_error("cannot read the store '%s': %s", dir, strerror(-r));
			return CMD_FAILED;
		}
		/* with nothing to write, POLLERR tells of a reader that left */
		if (stream_flush(&l->stream) == -EPIPE || stream_is_done(&l->stream) ||
		    (poll(&p, 1, FOLLOW_MS) > 0 && p.revents & (POLLERR | POLLHUP)))
			return CMD_DONE;
	}
}
