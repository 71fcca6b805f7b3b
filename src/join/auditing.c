/* SPDX-License-Identifier: MIT */
/*
 * How an audit record finds its process: by pid, which is the tgid for each thread, and by time, which is that of the
 * entry into exit_group(2) by a clock of one tick's grain, so somewhat before the end and never before the start.
 * A process that was killed has none; that is no loss.
 */
#include "join/joiner.h"

#include "record/fields.h"
#include "record/fill.h"
#include "record/status.h"

/* 12 ms before the end at the most when stressed; an exit that is held up in the kernel takes longer. */
#define EARLY_NS (500 * NS_PER_MSEC)
/* Our own estimate of the end may be early by what the clocks disagree. */
#define LATE_NS (20 * NS_PER_MSEC)

bool joiner_audit_fits(const struct process *p, int64_t audit_ns)
{
	const struct exeunt_record *r = &p->record;
	int64_t slack = (int64_t)MIN(r->exit_precision_ns, (uint64_t)NS_PER_SEC);

	if (!exeunt_has(r, EXEUNT_F_EXIT_TIME))
		return true;
	if (audit_ns > r->exit_time_ns + LATE_NS || audit_ns + EARLY_NS + slack < r->exit_time_ns)
		return false;
	return !exeunt_has(r, EXEUNT_F_CREATION_TIME) ||
	       audit_ns + LATE_NS + (int64_t)MIN(r->creation_precision_ns, (uint64_t)NS_PER_SEC) >=
		       r->creation_time_ns;
}

static bool tells_end(const struct audit_event *e)
{
	if (!audit_event_has(e, AUDIT_HAS_PID) || e->pid <= 0)
		return false;
	if (e->kind == AUDIT_EVENT_EXIT || e->kind == AUDIT_EVENT_ABEND)
		return true;
	return e->kind == AUDIT_EVENT_SECCOMP && audit_event_has(e, AUDIT_HAS_SIG) && e->sig;
}

/* Copies bytes to *at, which moves on. */
static struct exeunt_bytes pack(char **at, const struct exeunt_bytes *from)
{
	struct exeunt_bytes to = { *at, from->len };

	memcpy(*at, from->data, from->len);
	*at += from->len;
	return to;
}

#define TEXTS(X)                                        \
	X(EXE, exe, EXE_PATH, exe_path)                 \
	X(CWD, cwd, CWD, cwd)                           \
	X(TTY, tty, TTY, tty)                           \
	X(SUBJ, subj, SUBJECT, subject)                 \
	X(KEY, key, AUDIT_KEY, audit_key)               \
	X(AUID_NAME, auid_name, LOGIN_USER, login_user) \
	X(UID_NAME, uid_name, USER, user)               \
	X(GID_NAME, gid_name, GROUP, group)

