/* SPDX-License-Identifier: MIT */
/* The context table's reads of /proc: budget, order, and what is believed; see context.h. */
#include "base/util.h"
#include "join/cgroup.h"
#include "join/context-internal.h"

/* After FORK and EXEC at once, then 2, 4, 8 ms ... 1 s later. */
#define RECHECK_FIRST_NS (2 * NS_PER_MSEC)
#define RECHECK_DOUBLINGS 9

bool context_afford(struct context *c, int64_t now_ns, bool needed)
{
	if (now_ns > c->credit_at_ns) {
		c->credit_ns = MIN(c->credit_ns + (now_ns - c->credit_at_ns), NS_PER_SEC);
		c->credit_at_ns = now_ns;
	}
	if (c->credit_ns >= (needed ? c->cost_ns : NS_PER_SEC / 2)) {
		c->credit_ns -= c->cost_ns;
		return true;
	}
	c->stats.refused++;
	c->stats.refused_last_ns = now_ns;
	if (!c->stats.refused_first_ns)
		c->stats.refused_first_ns = now_ns;
	return false;
}

/*
 * A zombie has no arguments; but a process may have none too, and then the list is not known either
 * way.
 */
static void read_args(struct context *c, int fd, bool late, struct snapshot *s)
{
	size_t size;
	char *buf = args_buffer(c->args, &size);
	ssize_t n = procfs_read(fd, "cmdline", buf, size);

	if (n > 0 && args_take(c->args, (size_t)n, late ? ARGS_TRIM : 0, &s->args) > 0)
		s->got |= CONTEXT_ARGS;
}

static void read_link(int fd, const char *name, uint16_t field, char *buf, size_t *len,
		      struct snapshot *s)
{
	ssize_t n = procfs_readlink(fd, name, buf, PATH_MAX);

	if (n > 0) {
		*len = (size_t)n;
		s->got |= field;
	}
	s->denied |= n == -EACCES || n == -EPERM;
}

/* What is read late may be another file by now. */
static void read_exe(struct context *c, int fd, bool late, struct snapshot *s)
{
	read_link(fd, "exe", CONTEXT_EXE, s->exe, &s->exe_len, s);
	s->file.inode = 0;
	if (late || !c->exes || !(s->got & CONTEXT_EXE) ||
	    !exe_cache_is_due(c->exes, s->exe, s->exe_len, c->clock()))
		return;
	s->exe[s->exe_len] = '\0';
	s->file = exe_cache_look(fd, s->exe);
}

/*
 * Each login uid that is set begins a session with a number of its own, and a process without one
 * has none (kernel/auditsc.c: audit_set_loginuid), so the number tells whether the login uid is
 * still the same.
 */
static void read_login(int fd, const struct context_entry *expected, struct snapshot *s)
{
	if (procfs_read_sessionid(fd, &s->session) < 0)
		return;
	s->login_uid = UINT32_MAX;
	if (s->session != UINT32_MAX && expected && expected->known & CONTEXT_LOGIN &&
	    expected->session == s->session)
		s->login_uid = expected->login_uid;
	else if (s->session != UINT32_MAX && procfs_read_loginuid(fd, &s->login_uid) < 0)
		return;
	s->got |= CONTEXT_LOGIN;
}

static void read_cgroup(int fd, struct snapshot *s)
{
	ssize_t n = procfs_read(fd, "cgroup", s->cgroup, sizeof(s->cgroup));

	if (n > 0) {
		s->cgroup_len = (size_t)n;
		s->got |= CONTEXT_CGROUP;
	}
}

/*
 * Whether what was read is the process's that is expected, and not of one that is ending. A child
 * that was just born is known to be the owner of its pid: to come round to that again takes all the
 * others. A process that ends is put into the root of each version 1 hierarchy
 * (kernel/cgroup/cgroup.c: cgroup_exit), so the same group as before is its own.
 */
static bool is_proven(const struct context *c, const struct context_entry *e)
{
	const struct snapshot *s = &c->snap;

	if (!e || !(e->flags & CONTEXT_BORN) || e->flags & (CONTEXT_ENDED | CONTEXT_RELEASED) ||
	    !c->young_ns)
		return false;
	if (s->got & CONTEXT_CGROUP && !pool_is(e->cgroup, s->cgroup, s->cgroup_len))
		return false;
	return c->clock() - e->start_ns < c->young_ns;
}

