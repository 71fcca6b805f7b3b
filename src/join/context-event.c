/* SPDX-License-Identifier: MIT */
/* What each event changes in the context table; see context.h. */
#include "base/util.h"
#include "decode/procevents.h"
#include "join/context-internal.h"

/*
 * How long after the start that /proc tells, which is rounded down, the FORK of the same process
 * may be stamped.
 */
#define BIRTH_NS (30 * NS_PER_MSEC)

/* Takes from the parent what the child does not know by itself. */
static void inherit(struct context_entry *e, const struct context_entry *p)
{
	uint16_t take = p->known & (uint16_t) ~(e->known | CONTEXT_PARENT);

	if (take & CONTEXT_COMM)
		memcpy(e->comm, p->comm, sizeof(e->comm));
	if (take & CONTEXT_EXE)
		e->exe = pool_ref(p->exe);
	if (take & CONTEXT_ARGS)
		e->args = pool_ref(p->args);
	if (take & CONTEXT_CWD)
		e->cwd = pool_ref(p->cwd);
	if (take & CONTEXT_CGROUP)
		e->cgroup = pool_ref(p->cgroup);
	if (take & CONTEXT_LOGIN) {
		e->login_uid = p->login_uid;
		e->session = p->session;
	}
	if (take & CONTEXT_UID) {
		e->uid = p->uid;
		e->euid = p->euid;
	}
	if (take & CONTEXT_GID) {
		e->gid = p->gid;
		e->egid = p->egid;
	}
	e->known |= take;
	/* what the parent's own reading missed, the child misses too */
	e->inherited |= take | (p->inherited & (uint16_t)~e->known);
	e->flags |= p->flags & CONTEXT_KTHREAD;
}

/* An event of this process came before its FORK, or /proc was read before. */
static bool is_birth_of(const struct context_entry *e, int64_t mono_ns)
{
	if (e->flags & (CONTEXT_BORN | CONTEXT_RELEASED) || e->start_ns > mono_ns)
		return false;
	return mono_ns <= e->seen_ns + (e->told ? TOLD_EARLY_NS : 0) ||
	       (e->flags & CONTEXT_READ && mono_ns - e->start_ns <= BIRTH_NS);
}

/* The parent of a child that was born then; read now if nothing told of it before. */
static struct context_entry *find_parent(struct context *c, int32_t tgid, int64_t mono_ns)
{
	struct context_entry *p = context_find(c, tgid, mono_ns);

	if (p && !(p->flags & CONTEXT_RELEASED && mono_ns > p->end_ns)) {
		context_touch(c, p, mono_ns);
		if (context_recheck(c, p, mono_ns))
			return p;
		/* this parent's own FORK was lost, and its pid had another owner before */
		context_end(c, p, mono_ns);
	}
	p = NULL;
	if (tgid > 0 && c->proc_fd >= 0 && context_afford(c, mono_ns, false) &&
	    context_read(c, tgid, READ_PROGRAM | READ_LOGIN | READ_IDS, true, NULL) == 0 &&
	    context_began(c, mono_ns))
		p = context_adopt(c, tgid, mono_ns);
	if (p)
		context_apply(c, p);
	else
		c->stats.orphans++;
	return p;
}

void context_fork(struct context *c, int32_t parent_tgid, int32_t tgid, int64_t mono_ns)
{
	struct context_entry *p, *e;

	c->stats.forks++;
	context_reap(c, mono_ns, 2);
	/* the parent first: making room for the child must not cost it */
	p = find_parent(c, parent_tgid, mono_ns);
	e = context_find(c, tgid, mono_ns);
	if (!e || !is_birth_of(e, mono_ns)) {
		/* the pid is free again, so whoever had it has ended */
		if (e && !(e->flags & CONTEXT_ENDED))
			context_end(c, e, mono_ns);
		e = context_add(c, tgid, p);
		if (!e)
			return;
	}
	context_date(c, e, mono_ns);
	e->seen_ns = MAX(e->seen_ns, mono_ns);
	e->flags |= CONTEXT_BORN;
	e->parent_tgid = parent_tgid;
	e->known |= CONTEXT_PARENT;
	if (p && p != e)
		inherit(e, p);
}

