/* SPDX-License-Identifier: MIT */
/* Metrics: what is counted, how it is written, and the file that is replaced whole or not at all. */
#include "unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "record/filter.h"
#include "record/status.h"
#include "sink/exposition.h"
#include "sink/metrics.h"
#include "sink/sink.h"
#include "sink/table.h"

#define T INT64_C(1700000000000000000)

static char dir[64], path[128], said[256];
static struct sink *the_sink;

static void say(int level, const char *text, void *userdata)
{
	(void)userdata;
	snprintf(said, sizeof(said), "%d %s", level, text);
}

static void describe(enum exeunt_type type, struct exeunt_record *ret, void *userdata)
{
	static const struct exeunt_source_status sources[] = {
		{ .source = EXEUNT_SOURCE_TASKSTATS,
		  .state = EXEUNT_STATE_OPEN,
		  .messages = 11,
		  .bytes = 12,
		  .lost = 13 },
		{ .source = EXEUNT_SOURCE_PACCT, .state = EXEUNT_STATE_OFF },
		{ .source = EXEUNT_SOURCE_AUDIT, .state = EXEUNT_STATE_FAILED },
	};
	static const struct exeunt_status status = {
		.version = "9",
		.kernel_release = "6.1 \"odd\"\n\\",
		.started_ns = T,
		.balance = { .exits = 101,
			     .threads_seen = 102,
			     .amends = 103,
			     .backfilled = 104,
			     .lost = 105,
			     .unparsable = 106,
			     .evicted = 107,
			     .unmatched = 108,
			     .pending = 109,
			     .unfinished = 110,
			     .records = 111 },
		.sources = sources,
		.n_sources = ARRAY_SIZE(sources),
	};

	(void)userdata;
	*ret = (struct exeunt_record){ .type = (uint16_t)type, .status = &status };
}

static struct sink *const *sinks(size_t *n, void *userdata)
{
	(void)userdata;
	*n = 1;
	return &the_sink;
}

static const struct sink_host host = { .say = say, .describe = describe, .sinks = sinks };

static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at++)
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
	return false;
}

static void set(struct exeunt_record *r, enum exeunt_field field)
{
	r->present[field / 64] |= UINT64_C(1) << (field % 64);
}

static struct exeunt_record an_exit(uint32_t wait_status, int64_t lag_ns)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .type = EXEUNT_TYPE_EXIT,
				   .time_ns = T + lag_ns,
				   .exit_time_ns = T };

	set(&r, EXEUNT_F_EXIT_TIME);
	record_set_status(&r, wait_status);
	return r;
}

static void count_all(struct metrics *m)
{
	static const struct {
		uint32_t status;
		int64_t lag_ns;
	} ends[] = {
		{ 0, 0 },
		{ 0, -5 },
		{ 1 << 8, NS_PER_MSEC },
		{ 9, NS_PER_MSEC + 1 },
		{ 11 | 0x80, NS_PER_SEC },
		{ 255 << 8, 61 * NS_PER_SEC },
		{ 15, 60 * NS_PER_SEC },
	};
	struct exeunt_loss loss = { .source = EXEUNT_SOURCE_TASKSTATS,
				    .cause = EXEUNT_LOSS_SOCKET_OVERFLOW,
				    .count = 40 };
	struct exeunt_record lost = { .type = EXEUNT_TYPE_LOSS, .loss = &loss }, r;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		r = an_exit(ends[i].status, ends[i].lag_ns);
		metrics_count(m, &r);
	}
	r = an_exit(0, 1); /* how it ended is not known, and when only to the second */
	record_clear_status(&r);
	r.exit_precision_ns = (uint64_t)NS_PER_SEC;
	metrics_count(m, &r);
	r = an_exit(0, 3600 * NS_PER_SEC); /* late for a reason */
	r.backfilled = true;
	metrics_count(m, &r);
	r = an_exit(3 << 8, 0); /* the process has ended once already */
	r.type = EXEUNT_TYPE_AMEND;
	metrics_count(m, &r);
	metrics_count(m, &lost);
	loss.count = 2;
	metrics_count(m, &lost);
}

static void counts(void **state)
{
	struct metrics m = { 0 };
	static const uint64_t lag[] = { 3, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1 };

	(void)state;
	count_all(&m);
	assert_int_equal(m.exits[EXEUNT_CAUSE_EXITED], 5);
	assert_int_equal(m.exits[EXEUNT_CAUSE_SIGNALED], 2);
	assert_int_equal(m.exits[EXEUNT_CAUSE_CORE_DUMPED], 1);
	assert_int_equal(m.exits[EXEUNT_CAUSE_CORE_DUMPED + 1], 1);
	assert_int_equal(m.failed, 2);
	assert_int_equal(m.backfilled, 1);
	assert_int_equal(m.lost[EXEUNT_SOURCE_TASKSTATS][EXEUNT_LOSS_SOCKET_OVERFLOW], 42);
	assert_int_equal(m.lag_count, 7);
	assert_int_equal(m.lag_sum_ns, 122 * NS_PER_SEC + 2 * NS_PER_MSEC + 1);
	for (size_t i = 0; i < ARRAY_SIZE(lag); i++)
		assert_int_equal(m.lag[i], lag[i]);
	assert_int_equal(m.records, 12);
}

