/* SPDX-License-Identifier: MIT */
/*
 * Replaying several files as one stream: each has its own host, clock and numbers. Captures are made here; what a kernel
 * wrote is in tests/golden.
 */
#include "unit/test.h"

#include <fcntl.h>

#include <exeunt/exeunt.h>

#include "base/util.h"
#include "decode/capture.h"
#include "decode/taskstats.h"
#include "unit/build-taskstats.h"

static char folder[] = "/tmp/exeunt-test-XXXXXX";
static struct exeunt *x;
static char hosts[8][32];
static int32_t pids[16];
static size_t n_hosts, n_exits;
static uint64_t lost, unparsable;

static int on_record(const struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	if (r->type == EXEUNT_TYPE_START && n_hosts < ARRAY_SIZE(hosts))
		snprintf(hosts[n_hosts++], sizeof(hosts[0]), "%s", exeunt_host_name(x));
	if (r->type == EXEUNT_TYPE_EXIT && n_exits < ARRAY_SIZE(pids))
		pids[n_exits++] = r->pid;
	if (r->type == EXEUNT_TYPE_LOSS)
		lost += r->loss->count;
	if (r->type == EXEUNT_TYPE_STOP)
		unparsable = r->status->balance.unparsable;
	return 0;
}

static int begin(void **state)
{
	struct exeunt_options o = { .size = sizeof(o), .numeric = true, .on_record = on_record };

	(void)state;
	n_hosts = n_exits = 0;
	lost = unparsable = 0;
	return exeunt_new(&x, &o);
}

static int end(void **state)
{
	(void)state;
	exeunt_free(x);
	return 0;
}