void context_forget_program(struct context *c, struct context_entry *e)
{
	pool_unref(&c->pool, e->exe);
	pool_unref(&c->pool, e->args);
	e->exe = e->args = NULL;
	e->known &= (uint16_t)~OF_PROGRAM;
	e->inherited |= READ_AT_EXEC;
	if (!c->args)
		e->inherited &= (uint16_t)~CONTEXT_ARGS; /* not wanted, so not missed */
	if (c->proc_fd < 0)
		e->inherited &= e->known;
}

void context_count_exec(struct context_entry *e, int64_t mono_ns)
{
	if (mono_ns - e->exec_ns > EXEC_APART_NS) {
		e->told = e->told > e->execs;
		e->execs = 0;
	}
	e->exec_ns = MAX(e->exec_ns, mono_ns);
	e->execs = (uint8_t)MIN(e->execs + 1, UINT8_MAX);
}

/*
 * The entry of the process that called exec. *fresh: c->snap was read now; it becomes false when
 * that turns out to be a later process with the same pid.
 */
static struct context_entry *find_execer(struct context *c, int32_t tgid, int64_t mono_ns,
					 bool *fresh)
{
	struct context_entry *e = context_find(c, tgid, mono_ns);

	if (e && e->flags & CONTEXT_RELEASED)
		e = NULL;
	if (e && *fresh && context_is_same(c, e, mono_ns))
		return e;
	if (*fresh && context_began(c, mono_ns)) {
		/* its FORK was lost; what is known of the pid was about another */
		if (e)
			context_end(c, e, mono_ns);
		return context_adopt(c, tgid, mono_ns);
	}
	*fresh = false;
	return e ? e : context_add(c, tgid, NULL);
}

/* Audit was faster, and what is known of the program is not older than this EXEC. */
static bool is_told(const struct context *c, const struct context_entry *e, bool fresh)
{
	const struct snapshot *s = &c->snap;

	if (e->told < e->execs || !(e->known & CONTEXT_EXE))
		return false;
	return !fresh || !(s->got & CONTEXT_EXE) ||
	       (s->exe_len == e->exe->len && !memcmp(s->exe, e->exe->parts[0].data, s->exe_len));
}

void context_exec(struct context *c, int32_t tgid, int64_t mono_ns)
{
	bool fresh =
		c->proc_fd >= 0 && context_afford(c, mono_ns, true) &&
		context_read(c, tgid, READ_AT_EXEC, false, context_find(c, tgid, mono_ns)) == 0;
	bool whole = fresh && c->snap.got & CONTEXT_EXE && c->snap.got & CONTEXT_CWD;
	bool late = fresh && !whole && !c->snap.denied;
	struct context_entry *e = find_execer(c, tgid, mono_ns, &fresh);

	c->stats.execs++;
	c->stats.gone += late || (whole && !fresh);
	if (!e)
		return;
	/* A thread that calls exec takes the leader's place; the leader's EXIT has come before. */
	e->flags &= (uint16_t) ~(CONTEXT_LEADERLESS | CONTEXT_KTHREAD);
	e->flags |= CONTEXT_EXECED;
	context_touch(c, e, mono_ns);
	context_count_exec(e, mono_ns);
	if (!is_told(c, e, fresh))
		context_forget_program(c, e);
	else if (c->proc_fd >= 0)
		e->inherited |= CONTEXT_CGROUP;
	if (fresh) {
		context_apply(c, e);
		/* a zombie has one too: the kernel knows of no login uids */
		if (!(e->known & CONTEXT_LOGIN))
			e->inherited &= (uint16_t)~CONTEXT_LOGIN;
	}
	e->checked_ns = mono_ns;
	e->checks = 0;
}