static int read_stat(struct context *c, int fd, uint16_t want)
{
	struct snapshot *s = &c->snap;

	if (procfs_read_stat(fd, &s->stat) < 0) {
		/* without it nobody knows whose values these are */
		s->got = 0;
		c->stats.gone++;
		return -ESRCH;
	}
	s->has_stat = true;
	if (want & READ_PROGRAM)
		s->got |= CONTEXT_COMM;
	if (s->stat.flags & PROCFS_EXITING && s->got & CONTEXT_CGROUP &&
	    cgroup_has_v1(s->cgroup, s->cgroup_len))
		s->got &= (uint16_t)~CONTEXT_CGROUP;
	return 0;
}

/*
 * What goes first at exit is read first: the memory map (arguments, executable), the working
 * directory, the rest.
 */
int context_read(struct context *c, int32_t tgid, uint16_t want, bool late,
		 const struct context_entry *expected)
{
	struct snapshot *s = &c->snap;
	int fd, r = 0;

	s->got = 0;
	s->denied = s->has_stat = false;
	if (c->proc_fd < 0)
		return -ENODATA;
	c->stats.reads++;
	fd = procfs_open_pid(c->proc_fd, tgid);
	if (fd < 0) {
		c->stats.gone++;
		return fd == -ENOENT ? -ESRCH : fd;
	}
	if (want & CONTEXT_ARGS && c->args)
		read_args(c, fd, late, s);
	if (want & CONTEXT_EXE)
		read_exe(c, fd, late, s);
	if (want & CONTEXT_CWD)
		read_link(fd, "cwd", CONTEXT_CWD, s->cwd, &s->cwd_len, s);
	if (want & CONTEXT_CGROUP)
		read_cgroup(fd, s);
	if (want & CONTEXT_LOGIN)
		read_login(fd, expected, s);
	if (want & READ_IDS && procfs_read_ids(fd, &s->ids) == 0)
		s->got |= READ_IDS;
	if (!is_proven(c, expected))
		r = read_stat(c, fd, want);
	close(fd);
	c->stats.denied += s->denied;
	return r;
}

static int64_t ticks_at(const struct context *c, int64_t mono_ns)
{
	return (mono_ns + c->boot_offset_ns) / c->tick_ns;
}

/*
 * A process begins before its FORK is stamped. One that has the pid of a dead process begins later
 * than that: after its end. One tick is left for the rounding.
 */
bool context_began(const struct context *c, int64_t mono_ns)
{
	return (int64_t)c->snap.stat.start_ticks <= ticks_at(c, mono_ns) + 1;
}

bool context_is_same(const struct context *c, const struct context_entry *e, int64_t mono_ns)
{
	if (!c->snap.has_stat)
		return true;
	if (e->start_ticks)
		return e->start_ticks == c->snap.stat.start_ticks;
	return context_began(c, e->flags & CONTEXT_BORN ? e->start_ns : mono_ns);
}

void context_set_item(struct context *c, struct context_entry *e, struct pool_item **at,
		      uint16_t field, struct pool_item *item)
{
	pool_unref(&c->pool, *at);
	*at = item;
	if (item) {
		e->known |= field;
		e->inherited &= (uint16_t)~field;
	} else {
		e->known &= (uint16_t)~field;
		c->stats.no_memory++;
	}
}

void context_set_text(struct context *c, struct context_entry *e, struct pool_item **at,
		      uint16_t field, const char *data, size_t len)
{
	struct exeunt_bytes whole = { data, (uint32_t)len };

	context_set_item(c, e, at, field, pool_get(&c->pool, POOL_TEXT, data, len, &whole, 1));
}

/*
 * The whole text of the file is the key, so that it is taken apart once and not for each process.
 */
static void set_cgroup(struct context *c, struct context_entry *e, const struct snapshot *s)
{
	struct pool_item *i = pool_find(&c->pool, POOL_CGROUP, s->cgroup, s->cgroup_len);
	struct cgroup_info info;

	if (!i) {
		if (cgroup_parse(s->cgroup, s->cgroup_len, &info) < 0)
			return;
		i = pool_get(&c->pool, POOL_CGROUP, s->cgroup, s->cgroup_len,
			     (struct exeunt_bytes[]){ info.path, info.container_id, info.unit }, 3);
	}
	context_set_item(c, e, &e->cgroup, CONTEXT_CGROUP, i);
}

void context_set_args(struct context *c, struct context_entry *e, const struct args_list *args)
{
	context_set_item(
		c, e, &e->args, CONTEXT_ARGS,
		pool_get(&c->pool, POOL_ARGS, args->data, args->len, args->parts, args->n_parts));
	c->stats.args_cut += args->cut;
}