static size_t size_of_texts(const struct audit_event *e)
{
	size_t size = 1;

#define SIZE(has, member, field, to)             \
	if (audit_event_has(e, AUDIT_HAS_##has)) \
		size += e->member.len;
	TEXTS(SIZE)
#undef SIZE
	if (!audit_event_has(e, AUDIT_HAS_ARGS))
		return size;
	for (uint32_t i = 0; i < e->n_args; i++)
		size += sizeof(e->args[0]) + e->args[i].len;
	return size;
}

/* The strings of an event live as long as the call; the record's have to live as long as the process. */
static void *take_texts(struct exeunt_record *r, const struct audit_event *e)
{
	struct exeunt_bytes *args = malloc(size_of_texts(e));
	char *at = (char *)args;

	if (!args)
		return NULL;
	if (audit_event_has(e, AUDIT_HAS_ARGS)) {
		at += e->n_args * sizeof(*args);
		for (uint32_t i = 0; i < e->n_args; i++)
			args[i] = pack(&at, &e->args[i]);
		r->args = args;
		r->n_args = e->n_args;
		field_set(r, EXEUNT_F_ARGS);
	}
#define TAKE_TEXT(has, member, field, to)          \
	if (audit_event_has(e, AUDIT_HAS_##has)) { \
		r->to = pack(&at, &e->member);     \
		field_set(r, EXEUNT_F_##field);    \
	}
	TEXTS(TAKE_TEXT)
#undef TAKE_TEXT
	return args;
}

#define NUMBERS(X)                            \
	X(PPID, ppid, PARENT_PID, parent_pid) \
	X(AUID, auid, LOGIN_UID, login_uid)   \
	X(SES, ses, SESSION, session)         \
	X(UID, uid, UID, uid)                 \
	X(GID, gid, GID, gid)                 \
	X(EUID, euid, EUID, euid)             \
	X(EGID, egid, EGID, egid)             \
	X(SUID, suid, SUID, suid)             \
	X(SGID, sgid, SGID, sgid)

static void take_how(struct exeunt_record *r, const struct audit_event *e)
{
	if (e->kind == AUDIT_EVENT_EXIT && audit_event_has(e, AUDIT_HAS_CODE)) {
		record_set_status(r, (uint32_t)e->code << 8);
	} else if (e->kind != AUDIT_EVENT_EXIT && audit_event_has(e, AUDIT_HAS_SIG)) {
		record_set_status(r, e->sig & STATUS_SIGNAL_MASK);
		field_set(
			r,
			EXEUNT_F_EXIT_CERTAIN); /* false: whether a core was written is not told */
	}
	r->exit_time_ns = frame_time(e->time_ns);
	r->exit_precision_ns = (uint64_t)(10 * NS_PER_MSEC);
	field_set(r, EXEUNT_F_EXIT_TIME);
	field_set(r, EXEUNT_F_EXIT_PRECISION);
}

/* The record as audit alone would have it. *text becomes what its strings point to. */
static void to_record(const struct audit_event *e, struct exeunt_record *r, void **text)
{
	memset(r, 0, sizeof(*r));
	r->pid = e->pid;
	field_set(r, EXEUNT_F_PID);
#define TAKE_NUMBER(has, member, field, to)        \
	if (audit_event_has(e, AUDIT_HAS_##has)) { \
		r->to = e->member;                 \
		field_set(r, EXEUNT_F_##field);    \
	}
	NUMBERS(TAKE_NUMBER)
#undef TAKE_NUMBER
	if (audit_event_has(e, AUDIT_HAS_COMM)) {
		memcpy(r->comm, e->comm.data, MIN((size_t)e->comm.len, sizeof(r->comm) - 1));
		field_set(r, EXEUNT_F_COMM);
	}
	r->audit_serial = e->serial;
	field_set(r, EXEUNT_F_AUDIT_SERIAL);
	*text = take_texts(r, e);
	take_how(r, e);
}

/* What audit knows for sure is better than what was inherited or read too late. */
static void fill(struct exeunt_record *to, const struct exeunt_record *from)
{
	static const enum exeunt_field sure[] = { EXEUNT_F_LOGIN_UID, EXEUNT_F_SESSION,
						  EXEUNT_F_EXE_PATH };

	for (size_t i = 0; i < ARRAY_SIZE(sure); i++) {
		if (!exeunt_has(from, sure[i]))
			continue;
		record_copy_field(to, from, sure[i]);
		to->inherited[sure[i] / 64] &= ~(UINT64_C(1) << (sure[i] % 64));
	}
	record_fill(to, from);
}

/* Of several ends that fit, the oldest that audit has not told of. */
static struct process *find_process(const struct joiner *j, const struct audit_event *e)
{
	struct process *oldest = NULL;

	for (struct process *p = table_first(j->table, e->pid); p; p = table_following(p))
		if (p->sources && !(p->sources & BIT_AUDIT) &&
		    joiner_audit_fits(p, frame_time(e->time_ns)))
			oldest = p;
	return oldest;
}

/* Two threads may both call exit_group(2); the process ends once. */
static bool is_told(const struct joiner *j, const struct audit_event *e)
{
	int64_t at_ns = frame_time(e->time_ns);

	for (const struct process *p = table_first(j->table, e->pid); p; p = table_following(p))
		if ((p->sources & BIT_AUDIT) && at_ns - p->audit_ns < LATE_NS &&
		    p->audit_ns - at_ns < LATE_NS)
			return true;
	return false;
}

static void add_process(struct joiner *j, const struct audit_event *e, struct exeunt_record *r,
			void **text, const struct frame *f)
{
	struct process *p = joiner_add(j, e->pid, f);

	if (!p) {
		r->sources = BIT_AUDIT;
		joiner_emit(j, r, EXEUNT_TYPE_EXIT);
		return;
	}
	p->sources = BIT_AUDIT;
	p->audit_ns = frame_time(e->time_ns);
	p->record = *r;
	p->text = TAKE(*text);
	p->args_are_title = e->flags & AUDIT_EVENT_ARGS_TITLE;
	p->single = true;
	p->start_high_ns = f->mono_ns - (f->real_ns - p->audit_ns);
	table_move(j->table, p,
		   joiner_leading(j) == EXEUNT_SOURCE_AUDIT ? PROCESS_ENDING : PROCESS_ALONE);
	joiner_update(j, p, f->mono_ns);
}

void join_audit(struct joiner *j, const struct audit_event *e, const struct frame *f)
{
	_cleanup_free_
	void *text = NULL;
	struct exeunt_record r;
	struct process *p;

	if (!tells_end(e) || is_told(j, e))
		return;
	to_record(e, &r, &text);
	p = find_process(j, e);
	if (!p) {
		add_process(j, e, &r, &text, f);
		return;
	}
	p->sources |= BIT_AUDIT;
	p->audit_ns = frame_time(e->time_ns);
	p->args_are_title =
		!exeunt_has(&p->record, EXEUNT_F_ARGS) && (e->flags & AUDIT_EVENT_ARGS_TITLE);
	p->text = TAKE(text); /* an entry has this from audit alone, and it is its first */
	if (e->kind == AUDIT_EVENT_EXIT && audit_event_has(e, AUDIT_HAS_CODE))
		verdict_add_audit(&p->verdict, e->code);
	if (exeunt_has(&p->record, EXEUNT_F_EXIT_STATUS))
		record_clear_status(
			&r); /* taskstats and accounting know that better, or weigh it */
	fill(&p->record, &r);
	joiner_update(j, p, f->mono_ns);
}
