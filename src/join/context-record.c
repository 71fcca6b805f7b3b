/* SPDX-License-Identifier: MIT */
/* From an entry of the context table to fields of a record; see context.h. */
#include "base/util.h"
#include "join/context-internal.h"
#include "record/fields.h"

static void mark(struct exeunt_record *r, enum exeunt_field field)
{
	r->inherited[field / 64] |= UINT64_C(1) << (field % 64);
}

/*
 * Whether `field` is to be filled from `part` of the entry; sets presence and mark. What could not
 * be read in time is marked without a value.
 */
static bool take(const struct context_entry *e, uint16_t part, struct exeunt_record *r,
		 enum exeunt_field field)
{
	if (exeunt_has(r, field))
		return false;
	if (e->inherited & part)
		mark(r, field);
	if (!(e->known & part))
		return false;
	field_set(r, field);
	return true;
}

static void take_u32(const struct context_entry *e, uint16_t part, uint32_t value,
		     struct exeunt_record *r, enum exeunt_field field, uint32_t *to)
{
	if (take(e, part, r, field))
		*to = value;
}

static void take_cgroup(const struct context_entry *e, struct exeunt_record *r)
{
	const struct exeunt_bytes *parts;

	if (take(e, CONTEXT_CGROUP, r, EXEUNT_F_CGROUP))
		r->cgroup = e->cgroup->parts[0];
	if (!(e->known & CONTEXT_CGROUP))
		return;
	parts = e->cgroup->parts;
	if (parts[1].data && take(e, CONTEXT_CGROUP, r, EXEUNT_F_CONTAINER_ID))
		r->container_id = parts[1];
	if (parts[2].data && take(e, CONTEXT_CGROUP, r, EXEUNT_F_UNIT))
		r->unit = parts[2];
}

static void take_program(const struct context_entry *e, struct exeunt_record *r)
{
	if (take(e, CONTEXT_EXE, r, EXEUNT_F_EXE_PATH))
		r->exe_path = e->exe->parts[0];
	if (take(e, CONTEXT_ARGS, r, EXEUNT_F_ARGS)) {
		r->args = e->args->parts;
		r->n_args = e->args->n_parts;
	}
	if (take(e, CONTEXT_COMM, r, EXEUNT_F_COMM))
		memcpy(r->comm, e->comm, sizeof(e->comm));
}

/* It called exec, says the kernel, and no EXEC came: what the entry has is its parent's. */
static bool missed_exec(const struct context_entry *e, const struct exeunt_record *r)
{
	return exeunt_has(r, EXEUNT_F_FORKED_NOT_EXECED) && !r->forked_not_execed &&
	       e->flags & CONTEXT_BORN && !(e->flags & CONTEXT_EXECED) &&
	       e->inherited & CONTEXT_EXE;
}

void context_to_record(const struct context_entry *e, struct exeunt_record *r)
{
	if (!missed_exec(e, r)) {
		take_program(e, r);
	} else {
		if (!exeunt_has(r, EXEUNT_F_EXE_PATH))
			mark(r, EXEUNT_F_EXE_PATH);
		if (!exeunt_has(r, EXEUNT_F_ARGS))
			mark(r, EXEUNT_F_ARGS);
	}
	if (take(e, CONTEXT_CWD, r, EXEUNT_F_CWD))
		r->cwd = e->cwd->parts[0];
	take_cgroup(e, r);
	take_u32(e, CONTEXT_LOGIN, e->login_uid, r, EXEUNT_F_LOGIN_UID, &r->login_uid);
	take_u32(e, CONTEXT_LOGIN, e->session, r, EXEUNT_F_SESSION, &r->session);
	take_u32(e, CONTEXT_UID, e->uid, r, EXEUNT_F_UID, &r->uid);
	take_u32(e, CONTEXT_UID, e->euid, r, EXEUNT_F_EUID, &r->euid);
	take_u32(e, CONTEXT_GID, e->gid, r, EXEUNT_F_GID, &r->gid);
	take_u32(e, CONTEXT_GID, e->egid, r, EXEUNT_F_EGID, &r->egid);
	if (take(e, CONTEXT_PARENT, r, EXEUNT_F_PARENT_PID_AT_FORK))
		r->parent_pid_at_fork = e->parent_tgid;
}

static void unmark(struct exeunt_record *r, enum exeunt_field field)
{
	r->inherited[field / 64] &= ~(UINT64_C(1) << (field % 64));
}

void context_exe_by_inode(struct context *c, const struct context_entry *e, struct exeunt_record *r)
{
	struct exe_file file = { r->exe_dev, r->exe_inode };
	const struct pool_item *path;

	if (!c->exes || !exeunt_has(r, EXEUNT_F_EXE_INODE) || !exeunt_has(r, EXEUNT_F_EXE_DEV))
		return;
	if (exeunt_has(r, EXEUNT_F_EXE_PATH)) {
		if (e && e->known & ~e->inherited & CONTEXT_EXE)
			exe_cache_confirm(c->exes, e->exe, file);
		return;
	}
	/* in a container the same file may have another path */
	if (exeunt_has(r, EXEUNT_F_CONTAINER_ID) || !exeunt_has(r, EXEUNT_F_CREATION_TIME))
		return;
	path = exe_cache_find(c->exes, file, r->creation_time_ns);
	if (!path)
		return;
	r->exe_path = path->parts[0];
	field_set(r, EXEUNT_F_EXE_PATH);
	unmark(r, EXEUNT_F_EXE_PATH);
	if (!e || !(e->flags & (CONTEXT_BORN | CONTEXT_READ)))
		mark(r, EXEUNT_F_EXE_PATH);
}