static void set_own(struct context_entry *e, uint16_t field)
{
	e->known |= field;
	e->inherited &= (uint16_t)~field;
}

/* A child that differs from what it inherited shows that its parent changed since it was read. */
static void suspect_parent(struct context *c, const struct context_entry *e,
			   const struct snapshot *s)
{
	struct context_entry *p;

	if (!(e->known & e->inherited & CONTEXT_LOGIN) ||
	    (e->login_uid == s->login_uid && e->session == s->session))
		return;
	p = context_find(c, e->parent_tgid, e->start_ns);
	if (p)
		p->checks = 0;
}

void context_apply(struct context *c, struct context_entry *e)
{
	const struct snapshot *s = &c->snap;

	if (s->has_stat) {
		e->start_ticks = s->stat.start_ticks;
		if (s->stat.flags & PROCFS_KTHREAD)
			e->flags |= CONTEXT_KTHREAD;
	}
	if (s->got & CONTEXT_COMM) {
		memcpy(e->comm, s->stat.comm, sizeof(e->comm));
		set_own(e, CONTEXT_COMM);
	}
	if (s->got & CONTEXT_LOGIN) {
		suspect_parent(c, e, s);
		e->login_uid = s->login_uid;
		e->session = s->session;
		set_own(e, CONTEXT_LOGIN);
	}
	if (s->got & READ_IDS) {
		e->uid = s->ids.uid;
		e->euid = s->ids.euid;
		e->gid = s->ids.gid;
		e->egid = s->ids.egid;
		set_own(e, READ_IDS);
	}
	if (s->got & CONTEXT_CGROUP)
		set_cgroup(c, e, s);
	if (s->got & CONTEXT_EXE) {
		context_set_text(c, e, &e->exe, CONTEXT_EXE, s->exe, s->exe_len);
		if (s->file.inode && e->exe)
			exe_cache_learn(c->exes, &c->pool, e->exe, s->file);
	}
	if (s->got & CONTEXT_CWD)
		context_set_text(c, e, &e->cwd, CONTEXT_CWD, s->cwd, s->cwd_len);
	if (s->got & CONTEXT_ARGS)
		context_set_args(c, e, &s->args);
	context_shrink(c, e);
}

struct context_entry *context_adopt(struct context *c, int32_t tgid, int64_t mono_ns)
{
	int64_t start = (int64_t)c->snap.stat.start_ticks * c->tick_ns - c->boot_offset_ns;
	struct context_entry *e = context_add(c, tgid, NULL);

	if (!e)
		return NULL;
	e->flags = CONTEXT_READ;
	context_date(c, e, MAX(start, INT64_C(1)));
	e->seen_ns = MAX(mono_ns, e->start_ns);
	e->checked_ns = mono_ns;
	e->checks = RECHECK_DOUBLINGS;
	return e;
}

bool context_recheck(struct context *c, struct context_entry *e, int64_t mono_ns)
{
	int64_t wait = e->checks ? RECHECK_FIRST_NS << MIN(e->checks - 1, RECHECK_DOUBLINGS) : 0;

	if (c->proc_fd < 0 || e->flags & CONTEXT_RELEASED || mono_ns - e->checked_ns < wait)
		return true;
	if (!context_afford(c, mono_ns, false))
		return true;
	e->checked_ns = mono_ns;
	e->checks = (uint16_t)MIN(e->checks + 1, RECHECK_DOUBLINGS + 1);
	if (context_read(c, e->tgid, READ_LOGIN, false, e) < 0)
		return true;
	if (!context_is_same(c, e, mono_ns))
		return false;
	context_apply(c, e);
	return true;
}

int context_seed(struct context *c, int64_t now_ns)
{
	struct procfs_iter it;
	int added = 0, r;
	pid_t pid;

	if (c->proc_fd < 0)
		return 0;
	r = procfs_iter_init(&it, c->proc_fd);
	if (r < 0)
		return r;
	while ((pid = procfs_iter_next(&it)) > 0) {
		struct context_entry *e = context_find(c, pid, now_ns);

		if (e && !(e->flags & CONTEXT_RELEASED)) {
			if (context_read(c, pid, 0, true, NULL) < 0 ||
			    context_is_same(c, e, now_ns))
				continue;
			context_end(c, e, now_ns);
		}
		if (context_read(c, pid, READ_PROGRAM | READ_LOGIN | READ_IDS, true, NULL) < 0)
			continue;
		e = context_adopt(c, pid, now_ns);
		if (e)
			context_apply(c, e);
		added += e != NULL;
	}
	return pid < 0 ? pid : added;
}
