/* SPDX-License-Identifier: MIT */
/* join/context-exe.h with real files: a path is told where it is certain, and else not. */
#include "unit/test.h"

#include <fcntl.h>
#include <limits.h>

#include "unit/proctree.h"

#include "base/clock.h"

#include "join/context-exe.h"
#include "record/fields.h"

static struct exe_cache *cache;
static struct pool pool;
static char path[PATH_MAX];

/* A start that lies behind every change of the files here. */
#define LATER (INT64_C(4000000000) * S)

static void write_file(const char *name, const char *text)
{
	_cleanup_file_
	FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
}

static struct exe_file numbers_of(const char *name)
{
	char at[128];
	struct stat st;

	snprintf(at, sizeof(at), "%s/%s", tree, name);
	assert_int_equal(stat(at, &st), 0);
	return (struct exe_file){ st.st_dev, st.st_ino };
}

/* Process 1 runs this file. */
static struct exe_file look(const char *name)
{
	char proc[64], target[128];
	struct exe_file file;
	int fd;

	snprintf(proc, sizeof(proc), "%s/1", tree);
	mkdir(proc, 0755);
	snprintf(target, sizeof(target), "%s/%s", tree, name);
	put_link(1, "exe", target);
	fd = open(proc, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	snprintf(path, sizeof(path), "%s/%s", tree, name);
	file = exe_cache_look(fd, path);
	close(fd);
	return file;
}

static struct pool_item *item(const char *name)
{
	char at[128];
	int n = snprintf(at, sizeof(at), "%s/%s", tree, name);

	return pool_get(&pool, POOL_TEXT, at, (size_t)n, &(struct exeunt_bytes){ at, (uint32_t)n },
			1);
}

static int begin(void **state)
{
	(void)state;
	nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return exe_cache_new(&cache) || pool_init(&pool) ? -1 : 0;
}

static int end(void **state)
{
	(void)state;
	exe_cache_free(cache, &pool);
	pool_done(&pool);
	return 0;
}

/* Learns prog, and lets taskstats confirm it. */
static struct exe_file learn(void)
{
	struct pool_item *i = item("prog");
	struct exe_file file;

