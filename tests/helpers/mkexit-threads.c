/* SPDX-License-Identifier: MIT */
/*
 * Cases of mkexit with several threads. Every one is a plan: for each thread how long it goes on
 * and how it ends. All threads pass one gate together, so that ends which should collide do
 * collide. Threads end by exit(2) itself where the plan says so; nothing is freed, as the process
 * goes too.
 */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

static struct {
	struct child *c;
	struct thread_plan *plan;
	_Atomic unsigned int arrived, gone;
	pthread_t thread[MK_MAX_THREADS];
} crew;

static void gate(void)
{
	unsigned int spins = 0;

	atomic_fetch_add(&crew.arrived, 1);
	while (atomic_load(&crew.arrived) < crew.plan->n)
		if (++spins % 64 == 0)
			sched_yield();
}

static void wait_others_gone(void)
{
	while (atomic_load(&crew.gone) < crew.plan->n - 1)
		sleep_ns(20 * NS_PER_USEC);
}

static _Noreturn void sys_exit(int code)
{
	for (;;)
		syscall(SYS_exit, code);
}

static _Noreturn void segv(void)
{
	volatile char *map = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (;;)
		*map = 1;
}

static _Noreturn void rest(bool spin)
{
	for (;;)
		if (!spin)
			sleep_ns(NS_PER_SEC);
}

/* The ends of the whole process; returns for the ends of one thread alone. */
static void end_process(const struct thread_act *act)
{
	struct child *c = crew.c;
	unsigned int i;

	switch (act->end) {
	case END_GROUP:
		end_code(c, act->code);
	case END_LAST_GROUP:
		wait_others_gone();
		end_code(c, act->code);
	case END_JOIN_GROUP:
		for (i = 1; i < crew.plan->n; i++)
			pthread_join(crew.thread[i], NULL);
		end_code(c, act->code);
	case END_KILL:
		note_end(c->d);
		kill(getpid(), SIGKILL);
		rest(false);
	case END_SEGV:
		note_end(c->d);
		segv();
	case END_EXEC:
		child_exec(c, act->code);
	default:
		break;
	}
}

static void end_thread(const struct thread_act *act)
{
	switch (act->end) {
	case END_SLEEP:
	case END_SPIN:
		rest(act->end == END_SPIN);
	case END_LAST_SYS_EXIT:
		wait_others_gone();
		note_end(crew.c->d);
		sys_exit(act->code);
	case END_SYS_EXIT:
		note_end(crew.c->d);
		atomic_fetch_add(&crew.gone, 1);
		sys_exit(act->code);
	case END_PTHREAD_EXIT:
		atomic_fetch_add(&crew.gone, 1);
		pthread_exit(NULL);
	case END_SECCOMP:
		atomic_fetch_add(&crew.gone, 1);
		if (seccomp_kill_getppid(SECCOMP_RET_KILL_THREAD) < 0)
			child_fail(crew.c, "seccomp");
		syscall(SYS_getppid);
		child_fail(crew.c, "seccomp did not kill");
	default:
		atomic_fetch_add(&crew.gone, 1);
	}
}

static void act_out(unsigned int n)
{
	const struct thread_act *act = &crew.plan->act[n];

	gate();
	if (act->delay_ns)
		sleep_ns(act->delay_ns);
	end_process(act);
	end_thread(act);
}

static void *worker(void *arg)
{
	unsigned int n = (unsigned int)(uintptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", n);
	prctl(PR_SET_NAME, name);
	act_out(n);
	return NULL;
}

_Noreturn void plan_run(struct child *c, struct thread_plan *plan)
{
	pthread_attr_t attr;
	unsigned int i;

	crew.c = c;
	crew.plan = plan;
	c->d->threads = plan->n;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 * 1024);
	for (i = 1; i < plan->n; i++)
		if (pthread_create(&crew.thread[i], &attr, worker, (void *)(uintptr_t)i))
			child_fail(c, "pthread_create");
	set_ready(c);
	act_out(0);
	child_fail(c, "the leader went on");
}

static void set(struct thread_act *act, enum thread_end end, int code, int64_t delay_ns)
{
	*act = (struct thread_act){ .end = end, .code = code, .delay_ns = delay_ns };
}

static void shape_workers_go(struct thread_plan *p, enum thread_end leader, enum thread_end last)
{
	unsigned int i;

	set(&p->act[0], leader, 9, 0);
	for (i = 1; i < p->n; i++)
		set(&p->act[i], END_SYS_EXIT, 20 + (int)i, i * 300 * NS_PER_USEC);
	set(&p->act[p->n - 1], last, 5, 0);
}

static void shape_all(struct thread_plan *p, enum thread_end end, int first_code)
{
	unsigned int i;

	for (i = 0; i < p->n; i++)
		set(&p->act[i], end, first_code + (int)i, 0);
}

static void shape_plan(struct thread_plan *p, enum thread_shape shape)
{
	shape_all(p, END_SLEEP, 0);
	switch (shape) {
	case SHAPE_LEADER_FIRST:
		shape_workers_go(p, END_PTHREAD_EXIT, END_LAST_GROUP);
		break;
	case SHAPE_LEADER_FIRST_RAW:
		shape_workers_go(p, END_SYS_EXIT, END_LAST_SYS_EXIT);
		break;
	case SHAPE_LEADER_EARLY:
		set(&p->act[0], END_PTHREAD_EXIT, 0, 0);
		set(&p->act[1], END_GROUP, 6, 300 * NS_PER_MSEC);
		break;
	case SHAPE_LEADER_LAST:
		shape_all(p, END_RETURN, 0);
		set(&p->act[0], END_JOIN_GROUP, 4, 0);
		break;
	case SHAPE_WORKER_EXIT:
		set(&p->act[1], END_GROUP, 11, NS_PER_MSEC);
		break;
	case SHAPE_RACE:
		shape_all(p, END_SYS_EXIT, 0);
		set(&p->act[0], END_GROUP, 3, 0);
		break;
	case SHAPE_SYSEXIT:
		shape_all(p, END_SYS_EXIT, 10);
		break;
	case SHAPE_BUSY:
		set(&p->act[1], END_SPIN, 0, 0);
		break;
	case SHAPE_SEGV:
		set(&p->act[1], END_SEGV, 0, NS_PER_MSEC);
		break;
	case SHAPE_EXEC_WORKER:
		set(&p->act[1], END_EXEC, 7, NS_PER_MSEC);
		break;
	case SHAPE_EXEC_LEADER:
		set(&p->act[0], END_EXEC, 8, NS_PER_MSEC);
		break;
	case SHAPE_EXEC_ORPHANED:
		set(&p->act[0], END_SYS_EXIT, 9, 0);
		set(&p->act[1], END_EXEC, 7, 2 * NS_PER_MSEC);
		break;
	case SHAPE_SECCOMP:
		set(&p->act[1], END_SECCOMP, 0, 0);
		set(&p->act[0], END_GROUP, 5, 5 * NS_PER_MSEC);
		break;
	}
}

void child_threads(struct child *c)
{
	static struct thread_plan plan;

	plan.n = c->opt->threads;
	shape_plan(&plan, (enum thread_shape)c->arg);
	plan_run(c, &plan);
}
