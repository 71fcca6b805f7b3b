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

/* Two records of one end; nobody has the same pid again so soon, with the same parent, session and executable. */
#define AGAIN_NS (100 * NS_PER_MSEC)
/* Our own estimate of the end may be early by what the clocks disagree. */
#define LATE_NS (20 * NS_PER_MSEC)

/*
 * How well the ways agree in which two sources say that a process of one thread ended. A signal may come between the call of
 * exit_group(2) and its work, and then the process was killed, whatever it called.
 */
static int ways_agree(const struct process *p, const struct process *told)
{
	uint32_t code = p->verdict.last.code;

	if (!p->single || !p->verdict.last.seen || !exeunt_has(&told->record, EXEUNT_F_EXIT_STATUS))
		return 1;
	if ((code & ~STATUS_CORE) == told->record.exit_status)
		return 2;
	return code & STATUS_SIGNAL_MASK ? 1 : 0;
}

int joiner_audit_fits(const struct process *p, const struct process *told)
{
	const struct exeunt_record *r = &p->record;
	int64_t slack = LATE_NS + (int64_t)MIN(r->creation_precision_ns, (uint64_t)NS_PER_SEC);

	/* threads may have ids of their own */
	if (p->single && exeunt_has(r, EXEUNT_F_UID) && exeunt_has(&told->record, EXEUNT_F_UID) &&
	    r->uid != told->record.uid)
		return 0;
	if (!exeunt_has(r, EXEUNT_F_EXIT_TIME))
		return 1;
	if (told->audit_ns > r->exit_time_ns + LATE_NS)
		return 0;
	/*
	 * A few ms before the end, but when audit's queue is full who calls exit_group(2) has to wait in it, a minute perhaps
	 * (kernel/audit.c: audit_log_start()). While it lives nobody else has its pid.
	 */
	if (exeunt_has(r, EXEUNT_F_CREATION_TIME) && told->audit_ns + slack < r->creation_time_ns)
		return 0;
	return ways_agree(p, told);
}

/* seccomp's way to end all threads; others end the one that made the call (kernel/seccomp.c). */
#define KILL_PROCESS 0x80000000u

static bool tells_end(const struct audit_event *e)
{
	if (!audit_event_has(e, AUDIT_HAS_PID) || e->pid <= 0)
		return false;
	if (e->kind == AUDIT_EVENT_EXIT || e->kind == AUDIT_EVENT_ABEND)
		return true;
	return e->kind == AUDIT_EVENT_SECCOMP && audit_event_has(e, AUDIT_HAS_SIG) && e->sig &&
	       audit_event_has(e, AUDIT_HAS_ACTION) && e->action == KILL_PROCESS;
}

