/* SPDX-License-Identifier: MIT */
/* How the members of a task record become those of a record. See merge.h. */
#include "join/merge.h"

#include <string.h>

#include "base/util.h"
#include "record/fields.h"

/* Sets presence bits of fields that lie side by side; both in the same word or not. */
static inline void set_range(struct exeunt_record *r, enum exeunt_field first,
			     enum exeunt_field last)
{
	for (unsigned int f = first; f <= last; f++)
		field_set(r, f);
}

static void merge_delays(struct exeunt_record *r, const struct task_exit *t)
{
	for (int k = 0; k < EXEUNT_DELAY_COUNT; k++) {
		const struct exeunt_delay *from = &t->delay[k];
		struct exeunt_delay *to = &r->delay[k];
		int field = EXEUNT_F_DELAY + 4 * k;

		if (!(t->delay_kinds & 1u << k))
			continue;
		to->count += from->count;
		to->total_ns += from->total_ns;
		field_set(r, field);
		field_set(r, field + 1);
		if (!(t->has & TASK_HAS_DELAY_RANGE) || !from->count)
			continue;
		to->max_ns = MAX(to->max_ns, from->max_ns);
		to->min_ns =
			exeunt_has(r, field + 3) ? MIN(to->min_ns, from->min_ns) : from->min_ns;
		field_set(r, field + 2);
		field_set(r, field + 3);
	}
}

static void split_run_time(struct exeunt_record *r, const struct merge_ticks *ticks)
{
	uint64_t run_us = r->cpu_run_ns / 1000, sampled_us = ticks->user_us + ticks->system_us;

	/* the run time lacks the last slice: a task that was never switched out has none */
	if (!run_us || sampled_us < ticks->user_us) {
		r->cpu_user_us = ticks->user_us;
		r->cpu_system_us = ticks->system_us;
		return;
	}
	r->cpu_system_us = sampled_us ? (uint64_t)((double)run_us *
						   ((double)ticks->system_us / (double)sampled_us))
				      : 0;
	r->cpu_user_us = run_us - MIN(r->cpu_system_us, run_us);
}

void merge_cost(struct exeunt_record *r, struct merge_ticks *ticks, const struct task_exit *t)
{
	r->threads++;
	r->cpu_run_ns += t->run_ns;
	ticks->user_us += t->utime_us;
	ticks->system_us += t->stime_us;
	split_run_time(r, ticks);
	r->minor_faults += t->minflt;
	r->major_faults += t->majflt;
	set_range(r, EXEUNT_F_CPU_USER, EXEUNT_F_CPU_RUN);
	set_range(r, EXEUNT_F_MINOR_FAULTS, EXEUNT_F_MAJOR_FAULTS);
	field_set(r, EXEUNT_F_THREADS);
	if (t->has & TASK_HAS_MEMORY) {
		r->rss_peak_bytes = MAX(r->rss_peak_bytes, t->hiwater_rss_kb * 1024);
		r->vm_peak_bytes = MAX(r->vm_peak_bytes, t->hiwater_vm_kb * 1024);
		r->read_chars += t->read_chars;
		r->write_chars += t->write_chars;
		r->read_syscalls += t->read_syscalls;
		r->write_syscalls += t->write_syscalls;
		set_range(r, EXEUNT_F_RSS_PEAK, EXEUNT_F_VM_PEAK);
		set_range(r, EXEUNT_F_READ_CHARS, EXEUNT_F_WRITE_SYSCALLS);
	}
	if (t->has & TASK_HAS_IO) {
		r->read_bytes += t->read_bytes;
		r->write_bytes += t->write_bytes;
		r->cancelled_write_bytes += t->cancelled_write_bytes;
		set_range(r, EXEUNT_F_READ_BYTES, EXEUNT_F_CANCELLED_WRITE_BYTES);
	}
	if (t->has & TASK_HAS_SWITCHES) {
		r->voluntary_switches += t->nvcsw;
		r->involuntary_switches += t->nivcsw;
		set_range(r, EXEUNT_F_VOLUNTARY_SWITCHES, EXEUNT_F_INVOLUNTARY_SWITCHES);
	}
	merge_delays(r, t);
	if (t->flag & TASK_SU)
		r->used_privilege = true;
	field_set(r, EXEUNT_F_USED_PRIVILEGE);
}

