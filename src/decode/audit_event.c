/* SPDX-License-Identifier: MIT */
/*
 * Owns the tables of fields, one for each type of record, in the order in which the kernel writes
 * them (audit_log_exit(), audit_log_task_info() in kernel/auditsc.c and kernel/audit.c).
 */
#include "decode/audit_event.h"

#include <linux/audit.h>

#include "base/util.h"
#include "decode/audit_arch.h"

/* Not in linux/audit.h: auditd's own, libaudit.h has them. */
#define TYPE_USER_START 1105
#define TYPE_USER_END 1106
#define TYPE_USER_LOGIN 1112
#define TYPE_USER_LOGOUT 1113
#define TYPE_LAST_DAEMON 1299

#define BIT(what) (UINT64_C(1) << AUDIT_HAS_##what)
#define ROW(text, kind_, member, what)                                            \
	{                                                                         \
		.name = text, .len = sizeof(text) - 1, .kind = AUDIT_ROW_##kind_, \
		.bit = BIT(what), .offset = offsetof(struct audit_event, member), \
	}
#define SKIP(text)                                                             \
	{                                                                      \
		.name = text, .len = sizeof(text) - 1, .kind = AUDIT_ROW_SKIP, \
	}

static const struct audit_row syscall_rows[] = {
	ROW("arch", HEX, arch, ARCH),
	ROW("syscall", I64, syscall, SYSCALL),
	ROW("success", BOOL, success, SUCCESS),
	ROW("exit", I64, exit, EXIT),
	ROW("a0", HEX, a0, A0),
	SKIP("a1"),
	SKIP("a2"),
	SKIP("a3"),
	ROW("items", I64, items, ITEMS),
	ROW("ppid", PID, ppid, PPID),
	ROW("pid", PID, pid, PID),
	ROW("auid", U32, auid, AUID),
	ROW("uid", U32, uid, UID),
	ROW("gid", U32, gid, GID),
	ROW("euid", U32, euid, EUID),
	ROW("suid", U32, suid, SUID),
	ROW("fsuid", U32, fsuid, FSUID),
	ROW("egid", U32, egid, EGID),
	ROW("sgid", U32, sgid, SGID),
	ROW("fsgid", U32, fsgid, FSGID),
	ROW("tty", WORD, tty, TTY),
	ROW("ses", U32, ses, SES),
	ROW("comm", STRING, comm, COMM),
	ROW("exe", STRING, exe, EXE),
	ROW("subj", LABEL, subj, SUBJ),
	ROW("key", STRING, key, KEY),
	SKIP("per"),
};
static const struct audit_rows syscall_table = { syscall_rows, ARRAY_SIZE(syscall_rows), 0,
						 BIT(KEY) };

static const struct audit_row call_rows[] = {
	ROW("arch", HEX, arch, ARCH),
	ROW("syscall", I64, syscall, SYSCALL),
};
static const struct audit_rows call_table = { call_rows, ARRAY_SIZE(call_rows),
					      BIT(ARCH) | BIT(SYSCALL), 0 };

static const struct audit_row enriched_rows[] = {
	SKIP("ARCH"),
	SKIP("SYSCALL"),
	ROW("AUID", STRING, auid_name, AUID_NAME),
	ROW("UID", STRING, uid_name, UID_NAME),
	ROW("GID", STRING, gid_name, GID_NAME),
};
static const struct audit_rows enriched_table = { enriched_rows, ARRAY_SIZE(enriched_rows),
						  BIT(AUID_NAME) | BIT(UID_NAME) | BIT(GID_NAME),
						  0 };

static const struct audit_row cwd_rows[] = { ROW("cwd", STRING, cwd, CWD) };
static const struct audit_rows cwd_table = { cwd_rows, ARRAY_SIZE(cwd_rows), 0, 0 };

static const struct audit_row path_rows[] = {
	ROW("item", I64, items, ITEMS),
	ROW("name", STRING, path, PATH),
	ROW("nametype", WORD, nametype, NAMETYPE),
};
static const struct audit_rows path_table = { path_rows, ARRAY_SIZE(path_rows), 0, 0 };

