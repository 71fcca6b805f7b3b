/* SPDX-License-Identifier: MIT */
/*
 * The state file: what was written is read again, what is damaged is set aside, and there is always
 * a whole one.
 */
#include "unit/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/util.h"
#include "source/pacct_state.h"

static char dir[] = "/tmp/exeunt-state.XXXXXX";
static char path[64], bad[64], beside[64];
static struct pacct_state state_a, state_b;
static char text[PACCT_STATE_MOST + 16];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/state", dir);
	snprintf(bad, sizeof(bad), "%s/state.bad", dir);
	snprintf(beside, sizeof(beside), "%s/state.new", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(path);
	unlink(bad);
	return rmdir(dir);
}

static int clean(void **state)
{
	(void)state;
	unlink(path);
	unlink(bad);
	return access(beside, F_OK) ? 0 : -1; /* nothing is left lying about */
}

static void fill(struct pacct_state *s, unsigned int n)
{
	memset(s, 0, sizeof(*s));
	s->saved_ns = INT64_C(1700000000123456789);
	s->down = true;
	s->n = n;
	for (unsigned int i = 0; i < n; i++)
		s->positions[i] = (struct pacct_position){
			.dev = UINT64_MAX - i,
			.ino = UINT64_MAX / 2 + i,
			.offset = UINT64_C(64000000000000) + i,
			.head = UINT64_C(0x8000000000000001) + i,
			.tail = i,
			.done = i % 3 == 0,
		};
	memset(s->note, '\n', PACCT_NOTE);
	memcpy(s->note, "seq 17 \xff\x01", 9);
}

static void assert_same(const struct pacct_state *a, const struct pacct_state *b)
{
	assert_int_equal(a->saved_ns, b->saved_ns);
	assert_int_equal(a->down, b->down);
	assert_int_equal(a->n, b->n);
	for (unsigned int i = 0; i < a->n; i++) {
		const struct pacct_position *p = &a->positions[i], *q = &b->positions[i];

		assert_true(p->dev == q->dev && p->ino == q->ino && p->offset == q->offset);
		assert_true(p->head == q->head && p->tail == q->tail && p->done == q->done);
	}
	assert_string_equal(a->note, b->note);
}

static void what_is_saved_is_loaded(void **state)
{
	static const unsigned int sizes[] = { 0, 1, 7, PACCT_POSITIONS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		fill(&state_a, sizes[i]);
		assert_int_equal(pacct_state_save(&state_a, path), 0);
		assert_int_equal(pacct_state_load(&state_b, path), 0);
		assert_same(&state_a, &state_b);
	}
}

static void it_is_for_the_owner_only(void **state)
{
	struct stat st;

	(void)state;
	fill(&state_a, 1);
	assert_int_equal(pacct_state_save(&state_a, path), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void there_is_none(void **state)
{
	(void)state;
	assert_int_equal(pacct_state_load(&state_b, path), -ENOENT);
	assert_int_equal(state_b.saved_ns, 0);
	assert_int_equal(access(bad, F_OK), -1);
}

static void write_file(const char *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

/* Case C040: rubbish is set aside, and the time of the file tells since when there may be a gap. */
static void rubbish_is_set_aside(void **state)
{
	struct stat st;

	(void)state;
	write_file("\x7f"
		   "ELF rubbish that is thirty-seven byt",
		   37);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(pacct_state_load(&state_b, path), -EBADMSG);
	assert_int_equal(state_b.saved_ns / NS_PER_SEC, st.st_mtime);
	assert_int_equal(state_b.n, 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(bad, F_OK), 0);
	/* and a new one can be written */
	fill(&state_a, 2);
	assert_int_equal(pacct_state_save(&state_a, path), 0);
	assert_int_equal(pacct_state_load(&state_b, path), 0);
}

static void an_empty_one(void **state)
{
	(void)state;
	write_file("", 0);
	assert_int_equal(pacct_state_load(&state_b, path), -EBADMSG);
}

/* Every cut and every changed bit is noticed. */
static void damage_is_noticed(void **state)
{
	size_t len;

	(void)state;
	fill(&state_a, 3);
	len = pacct_state_format(text, &state_a);
	assert_int_equal(pacct_state_parse(&state_b, text, len), 0);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(pacct_state_parse(&state_b, text, i), -EBADMSG);
	for (size_t i = 0; i < len * 8; i++) {
		text[i / 8] ^= (char)(1 << i % 8);
		assert_true(pacct_state_parse(&state_b, text, len) < 0);
		assert_int_equal(state_b.n, 0);
		text[i / 8] ^= (char)(1 << i % 8);
	}
	memcpy(text + len, "\n", 2);
	assert_int_equal(pacct_state_parse(&state_b, text, len + 1), -EBADMSG);
}

static void of_a_later_version(void **state)
{
	const char later[] = "exeunt pacct state 2\nsomething new\nend 0000000000000000\n";

	(void)state;
	assert_int_equal(pacct_state_parse(&state_b, later, strlen(later)), -EPROTONOSUPPORT);
	write_file(later, strlen(later));
	assert_int_equal(pacct_state_load(&state_b, path), -EPROTONOSUPPORT);
	assert_int_equal(access(bad, F_OK), 0);
}

static void limit_files(rlim_t size)
{
	struct rlimit l;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
	l.rlim_cur = MIN(size, l.rlim_max);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* The disk is full: the old state stays, and nothing is left beside it. */
static void no_room(void **state)
{
	(void)state;
	fill(&state_a, 1);
	assert_int_equal(pacct_state_save(&state_a, path), 0);
	fill(&state_b, 50);
	limit_files(100);
	assert_int_equal(pacct_state_save(&state_b, path), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_int_equal(pacct_state_load(&state_b, path), 0);
	assert_same(&state_a, &state_b);
}

static void no_directory(void **state)
{
	(void)state;
	fill(&state_a, 1);
	assert_int_equal(pacct_state_save(&state_a, "/nonexistent/state"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(what_is_saved_is_loaded, clean),
		cmocka_unit_test_teardown(it_is_for_the_owner_only, clean),
		cmocka_unit_test_teardown(there_is_none, clean),
		cmocka_unit_test_teardown(rubbish_is_set_aside, clean),
		cmocka_unit_test_teardown(an_empty_one, clean),
		cmocka_unit_test_teardown(damage_is_noticed, clean),
		cmocka_unit_test_teardown(of_a_later_version, clean),
		cmocka_unit_test_teardown(no_room, clean),
		cmocka_unit_test_teardown(no_directory, clean),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