/* Ids that hold for the whole process; the last task knows them as they were at the end. */
static void merge_ids(struct exeunt_record *r, const struct task_exit *t)
{
	r->parent_pid = t->ppid;
	r->uid = t->uid;
	r->gid = t->gid;
	r->nice = t->nice;
	field_set(r, EXEUNT_F_UID);
	field_set(r, EXEUNT_F_GID);
	field_set(r, EXEUNT_F_PARENT_PID);
	field_set(r, EXEUNT_F_NICE);
	/* 0 is no executable: a kernel thread (kernel/tsacct.c) */
	if ((t->has & TASK_HAS_TGID) && t->exe_inode) {
		r->exe_dev = t->exe_dev;
		r->exe_inode = t->exe_inode;
		set_range(r, EXEUNT_F_EXE_DEV, EXEUNT_F_EXE_INODE);
	}
}

void merge_identity(struct exeunt_record *r, const struct task_exit *t, bool names)
{
	r->pid = t->tgid ? t->tgid : t->pid;
	field_set(r, EXEUNT_F_PID);
	if (names || !exeunt_has(r, EXEUNT_F_COMM)) {
		memcpy(r->comm, t->comm, sizeof(t->comm));
		field_set(r, EXEUNT_F_COMM);
	}
	if (names) {
		r->forked_not_execed = t->flag & TASK_FORK;
		field_set(r, EXEUNT_F_FORKED_NOT_EXECED);
	}
	if ((t->flag & TASK_GROUP) || !exeunt_has(r, EXEUNT_F_UID))
		merge_ids(r, t);
}

/* The kernel's second of real time lags by up to a tick (kernel/time: ktime_get_real_seconds()). */
#define TICK_NS (10 * NS_PER_MSEC)

/* Further apart it is not a pause of ours, but a clock that was wrong when the process began or ended. */
#define PAUSE_MOST_NS (3600 * NS_PER_SEC)

/*
 * The record has the exit only to the second (btime + whole seconds of etime); the time it was read is late by no more
 * than the window in which it was queued. Where the two disagree we were held up, and the second bounds the estimate. If it
 * lies before the window, we were stopped while we waited, or the clock was set forward: the second is when it ended by
 * the clock of then. If it lies outside otherwise, the clock was set, and the reading counts.
 */
static void estimate_exit(const struct task_exit *t, const struct frame *f, int64_t *time_ns,
			  uint64_t *precision_ns)
{
	int64_t window = MAX(f->mono_ns - f->since_ns, 0);
	int64_t earliest = f->real_ns - window;
	uint64_t whole = t->btime + t->etime_us / 1000000;
	int64_t second, end;

	*time_ns = f->real_ns;
	*precision_ns = (uint64_t)window;
	if (whole >= (uint64_t)(INT64_MAX / NS_PER_SEC - 1))
		return;
	second = (int64_t)whole * NS_PER_SEC;
	end = second + NS_PER_SEC + TICK_NS;
	if (second > f->real_ns || f->real_ns - second > PAUSE_MOST_NS)
		return;
	if (end < earliest) {
		*time_ns = end;
		*precision_ns = (uint64_t)(end - second);
		return;
	}
	if (end < f->real_ns)
		*time_ns = end;
	*precision_ns = (uint64_t)(*time_ns - MAX(earliest, second));
}

void merge_times(struct exeunt_record *r, const struct task_exit *t, const struct frame *f)
{
	uint64_t elapsed_us = t->has & TASK_HAS_TGID ? t->tgetime_us : t->etime_us;

	estimate_exit(t, f, &r->exit_time_ns, &r->exit_precision_ns);
	r->elapsed_us = elapsed_us;
	field_set(r, EXEUNT_F_EXIT_TIME);
	field_set(r, EXEUNT_F_EXIT_PRECISION);
	field_set(r, EXEUNT_F_ELAPSED);
	r->creation_time_ns = r->exit_time_ns - merge_elapsed_ns(elapsed_us);
	r->creation_precision_ns = r->exit_precision_ns;
	field_set(r, EXEUNT_F_CREATION_TIME);
	field_set(r, EXEUNT_F_CREATION_PRECISION);
	if (exeunt_has(r, EXEUNT_F_ENTITY_ID))
		return; /* a name that was given stays */
	/* Starts are told apart within the boot; 0 stands for one that a wrong clock puts before it. */
	r->entity_start_ns = (uint64_t)MAX(f->mono_ns - merge_elapsed_ns(elapsed_us), 0);
	field_set(r, EXEUNT_F_ENTITY_ID);
}
