/* SPDX-License-Identifier: MIT */
/* A made-up /proc under /tmp, and a context table that reads it. For tests of join/context.h. */
#ifndef UNIT_PROCTREE_H
#define UNIT_PROCTREE_H

#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#include "base/util.h"
#include "join/context.h"

#define S NS_PER_SEC
#define MS NS_PER_MSEC
/* start_ticks of a moment; the tree's clock has 100 ticks a second, as Linux has everywhere */
#define TICKS(ns) ((unsigned long long)((ns) / (10 * MS)))

#define GROUP "0::/user.slice/user-1000.slice/session-3.scope\n"

static char tree[] = "/tmp/exeunt-test-XXXXXX";

struct process {
	int pid, ppid;
	int64_t start_ns;
	const char *comm, *exe, *cwd, *args; /* blanks stand for NULs; NULL: not to be read */
	const char *login, *session, *cgroup;
	unsigned int flags, threads;
};

/* A login shell, and what its children should have of it. */
static const struct process shell = { 100,	100 - 1, 1 * S, "sh",  "/bin/sh", "/home",
				      "sh -l ", "1000",	 "3",	GROUP, 0,	  1 };

static inline void put(int pid, const char *name, const char *text, size_t len)
{
	char path[128];
	_cleanup_file_
	FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/%d/%s", tree, pid, name);
	unlink(path);
	if (!text)
		return;
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
}

static inline void put_link(int pid, const char *name, const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d/%s", tree, pid, name);
	unlink(path);
	if (target)
		assert_int_equal(symlink(target, path), 0);
}

static inline void show(const struct process *p)
{
	char text[512], args[512];
	size_t n;

	snprintf(text, sizeof(text), "%s/%d", tree, p->pid);
	mkdir(text, 0755);
	n = (size_t)snprintf(text, sizeof(text),
			     "%d (%s) S %d 1 1 0 -1 %u 0 0 0 0 0 0 0 0 20 0 %u 0 %llu 0 0\n",
			     p->pid, p->comm, p->ppid, p->flags, p->threads, TICKS(p->start_ns));
	put(p->pid, "stat", text, n);
	n = p->args ? strlen(p->args) : 0;
	for (size_t i = 0; i < n; i++)
		args[i] = p->args[i] == ' ' ? '\0' : p->args[i];
	put(p->pid, "cmdline", args, n);
	put_link(p->pid, "exe", p->exe);
	put_link(p->pid, "cwd", p->cwd);
	put(p->pid, "loginuid", p->login, p->login ? strlen(p->login) : 0);
	put(p->pid, "sessionid", p->session, p->session ? strlen(p->session) : 0);
	put(p->pid, "cgroup", p->cgroup, p->cgroup ? strlen(p->cgroup) : 0);
	n = (size_t)snprintf(text, sizeof(text), "Name:\t%s\nUid:\t5\t6\t7\t8\nGid:\t1\t2\t3\t4\n",
			     p->comm);
	put(p->pid, "status", text, n);
}

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	return at->level ? remove(path) : 0;
}

static inline void hide(int pid)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%d", tree, pid);
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	rmdir(path);
}

static inline struct context *make(const struct context_options *more)
{
	struct context_options o = more ? *more : (struct context_options){ 0 };
	struct context *c;

	nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	o.proc_path = tree;
	assert_int_equal(context_new(&c, &o, NULL), 0);
	return c;
}

static inline struct context_stats stats_of(const struct context *c)
{
	struct context_stats s;

	context_stats(c, &s);
	return s;
}

static inline bool is_inherited(const struct exeunt_record *r, enum exeunt_field f)
{
	return r->inherited[f / 64] >> (f % 64) & 1;
}

static inline struct exeunt_record record_of(struct context *c, int32_t tgid, int64_t t)
{
	const struct context_entry *e = context_lookup(c, tgid, t);
	struct exeunt_record r = { 0 };

	assert_non_null(e);
	context_to_record(e, &r);
	return r;
}

static inline void check(struct exeunt_bytes got, const char *expected)
{
	assert_int_equal(got.len, strlen(expected));
	assert_memory_equal(got.data, expected, got.len);
}

/* Group setup and teardown. */
static inline int make_tree(void **state)
{
	(void)state;
	return mkdtemp(tree) ? 0 : -1;
}

static inline int remove_tree(void **state)
{
	(void)state;
	nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return rmdir(tree);
}

#endif