static void filter_counts(void **state)
{
	struct metrics m = { 0 };
	struct filter *filter;
	char error[FILTER_ERROR_SIZE];

	(void)state;
	assert_int_equal(filter_new(&filter, "code > 0", error, sizeof(error)), 0);
	m.filter = filter;
	count_all(&m);
	assert_int_equal(m.exits[EXEUNT_CAUSE_EXITED], 2);
	assert_int_equal(m.exits[EXEUNT_CAUSE_SIGNALED], 0);
	assert_int_equal(m.filtered, 7);
	assert_int_equal(m.lost[EXEUNT_SOURCE_TASKSTATS][EXEUNT_LOSS_SOCKET_OVERFLOW], 42);
	filter_free(filter);
}

static void escapes(void **state)
{
	struct exposition e = { 0 };

	(void)state;
	exposition_family(&e, "a_total", "counter", "Some help.");
	exposition_u64(&e, "", NULL, UINT64_MAX);
	exposition_u64(&e, "_x", LABELS({ "n", "a\"b\\c\nd}\xff\xc3\xa9" }, { "o", "" }), 0);
	exposition_seconds(&e, "", NULL, -1);
	exposition_seconds(&e, "", NULL, 12 * NS_PER_SEC + 34);
	assert_false(exposition_failed(&e));
	e.data[e.len] = '\0'; /* it grows by more than a byte */
	assert_string_equal(e.data,
			    "# HELP a_total Some help.\n"
			    "# TYPE a_total counter\n"
			    "a_total 18446744073709551615\n"
			    "a_total_x{n=\"a\\\"b\\\\c\\nd}\xef\xbf\xbd\xc3\xa9\",o=\"\"} 0\n"
			    "a_total -0.000000001\n"
			    "a_total 12.000000034\n");
	exposition_free(&e);
}

static int make(const char *target, char *error, size_t size)
{
	struct sink_options o = { .host = &host, .name = "m", .target = target };
	int r = sink_metrics.new(&the_sink, &o, error, size);

	return r < 0 ? r : the_sink->ops->start(the_sink, error, size);
}

static char *content(void)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static void check_text(const char *text)
{
	static const char *const lines[] = {
		"exeunt_up 1",
		"exeunt_build_info{version=\"" EXEUNT_VERSION
		"\",kernel=\"6.1 \\\"odd\\\"\\n\\\\\"} 1",
		"exeunt_start_time_seconds 1700000000.000000000",
		"exeunt_exits_total{cause=\"exited\"} 5",
		"exeunt_exits_total{cause=\"core_dumped\"} 1",
		"exeunt_exits_failed_total 2",
		"exeunt_exit_lag_seconds_bucket{le=\"0.001\"} 3",
		"exeunt_exit_lag_seconds_bucket{le=\"60\"} 6",
		"exeunt_exit_lag_seconds_bucket{le=\"+Inf\"} 7",
		"exeunt_exit_lag_seconds_sum 122.002000001",
		"exeunt_exit_lag_seconds_count 7",
		"exeunt_lost_total{source=\"taskstats\",cause=\"socket_overflow\"} 42",
		"exeunt_lost_total{source=\"audit\",cause=\"backlog\"} 0",
		"exeunt_ledger_exits_total 101",
		"exeunt_ledger_tasks_total 102",
		"exeunt_ledger_amends_total 103",
		"exeunt_ledger_backfilled_total 104",
		"exeunt_ledger_lost_total 105",
		"exeunt_ledger_unparsable_total 106",
		"exeunt_ledger_evicted_total 107",
		"exeunt_ledger_unmatched_total 108",
		"exeunt_ledger_pending 109",
		"exeunt_ledger_unfinished 110",
		"exeunt_ledger_records_total 111",
		"exeunt_source_up{source=\"taskstats\"} 1",
		"exeunt_source_up{source=\"audit\"} 0",
		"exeunt_source_messages_total{source=\"taskstats\"} 11",
		"exeunt_source_bytes_total{source=\"taskstats\"} 12",
		"exeunt_source_lost_total{source=\"taskstats\"} 13",
		"exeunt_sink_records_total{sink=\"m\"} 12",
		"exeunt_sink_errno{sink=\"m\"} 0",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!has_line(text, lines[i]))
			fail_msg("no line '%s' in:\n%s", lines[i], text);
	assert_null(strstr(text, "pacct"));
}