static const char *path_of(const char *name)
{
	static char paths[4][64];
	static unsigned int next;
	char *path = paths[next++ % ARRAY_SIZE(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static FILE *new_capture(const char *name, const char *host, int64_t started_ns)
{
	struct capture_info info = { .sources = 15, .started_ns = started_ns };
	char head[CAPTURE_INFO_MOST];
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	snprintf(info.host, sizeof(info.host), "%s", host);
	snprintf(info.boot_id, sizeof(info.boot_id), "boot-of-%s", host);
	assert_true(fwrite(head, capture_write_info(head, &info), 1, f) == 1);
	return f;
}

static void put_frame(FILE *f, unsigned int source, enum frame_kind kind, int64_t at_ns,
		      const void *data, size_t len)
{
	unsigned char header[CAPTURE_FRAME_HEADER];
	struct frame frame = { .source = source,
			       .kind = kind,
			       .mono_ns = at_ns,
			       .real_ns = 1700000000 * NS_PER_SEC + at_ns,
			       .since_ns = at_ns,
			       .len = len };

	capture_write_frame(header, &frame);
	assert_true(fwrite(header, sizeof(header), 1, f) == 1);
	assert_true(!len || fwrite(data, len, 1, f) == 1);
}

/* The end of a process, as message `seq` of CPU 0. */
static void put_exit(FILE *f, int32_t pid, uint32_t seq, int64_t at_ns)
{
	struct built b;

	build_message(&b, 16, 560, pid, 0);
	build_members(&b, pid, pid, 0, TASK_GROUP);
	put32(b.bytes + 8, seq);
	put_frame(f, EXEUNT_SOURCE_TASKSTATS, FRAME_DATA, at_ns, b.bytes, b.len);
}

static int replay(const char *first, const char *second)
{
	const char *paths[] = { first, second };
	int r = exeunt_replay(x, paths, second ? 2 : 1);

	assert_int_equal(exeunt_stop(x), 0);
	return r;
}

/* The kernel's message numbers and the monotonic clock begin anew with each boot. */
static void each_file_has_its_own_numbers(void **state)
{
	FILE *a = new_capture("a", "one", 1 * NS_PER_SEC),
	     *b = new_capture("b", "one", 2 * NS_PER_SEC);

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		put_exit(a, 100 + (int32_t)i, 5000 + i, (9000 + i) * NS_PER_SEC);
		put_exit(b, 200 + (int32_t)i, 7 + i, (10 + i) * NS_PER_SEC);
	}
	fclose(a);
	fclose(b);
	assert_int_equal(replay(path_of("b"), path_of("a")), 0);
	assert_int_equal(n_exits, 10);
	assert_int_equal(pids[0], 100);
	assert_int_equal(pids[9], 204);
	assert_int_equal(lost, 0);
	assert_int_equal(n_hosts, 1);
}

static void a_gap_within_a_file_is_still_told(void **state)
{
	FILE *a = new_capture("a", "one", 1 * NS_PER_SEC);

	(void)state;
	put_exit(a, 100, 7, NS_PER_SEC);
	put_exit(a, 101, 10, 2 * NS_PER_SEC);
	put_exit(a, 102, 11, 3 * NS_PER_SEC);
	fclose(a);
	assert_int_equal(replay(path_of("a"), NULL), 0);
	assert_int_equal(lost, 2);
}

static void each_file_has_its_own_host(void **state)
{
	FILE *a = new_capture("a", "one", 1 * NS_PER_SEC),
	     *b = new_capture("b", "two", 2 * NS_PER_SEC);

	(void)state;
	put_exit(a, 100, 1, NS_PER_SEC);
	put_exit(b, 200, 1, NS_PER_SEC);
	fclose(a);
	fclose(b);
	assert_int_equal(replay(path_of("a"), path_of("b")), 0);
	assert_int_equal(n_hosts, 2);
	assert_string_equal(hosts[0], "one");
	assert_string_equal(hosts[1], "two");
}

/* A test child of the first run is no reason to leave out a process of the second. */
static void each_file_has_its_own_children(void **state)
{
	FILE *a = new_capture("a", "one", 1 * NS_PER_SEC),
	     *b = new_capture("b", "one", 2 * NS_PER_SEC);
	int32_t pid = 100;

	(void)state;
	put_frame(a, EXEUNT_SOURCE_TASKSTATS, FRAME_SELFTEST, 9 * NS_PER_SEC, &pid, sizeof(pid));
	put_exit(b, pid, 1, NS_PER_SEC);
	fclose(a);
	fclose(b);
	assert_int_equal(replay(path_of("a"), path_of("b")), 0);
	assert_int_equal(n_exits, 1);
}

/* Any byte of a capture may be wrong. */
static void a_source_that_is_none_is_counted(void **state)
{
	FILE *a = new_capture("a", "one", 1 * NS_PER_SEC);

	(void)state;
	for (int kind = FRAME_DATA; kind <= FRAME_FILE; kind++)
		put_frame(a, EXEUNT_SOURCE_OUTPUT, (enum frame_kind)kind, NS_PER_SEC, "12345678",
			  8);
	put_exit(a, 100, 1, NS_PER_SEC);
	fclose(a);
	assert_int_equal(replay(path_of("a"), NULL), 0);
	assert_int_equal(n_exits, 1);
	assert_int_equal(unparsable, 4); /* the announcement of a child is of no source */
}

/* What was read of a pipe, to see what it is, cannot be read again. */
static void pipes_are_read_once(void **state)
{
	char names[2][32];
	int fds[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		FILE *f = new_capture("a", "one", (i + 1) * NS_PER_SEC);
		char bytes[4096];
		ssize_t n;
		int p[2];

		put_exit(f, 100 + i, 1, NS_PER_SEC);
		fclose(f);
		assert_int_equal(pipe2(p, O_CLOEXEC), 0);
		fds[i] = open(path_of("a"), O_RDONLY);
		n = read(fds[i], bytes, sizeof(bytes));
		close(fds[i]);
		assert_int_equal(write(p[1], bytes, (size_t)n), n);
		close(p[1]);
		fds[i] = p[0];
		snprintf(names[i], sizeof(names[i]), "/proc/self/fd/%d", p[0]);
	}
	assert_int_equal(replay(names[0], names[1]), 0);
	assert_int_equal(n_exits, 2);
	close(fds[0]);
	close(fds[1]);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	(void)state;
	unlink(path_of("a"));
	unlink(path_of("b"));
	return rmdir(folder);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_file_has_its_own_numbers),	TEST(a_gap_within_a_file_is_still_told),
		TEST(each_file_has_its_own_host),	TEST(each_file_has_its_own_children),
		TEST(a_source_that_is_none_is_counted), TEST(pipes_are_read_once),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
