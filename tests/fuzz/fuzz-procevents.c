/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a datagram of the proc connector: decoded, fed to a small context table, and asked
 * for every process that was told of. The same bytes go through the parsers of what the table reads
 * from /proc.
 */
#include "fuzz.h"

#include <string.h>

#include "base/procfs.h"
#include "base/util.h"
#include "decode/procevents.h"
#include "join/cgroup.h"
#include "join/context-args.h"
#include "join/context.h"

#define MAX_ENTRIES 16

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void ask(struct context *c, const struct proc_event_info *e)
{
	int64_t t = (int64_t)(e->timestamp_ns & INT64_MAX) / 2;
	const struct context_entry *entry = context_lookup(c, e->tgid, t);
	struct exeunt_record r = { 0 };

	if (!entry)
		return;
	must(entry->tgid == e->tgid);
	context_to_record(entry, &r);
	must(!exeunt_has(&r, EXEUNT_F_COMM) || memchr(r.comm, '\0', sizeof(r.comm)));
	if (e->kind == PROC_KIND_EXIT && e->u.exit.code)
		context_release(c, entry, t);
}

static void feed(const uint8_t *data, size_t size)
{
	static const struct context_options options = { .proc_path = "",
							.max_entries = MAX_ENTRIES };
	struct context_stats stats;
	struct context *c;
	size_t used;

	must(context_new(&c, &options, NULL) == 0);
	for (; size; data += used, size -= used) {
		struct proc_event_info e;

		if (procevents_decode(data, size, &e, &used) == 1) {
			context_event(c, &e);
			ask(c, &e);
			context_tick(c, (int64_t)(e.timestamp_ns & INT64_MAX) / 2);
		}
		must(used > 0 && used <= size);
	}
	context_stats(c, &stats);
	must(stats.entries <= MAX_ENTRIES);
	context_free(c);
}

static void parse(const char *text, size_t size)
{
	struct cgroup_info info;
	struct procfs_stat st;
	struct procfs_ids ids;

	if (procfs_parse_stat(text, size, &st) == 0)
		must(memchr(st.comm, '\0', sizeof(st.comm)) != NULL);
	procfs_parse_ids(text, size, &ids);
	if (cgroup_parse(text, size, &info) == 0)
		must(info.path.data >= text && info.path.data + info.path.len <= text + size);
}

static void take_args(const uint8_t *data, size_t size)
{
	static const char *const patterns[] = { "--password[= ][^ ]+", "^token=.*$", "a*" };
	struct args_rules *r;
	struct args_list list;
	size_t room, n = 0;
	char *buf;

	must(args_rules_new(&r, patterns, ARRAY_SIZE(patterns), 64, 4, NULL) == 0);
	buf = args_buffer(r, &room);
	memcpy(buf, data, MIN(size, room));
	must(args_take(r, MIN(size, room), (unsigned int)size & (ARGS_TRIM | ARGS_OPEN_END),
		       &list) <= 5);
	for (uint16_t i = 0; i < list.n_parts; i++) {
		must(list.parts[i].data == list.data + n);
		n += list.parts[i].len + 1;
		must(list.data[n - 1] == '\0');
	}
	must(n == list.len);
	args_rules_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	feed(data, size);
	parse((const char *)data, size);
	take_args(data, size);
	return 0;
}
