/* SPDX-License-Identifier: MIT */
/*
 * Cases of mkexit about relatives, ids and namespaces: orphans, children nobody waits for, setuid.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "helpers/mkexit.h"

void child_setuid(struct child *c)
{
	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		child_fail(c, "setresuid");
	note_who(c->d);
	end_code(c, c->arg);
}

/* Six ids that differ all. */
void child_setresuid(struct child *c)
{
	if (setresgid(61004, 61005, 61006) < 0 || setresuid(61001, 61002, 61003) < 0)
		child_fail(c, "setresuid");
	note_who(c->d);
	end_code(c, c->arg);
}

/*
 * Inside, the ids read as 65534; for the initial user namespace nothing has changed, so they are
 * not noted anew.
 */
void child_userns(struct child *c)
{
	if (unshare(CLONE_NEWUSER) < 0)
		child_fail(c, "unshare(CLONE_NEWUSER)");
	end_code(c, c->arg);
}

static void second_begin(struct child *c, const struct death *like)
{
	c->s->death[1] = *like;
	c->s->death[1].pid = 0;
	c->s->n_deaths = 2;
}

/*
 * The child ends with code 1 and leaves a grandchild, which ends with `arg` once it has another
 * parent. text set: mkexit is no subreaper now, so that is init (or whoever else collects orphans
 * here), and nobody tells us what it waited for.
 */
void child_orphan(struct child *c)
{
	struct death *d = &c->s->death[1];
	pid_t child = getpid(), pid;

	second_begin(c, c->d);
	d->unwaited = c->text != NULL;
	d->status = c->arg << 8;
	pid = fork();
	if (pid < 0)
		child_fail(c, "fork");
	if (pid > 0)
		end_code(c, 1);
	alarm(c->opt->timeout_s + 5);
	atomic_store(&d->pid, getpid());
	set_ready(c);
	wait_go(c);
	while (getppid() == child)
		sleep_ns(50 * NS_PER_USEC);
	d->parent_pid = getppid();
	note_end(d);
	_exit(c->arg);
}

static void wait_dead(pid_t pid, int timeout_s)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (p.fd >= 0) {
		poll(&p, 1, timeout_s * 1000);
		close(p.fd);
	}
}

/* The child ignores SIGCHLD, so the kernel itself reaps the grandchild. */
void child_autoreap(struct child *c)
{
	struct death *d = &c->s->death[1];
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	second_begin(c, c->d);
	d->unwaited = true;
	d->status = c->arg << 8;
	d->parent_pid = getpid();
	pid = fork();
	if (pid < 0)
		child_fail(c, "fork");
	if (pid == 0) {
		wait_go(c);
		note_end(d);
		_exit(c->arg);
	}
	atomic_store(&d->pid, pid);
	atomic_store(&c->s->go, 1);
	wait_dead(pid, (int)c->opt->timeout_s);
	end_code(c, 2);
}

/*
 * The child waits for a grandchild born by vfork that becomes another image: a shell's way to run a
 * command.
 */
void child_vfork_exec(struct child *c)
{
	struct death *d = &c->s->death[1];
	char *argv[] = { (char[]){ "false" }, NULL };
	char *envp[] = { NULL };
	int status;
	pid_t pid;

	second_begin(c, c->d);
	d->unwaited = true;
	d->parent_pid = getpid();
	d->execed = true;
	memset(d->comm, 0, sizeof(d->comm));
	memcpy(d->comm, "false", 5);
	pid = vfork();
	if (pid == 0) {
		execve("/bin/false", argv, envp);
		_exit(127);
	}
	if (pid < 0)
		child_fail(c, "vfork");
	atomic_store(&d->pid, pid);
	while (waitpid(pid, &status, 0) < 0)
		;
	d->status = status;
	end_code(c, c->arg);
}