/* The entry that an event about a living process is for. */
static struct context_entry *find_living(struct context *c, int32_t tgid, int64_t mono_ns)
{
	struct context_entry *e = context_find(c, tgid, mono_ns);

	if (!e || e->flags & CONTEXT_RELEASED)
		return NULL;
	context_touch(c, e, mono_ns);
	return e;
}

void context_comm(struct context *c, int32_t tgid, const char comm[16], int64_t mono_ns)
{
	struct context_entry *e = find_living(c, tgid, mono_ns);

	if (!e)
		return;
	memcpy(e->comm, comm, sizeof(e->comm));
	e->comm[sizeof(e->comm) - 1] = '\0';
	e->known |= CONTEXT_COMM;
	e->inherited &= (uint16_t)~CONTEXT_COMM;
}

/* Who logs a user in sets the login uid shortly before the ids: a good time to look. */
void context_uid(struct context *c, int32_t tgid, uint32_t uid, uint32_t euid, int64_t mono_ns)
{
	struct context_entry *e = find_living(c, tgid, mono_ns);

	if (!e)
		return;
	e->uid = uid;
	e->euid = euid;
	e->known |= CONTEXT_UID;
	e->inherited &= (uint16_t)~CONTEXT_UID;
	context_recheck(c, e, mono_ns);
}

void context_gid(struct context *c, int32_t tgid, uint32_t gid, uint32_t egid, int64_t mono_ns)
{
	struct context_entry *e = find_living(c, tgid, mono_ns);

	if (!e)
		return;
	e->gid = gid;
	e->egid = egid;
	e->known |= CONTEXT_GID;
	e->inherited &= (uint16_t)~CONTEXT_GID;
}

void context_sid(struct context *c, int32_t tgid, int64_t mono_ns)
{
	struct context_entry *e = find_living(c, tgid, mono_ns);

	if (e)
		context_recheck(c, e, mono_ns);
}

void context_login(struct context *c, int32_t tgid, uint32_t login_uid, uint32_t session,
		   int64_t mono_ns)
{
	struct context_entry *e = find_living(c, tgid, mono_ns);

	if (!e)
		return;
	e->login_uid = login_uid;
	e->session = session;
	e->known |= CONTEXT_LOGIN;
	e->inherited &= (uint16_t)~CONTEXT_LOGIN;
}

/* The process has ended when its leader has, and the threads that outlived it. */
void context_exit(struct context *c, int32_t tgid, int32_t pid, int64_t mono_ns)
{
	struct context_entry *e = context_find(c, tgid, mono_ns);

	if (!e)
		return;
	if (pid == tgid)
		e->flags |= CONTEXT_LEADERLESS;
	if (e->flags & CONTEXT_LEADERLESS)
		context_end(c, e, mono_ns);
}

void context_event(struct context *c, const struct proc_event_info *e)
{
	/* a capture may tell any time; half of the range leaves room to reckon with it */
	int64_t t = (int64_t)MIN(e->timestamp_ns, (uint64_t)INT64_MAX / 2);
	bool leader = e->pid == e->tgid;

	if (e->kind == PROC_KIND_EXIT) {
		context_exit(c, e->tgid, e->pid, t);
		return;
	}
	if (!leader)
		return; /* a new thread, its name, its ids: the process stays what it is */
	if (e->kind == PROC_KIND_FORK)
		context_fork(c, e->parent_tgid, e->tgid, t);
	else if (e->kind == PROC_KIND_EXEC)
		context_exec(c, e->tgid, t);
	else if (e->kind == PROC_KIND_COMM)
		context_comm(c, e->tgid, e->u.comm, t);
	else if (e->kind == PROC_KIND_UID)
		context_uid(c, e->tgid, e->u.id.real, e->u.id.effective, t);
	else if (e->kind == PROC_KIND_GID)
		context_gid(c, e->tgid, e->u.id.real, e->u.id.effective, t);
	else if (e->kind == PROC_KIND_SID)
		context_sid(c, e->tgid, t);
}