	write_file("prog", "#!");
	file = look("prog");
	if (!file.inode)
		skip(); /* a file system that is not taken */
	assert_int_equal(file.inode, numbers_of("prog").inode);
	exe_cache_learn(cache, &pool, i, file);
	exe_cache_confirm(cache, i, file);
	pool_unref(&pool, i);
	return file;
}

static void test_told(void **state)
{
	struct exe_file file = learn();
	const struct pool_item *found = exe_cache_find(cache, file, LATER);

	(void)state;
	assert_non_null(found);
	assert_int_equal(found->len, strlen(path));
	assert_memory_equal(found->parts[0].data, path, found->len);
	file.dev++;
	assert_null(exe_cache_find(cache, file, LATER));
}

/* stat(2) and taskstats have to agree once. */
static void test_not_confirmed(void **state)
{
	struct exe_file file = learn(), other = file;
	struct pool_item *i = item("prog"), *j = item("else");

	(void)state;
	write_file("prog2", "#!");
	file = look("prog2");
	exe_cache_learn(cache, &pool, i, file);
	assert_null(exe_cache_find(cache, file, LATER));
	other.dev++;
	exe_cache_confirm(cache, i, other);
	exe_cache_confirm(cache, j, file);
	assert_null(exe_cache_find(cache, file, LATER));
	pool_unref(&pool, i);
	pool_unref(&pool, j);
}

/* The inode may be another file's since. */
static void test_changed_since(void **state)
{
	struct exe_file file = learn();
	char to[128];

	(void)state;
	assert_null(exe_cache_find(cache, file, real_now() - 1 * S));
	/* replaced, as a package manager does */
	write_file("new", "#!!");
	snprintf(to, sizeof(to), "%s/prog", tree);
	assert_int_equal(rename(path, to), 0);
	assert_null(exe_cache_find(cache, file, LATER));
	assert_int_equal(unlink(to), 0);
	assert_null(exe_cache_find(cache, file, LATER));
}

static void test_second_name(void **state)
{
	struct exe_file file = learn();
	char from[128], to[128];

	(void)state;
	snprintf(from, sizeof(from), "%s/prog", tree);
	snprintf(to, sizeof(to), "%s/again", tree);
	assert_int_equal(link(from, to), 0);
	assert_null(exe_cache_find(cache, file, LATER));
	assert_int_equal(look("again").inode, 0);
	assert_int_equal(unlink(from), 0);
	assert_null(exe_cache_find(cache, file, LATER));
}

/* The path leads elsewhere from here, or over a symbolic link. */
static void test_other_path(void **state)
{
	char at[128];
	int fd;

	learn();
	(void)state;
	write_file("other", "#!");
	snprintf(at, sizeof(at), "%s/1", tree);
	fd = open(at, O_PATH | O_DIRECTORY);
	snprintf(path, sizeof(path), "%s/other", tree);
	assert_int_equal(exe_cache_look(fd, path).inode, 0);
	snprintf(path, sizeof(path), "%s/nothing", tree);
	assert_int_equal(exe_cache_look(fd, path).inode, 0);
	snprintf(at, sizeof(at), "%s/link", tree);
	assert_int_equal(symlink("prog", at), 0);
	snprintf(path, sizeof(path), "%s/link", tree);
	assert_int_equal(exe_cache_look(fd, path).inode, 0);
	close(fd);
}

/* The table is bounded; what is used stays. */
static void test_bound(void **state)
{
	struct exe_file file = learn();
	struct pool_item *i = item("x");
	uint32_t found = 0;

	(void)state;
	for (uint64_t n = 1; n <= 10000; n++) {
		exe_cache_learn(cache, &pool, i, (struct exe_file){ 77, n });
		if (n % 8 == 0)
			found += exe_cache_find(cache, file, LATER) != NULL;
	}
	assert_int_equal(found, 1250);
	assert_true(i->refs <= 257);
	pool_unref(&pool, i);
}

static void test_due(void **state)
{
	(void)state;
	assert_true(exe_cache_is_due(cache, "/bin/a", 6, 1 * S));
	assert_false(exe_cache_is_due(cache, "/bin/a", 6, 2 * S));
	assert_true(exe_cache_is_due(cache, "/bin/b", 6, 2 * S));
	assert_true(exe_cache_is_due(cache, "/bin/a", 6, 20 * S));
}

/* Through the table: the one that was read shows what the one that was not has run. */
static void test_by_inode(void **state)
{
	struct process p = shell;
	struct exeunt_record r = { .creation_time_ns = LATER };
	struct context *c;
	char at[128];

	(void)state;
	c = make(NULL);
	learn();
	r.exe_dev = numbers_of("prog").dev;
	r.exe_inode = numbers_of("prog").inode;
	field_set(&r, EXEUNT_F_EXE_DEV);
	field_set(&r, EXEUNT_F_EXE_INODE);
	field_set(&r, EXEUNT_F_CREATION_TIME);
	snprintf(at, sizeof(at), "%s/prog", tree);
	p.exe = at;
	show(&p);
	context_fork(c, 99, 100, 1 * S);
	context_exec(c, 100, 1 * S + MS);
	context_fork(c, 99, 200, 2 * S);
	context_exec(c, 200, 2 * S + MS);
	for (int pid = 100; pid <= 200; pid += 100) {
		const struct context_entry *e = context_lookup(c, pid, 3 * S);
		struct exeunt_record own = r;

		context_to_record(e, &own);
		assert_int_equal(exeunt_has(&own, EXEUNT_F_EXE_PATH), pid == 100);
		context_exe_by_inode(c, e, &own);
		check(own.exe_path, at);
		assert_false(is_inherited(&own, EXEUNT_F_EXE_PATH));
		assert_int_equal(is_inherited(&own, EXEUNT_F_ARGS), pid == 200);
	}
	/* whom nobody knows may have lived elsewhere; who lived in a container is not given it */
	r.exe_path.len = 0;
	context_exe_by_inode(c, NULL, &r);
	check(r.exe_path, at);
	assert_true(is_inherited(&r, EXEUNT_F_EXE_PATH));
	field_clear(&r, EXEUNT_F_EXE_PATH);
	field_set(&r, EXEUNT_F_CONTAINER_ID);
	context_exe_by_inode(c, context_lookup(c, 200, 3 * S), &r);
	assert_false(exeunt_has(&r, EXEUNT_F_EXE_PATH));
	context_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_told, begin, end),
		cmocka_unit_test_setup_teardown(test_not_confirmed, begin, end),
		cmocka_unit_test_setup_teardown(test_changed_since, begin, end),
		cmocka_unit_test_setup_teardown(test_second_name, begin, end),
		cmocka_unit_test_setup_teardown(test_other_path, begin, end),
		cmocka_unit_test_setup_teardown(test_bound, begin, end),
		cmocka_unit_test_setup_teardown(test_due, begin, end),
		cmocka_unit_test_setup_teardown(test_by_inode, begin, end),
	};
	int r = exe_cache_new(&cache);

	exe_cache_free(cache, &pool);
	if (r == -ENOSYS)
		return 77; /* before Linux 5.12 there is none */
	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