/* What ends a process if it has no other thread. */
static bool tells_thread_end(const struct audit_event *e)
{
	if (!audit_event_has(e, AUDIT_HAS_PID) || e->pid <= 0)
		return false;
	return e->kind == AUDIT_EVENT_THREAD_EXIT ||
	       (e->kind == AUDIT_EVENT_SECCOMP && audit_event_has(e, AUDIT_HAS_SIG) && e->sig);
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
	if (audit_event_has(e, AUDIT_HAS_CODE)) {
		record_set_status(r, (uint32_t)e->code << 8);
	} else if (audit_event_has(e, AUDIT_HAS_SIG)) {
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

static void forget_texts(struct exeunt_record *r)
{
	field_clear(r, EXEUNT_F_ARGS);
#define FORGET_TEXT(has, member, field, to) field_clear(r, EXEUNT_F_##field);
	TEXTS(FORGET_TEXT)
#undef FORGET_TEXT
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

static uint32_t hash_text(uint32_t hash, const struct exeunt_bytes *text)
{
	for (uint32_t i = 0; i < text->len; i++)
		hash = (hash ^ (unsigned char)text->data[i]) * 16777619u;
	return (hash ^ text->len) * 16777619u;
}

/* The same for all threads of a process, and hardly ever for the next one with its pid. */
static uint32_t who(const struct audit_event *e)
{
	uint32_t hash = hash_text(2166136261u, &e->node);

	if (audit_event_has(e, AUDIT_HAS_EXE))
		hash = hash_text(hash, &e->exe);
	hash = (hash ^ (audit_event_has(e, AUDIT_HAS_PPID) ? (uint32_t)e->ppid : 0)) * 16777619u;
	return (hash ^ (audit_event_has(e, AUDIT_HAS_SES) ? e->ses : 0)) * 16777619u;
}

void joiner_to_entry(const struct audit_event *e, struct process *told)
{
	memset(told, 0, sizeof(*told));
	to_record(e, &told->record, &told->text);
	told->audit_ns = frame_time(e->time_ns);
	told->audit_who = who(e);
	told->args_are_title = e->flags & AUDIT_EVENT_ARGS_TITLE;
	if (e->kind == AUDIT_EVENT_EXIT && audit_event_has(e, AUDIT_HAS_CODE))
		verdict_add_audit(&told->verdict, e->code);
}

void joiner_take_told(struct process *p, struct process *told, bool ends)
{
	struct exeunt_record *from = &told->record;

	if (!ends && p->text)
		return;
	if (ends) {
		p->sources |= BIT_AUDIT;
		p->audit_ns = told->audit_ns;
		p->audit_who = told->audit_who;
		/* where there is one thread, taskstats has it from the kernel's own hand */
		if (told->verdict.audit.seen && !p->single)
			p->verdict.audit = told->verdict.audit;
	} else {
		field_clear(from, EXEUNT_F_AUDIT_SERIAL);
	}
	/* of an end before it the strings are there already, and are the same */
	if (p->text) {
		forget_texts(from);
	} else {
		p->args_are_title = !exeunt_has(&p->record, EXEUNT_F_ARGS) && told->args_are_title;
		p->text = TAKE(told->text);
	}
	/* taskstats and accounting know that better, or weigh it */
	if (exeunt_has(&p->record, EXEUNT_F_EXIT_STATUS))
		record_clear_status(from);
	fill(&p->record, from);
}

/* Of several ends that fit, the oldest that audit has not told of. */
static struct process *find_process(const struct joiner *j, const struct process *told)
{
	struct process *best = NULL;
	int best_fit = 1;

	for (struct process *p = table_first(j->table, told->record.pid); p;
	     p = table_following(p)) {
		int fit = p->sources && !(p->sources & BIT_AUDIT) ? joiner_audit_fits(p, told) : 0;

		if (fit >= best_fit) {
			best = p;
			best_fit = fit;
		}
	}
	return best;
}

static struct joiner_ended *ended_slot(struct joiner *j, const struct process *told)
{
	return &j->ended[(uint32_t)told->record.pid % JOINER_ENDED];
}

/*
 * Two threads may both call exit_group(2), and what seccomp ends is told by itself and by the dump of its core; the process
 * ends once.
 */
static bool is_told(struct joiner *j, const struct process *told)
{
	const struct joiner_ended *last = ended_slot(j, told);

	if (last->pid == told->record.pid && last->who == told->audit_who &&
	    told->audit_ns - last->audit_ns < AGAIN_NS &&
	    last->audit_ns - told->audit_ns < AGAIN_NS)
		return true;
	for (struct process *p = table_first(j->table, told->record.pid); p; p = table_following(p))
		if ((p->sources & BIT_AUDIT) && !p->single && p->audit_who == told->audit_who &&
		    joiner_audit_fits(p, told))
			return true;
	return false;
}

static void note_ended(struct joiner *j, const struct process *told)
{
	*ended_slot(j, told) = (struct joiner_ended){ .pid = told->record.pid,
						      .who = told->audit_who,
						      .audit_ns = told->audit_ns };
}

static void add_process(struct joiner *j, struct process *told, const struct frame *f)
{
	struct process *p = joiner_add(j, told->record.pid, f);

	if (!p) {
		told->record.sources = BIT_AUDIT;
		joiner_emit(j, &told->record, EXEUNT_TYPE_EXIT);
		return;
	}
	p->sources = BIT_AUDIT;
	p->audit_ns = told->audit_ns;
	p->audit_who = told->audit_who;
	p->verdict = told->verdict;
	p->record = told->record;
	p->text = TAKE(told->text);
	p->args_are_title = told->args_are_title;
	p->single = true;
	p->start_high_ns = f->mono_ns - (f->real_ns - p->audit_ns);
	table_move(j->table, p,
		   joiner_leading(j) == EXEUNT_SOURCE_AUDIT ? PROCESS_ENDING : PROCESS_ALONE);
	joiner_update(j, p, f->mono_ns);
}

/* What a thread's end says, of a process whose end is known. An amendment has to be worth it. */
static void take_thread_end(struct joiner *j, struct process *p, struct process *told,
			    const struct frame *f)
{
	if (p->state == PROCESS_CLOSED && !p->single)
		return;
	joiner_take_told(p, told, p->single);
	joiner_update(j, p, f->mono_ns);
}

void join_audit(struct joiner *j, const struct audit_event *e, const struct frame *f)
{
	bool ends = tells_end(e);
	struct process told, *p;

	if (!ends && (!tells_thread_end(e) || joiner_leading(j) == EXEUNT_SOURCE_AUDIT))
		return;
	joiner_to_entry(e, &told);
	if (!ends || !is_told(j, &told)) {
		p = find_process(j, &told);
		if (ends)
			note_ended(j, &told);
		if (!p && ends) {
			add_process(j, &told, f);
		} else if (!p) {
			joiner_add_hint(j, &told, f);
		} else if (ends) {
			joiner_take_told(p, &told, true);
			joiner_update(j, p, f->mono_ns);
		} else {
			take_thread_end(j, p, &told, f);
		}
	}
	free(told.text);
}