static void file_is_written_when_due(void **state)
{
	struct exeunt_record r = an_exit(0, 0);
	char error[512];
	struct stat st;

	(void)state;
	umask(077);
	assert_int_equal(make(path, error, sizeof(error)), 0);
	assert_int_equal(access(path, F_OK), -1);
	the_sink->ops->record(the_sink, &r);
	the_sink->ops->flush(the_sink, the_sink->ops->deadline(the_sink) - 1);
	assert_int_equal(access(path, F_OK), -1);
	the_sink->ops->dispatch(the_sink, the_sink->ops->deadline(the_sink));
	assert_true(has_line(content(), "exeunt_exits_total{cause=\"exited\"} 1"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	the_sink->ops->free(the_sink);
}

static void last_file_says_so(void **state)
{
	struct exeunt_record stop = { .type = EXEUNT_TYPE_STOP };
	char error[512];

	(void)state;
	assert_int_equal(make(path, error, sizeof(error)), 0);
	the_sink->ops->reload(the_sink);
	assert_true(has_line(content(), "exeunt_up 1"));
	the_sink->ops->record(the_sink, &stop);
	assert_true(the_sink->ops->finish(the_sink, 0));
	assert_true(has_line(content(), "exeunt_up 0"));
	the_sink->ops->free(the_sink);
}

static void all_is_written(void **state)
{
	struct metrics m = { 0 };
	struct exposition e = { 0 };
	struct exeunt_record now;
	struct metrics_facts f = { .running = true, .n_sinks = 1, .sinks = &the_sink };
	char error[512];

	(void)state;
	assert_int_equal(make(path, error, sizeof(error)), 0);
	count_all(&m);
	describe(EXEUNT_TYPE_STATUS, &now, NULL);
	f.status = now.status;
	for (uint64_t i = 0; i < m.records; i++) {
		struct exeunt_record r = { .type = EXEUNT_TYPE_STATUS };

		the_sink->ops->record(the_sink, &r);
	}
	metrics_write(&m, &f, &e);
	exposition_u64(&e, "", NULL, 0);
	e.data[e.len - 1] = '\0';
	check_text(e.data);
	exposition_free(&e);
	the_sink->ops->free(the_sink);
}

/* The old one stays, it is told once, and the next time it is tried again. */
static void full_disk(void **state)
{
	struct sink_report report;
	struct rlimit limit;
	char error[512], *before;

	(void)state;
	assert_int_equal(make(path, error, sizeof(error)), 0);
	the_sink->ops->reload(the_sink);
	before = strdup(content());
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, limit.rlim_max }), 0);
	for (int i = 0; i < 2; i++) {
		*said = '\0';
		the_sink->ops->dispatch(the_sink, the_sink->ops->deadline(the_sink));
		assert_int_equal(!*said, i);
		assert_string_equal(content(), before);
		the_sink->ops->report(the_sink, &report);
		assert_int_equal(report.error, EFBIG);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	the_sink->ops->dispatch(the_sink, the_sink->ops->deadline(the_sink));
	assert_non_null(strstr(said, "works again"));
	the_sink->ops->report(the_sink, &report);
	assert_int_equal(report.error, 0);
	the_sink->ops->free(the_sink);
	free(before);
}

static void what_is_in_the_way(void **state)
{
	char error[512], beside[192], other[192];
	struct stat st;

	(void)state;
	snprintf(beside, sizeof(beside), "%s/.exeunt.prom.new", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	assert_int_equal(symlink(other, beside), 0);
	assert_int_equal(make(path, error, sizeof(error)), 0);
	the_sink->ops->reload(the_sink);
	assert_int_equal(lstat(beside, &st), -1);
	assert_int_equal(lstat(other, &st), -1);
	assert_true(has_line(content(), "exeunt_up 1"));
	the_sink->ops->free(the_sink);
	assert_int_equal(make("/tmp/exeunt.txt", error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, ".prom"));
	assert_int_equal(make("/tmp/.prom", error, sizeof(error)), -EINVAL);
	assert_int_equal(make("/nowhere/at/all/exeunt.prom", error, sizeof(error)), -ENOENT);
}

static int clean(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(filter_counts),
		cmocka_unit_test(escapes),
		cmocka_unit_test_teardown(all_is_written, clean),
		cmocka_unit_test_teardown(file_is_written_when_due, clean),
		cmocka_unit_test_teardown(last_file_says_so, clean),
		cmocka_unit_test_teardown(full_disk, clean),
		cmocka_unit_test_teardown(what_is_in_the_way, clean),
	};
	int r;

	signal(SIGXFSZ, SIG_IGN);
	snprintf(dir, sizeof(dir), "/tmp/exeunt-metrics.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/exeunt.prom", dir);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return r;
}