static const struct audit_row login_rows[] = {
	ROW("pid", PID, pid, PID),
	ROW("uid", U32, uid, UID),
	ROW("subj", LABEL, subj, SUBJ),
	ROW("old-auid", U32, old_auid, OLD_AUID),
	ROW("auid", U32, auid, AUID),
	ROW("tty", WORD, tty, TTY),
	ROW("old-ses", U32, old_ses, OLD_SES),
	ROW("ses", U32, ses, SES),
	ROW("res", BOOL, res, RES),
};
static const struct audit_rows login_table = { login_rows, ARRAY_SIZE(login_rows), 0, 0 };

/* What the kernel says of the sender; the text of the program is within msg and is read apart. */
static const struct audit_row user_rows[] = {
	ROW("pid", PID, pid, PID), ROW("uid", U32, uid, UID),	   ROW("auid", U32, auid, AUID),
	ROW("ses", U32, ses, SES), ROW("subj", LABEL, subj, SUBJ), ROW("msg", WORD, msg, MSG),
};
static const struct audit_rows user_table = { user_rows, ARRAY_SIZE(user_rows), 0, 0 };

static const struct audit_row user_text_rows[] = {
	ROW("op", WORD, op, OP),       ROW("acct", STRING, acct, ACCT),
	ROW("exe", STRING, exe, EXE),  SKIP("hostname"),
	ROW("addr", WORD, addr, ADDR), ROW("terminal", WORD, tty, TTY),
	ROW("res", BOOL, res, RES),
};
static const struct audit_rows user_text_table = { user_text_rows, ARRAY_SIZE(user_text_rows), 0,
						   0 };

static const struct audit_row abend_rows[] = {
	ROW("auid", U32, auid, AUID),
	ROW("uid", U32, uid, UID),
	ROW("gid", U32, gid, GID),
	ROW("ses", U32, ses, SES),
	ROW("subj", LABEL, subj, SUBJ),
	ROW("pid", PID, pid, PID),
	ROW("comm", STRING, comm, COMM),
	ROW("exe", STRING, exe, EXE),
	ROW("sig", U32, sig, SIG),
	ROW("res", BOOL, res, RES),
	ROW("arch", HEX, arch, ARCH),
	ROW("syscall", I64, syscall, SYSCALL),
	SKIP("compat"),
	SKIP("ip"),
	ROW("code", HEX, action, ACTION),
};
static const struct audit_rows abend_table = { abend_rows, ARRAY_SIZE(abend_rows), 0, 0 };

static const struct audit_row state_rows[] = {
	ROW("op", WORD, op, OP),	ROW("audit_enabled", U32, enabled, ENABLED),
	ROW("auid", U32, auid, AUID),	ROW("pid", PID, pid, PID),
	ROW("uid", U32, uid, UID),	ROW("ses", U32, ses, SES),
	ROW("subj", LABEL, subj, SUBJ), ROW("key", STRING, key, KEY),
	ROW("list", U32, list, LIST),	ROW("res", BOOL, res, RES),
};
static const struct audit_rows state_table = { state_rows, ARRAY_SIZE(state_rows), 0, 0 };

static void apply(const struct audit_rows *table, const struct audit_line *line,
		  struct audit_event *event, struct audit_pool *pool, struct exeunt_bytes *glued)
{
	audit_apply(table, line->raw, line->flags & AUDIT_LINE_CUT, event, &event->has, pool,
		    glued);
}

/* Tells a record made for people from one that is cut or damaged. */
static int why_no_call(const struct audit_line *line)
{
	struct audit_cursor cursor;
	struct audit_field f;
	uint64_t v;

	audit_fields_begin(&cursor, line->raw);
	while (audit_field_next(&cursor, &f)) {
		bool arch = f.name.len == 4 && !memcmp(f.name.data, "arch", 4);
		bool call = f.name.len == 7 && !memcmp(f.name.data, "syscall", 7);

		if ((arch && audit_decode_hex(&v, &f.value) < 0) ||
		    (call && audit_decode_u64(&v, &f.value) < 0))
			return -EPROTONOSUPPORT;
	}
	return -EBADMSG;
}

int audit_event_call(const struct audit_line *line)
{
	struct audit_pool pool = { 0 };
	struct audit_event event;

	event.has = 0;
	apply(&call_table, line, &event, &pool, NULL);
	if ((event.has & call_table.enough) != call_table.enough || event.arch > UINT32_MAX)
		return why_no_call(line);
	return audit_arch_call((uint32_t)event.arch, event.syscall);
}

void audit_event_begin(struct audit_event *ret, const struct audit_line *line,
		       enum audit_event_kind kind)
{
	ret->kind = kind;
	ret->type = line->type;
	ret->flags = 0;
	ret->has = 0;
	ret->node = line->node;
	ret->time_ns = line->sec * NS_PER_SEC + line->msec * NS_PER_MSEC;
	ret->serial = line->serial;
	ret->args = NULL;
	ret->n_args = 0;
}

void audit_event_syscall(struct audit_event *event, const struct audit_line *line,
			 struct audit_pool *pool)
{
	struct exeunt_bytes glued, enriched = line->enriched;

	apply(&syscall_table, line, event, pool, &glued);
	if (!enriched.len)
		enriched = glued;
	if (enriched.len)
		audit_apply(&enriched_table, enriched, line->flags & AUDIT_LINE_CUT, event,
			    &event->has, pool, NULL);
	if (event->has & BIT(A0) && event->kind != AUDIT_EVENT_EXEC) {
		event->code = (uint8_t)event->a0;
		event->has |= BIT(CODE);
	}
}

void audit_event_cwd(struct audit_event *event, const struct audit_line *line,
		     struct audit_pool *pool)
{
	apply(&cwd_table, line, event, pool, NULL);
}

/* Item 0 is the file given to execve(2); the interpreters of a script and the loader follow. */
void audit_event_path(struct audit_event *event, const struct audit_line *line,
		      struct audit_pool *pool)
{
	struct audit_event path;

	path.has = 0;
	apply(&path_table, line, &path, pool, NULL);
	if (!(path.has & BIT(PATH)) || !(path.has & BIT(ITEMS)) || path.items != 0)
		return;
	if (path.has & BIT(NAMETYPE) &&
	    (path.nametype.len != 6 || memcmp(path.nametype.data, "NORMAL", 6) != 0))
		return;
	event->path = path.path;
	event->has |= BIT(PATH);
}

static void decode_user(struct audit_event *event, const struct audit_line *line,
			struct audit_pool *pool)
{
	apply(&user_table, line, event, pool, NULL);
	if (event->has & BIT(MSG))
		audit_apply(&user_text_table, event->msg, line->flags & AUDIT_LINE_CUT, event,
			    &event->has, pool, NULL);
	switch (line->type) {
	case TYPE_USER_START:
	case TYPE_USER_LOGIN:
		event->kind = AUDIT_EVENT_SESSION_START;
		break;
	case TYPE_USER_END:
	case TYPE_USER_LOGOUT:
		event->kind = AUDIT_EVENT_SESSION_END;
		break;
	default:
		break;
	}
}

static int decode_with(const struct audit_rows *table, enum audit_event_kind kind,
		       struct audit_event *event, const struct audit_line *line,
		       struct audit_pool *pool)
{
	apply(table, line, event, pool, NULL);
	event->kind = kind;
	return 1;
}

int audit_event_single(struct audit_event *ret, const struct audit_line *line,
		       struct audit_pool *pool)
{
	audit_event_begin(ret, line, AUDIT_EVENT_USER);
	if (line->flags & AUDIT_LINE_CUT)
		ret->flags |= AUDIT_EVENT_INCOMPLETE;
	switch (line->type) {
	case AUDIT_LOGIN:
		return decode_with(&login_table, AUDIT_EVENT_LOGIN, ret, line, pool);
	case AUDIT_ANOM_ABEND:
		return decode_with(&abend_table, AUDIT_EVENT_ABEND, ret, line, pool);
	case AUDIT_SECCOMP:
		return decode_with(&abend_table, AUDIT_EVENT_SECCOMP, ret, line, pool);
	case AUDIT_CONFIG_CHANGE:
		return decode_with(&state_table, AUDIT_EVENT_CONFIG, ret, line, pool);
	case AUDIT_KERNEL:
		return decode_with(&state_table, AUDIT_EVENT_KERNEL, ret, line, pool);
	default:
		break;
	}
	if (line->type >= AUDIT_DAEMON_START && line->type <= TYPE_LAST_DAEMON)
		return decode_with(&state_table, AUDIT_EVENT_DAEMON, ret, line, pool);
	if (line->type < AUDIT_FIRST_USER_MSG || line->type > AUDIT_LAST_USER_MSG)
		return 0;
	decode_user(ret, line, pool);
	return 1;
}
