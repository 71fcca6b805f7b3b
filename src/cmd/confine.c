/* SPDX-License-Identifier: MIT */
/*
 * See confine.h. Three answers:
 *
 *	allowed		what the sources, the sinks and the C library need at run time, the look-up of users by any module of
 *			NSS among it, which may load a library, map files, and talk to a daemon by a Unix socket.
 *	killed		what no part of exeunt ever does and what an intruder wants: another program, another process' memory,
 *			the kernel itself. To go on would be to go on in the hands of somebody else.
 *	refused		all else, as if this kernel did not have it (ENOSYS): the C library, which may be newer than this list,
 *			has a way around for that, and for EPERM it has none. The kernel's log has it.
 */
#include "cmd/confine.h"

#include <linux/capability.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "base/util.h"

/* clang-format off */
static const char *const allowed[] = {
	/* files: what is written, rotated, replaced; /proc; accounting */
	"read", "readv", "pread64", "preadv", "preadv2", "write", "writev", "pwrite64", "pwritev",
	"pwritev2", "open", "openat", "openat2", "close", "close_range", "lseek", "_llseek",
	"stat", "stat64", "lstat", "lstat64", "fstat", "fstat64", "newfstatat", "fstatat64",
	"statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "readlink", "readlinkat",
	"getdents", "getdents64", "access", "faccessat", "faccessat2", "fcntl", "fcntl64", "flock",
	"ftruncate", "ftruncate64", "truncate", "truncate64", "fallocate", "fadvise64",
	"fadvise64_64", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlink",
	"unlinkat", "mkdir", "mkdirat", "rmdir", "chmod", "fchmod", "fchmodat", "chown", "fchown",
	"fchownat", "umask", "getcwd", "dup", "dup2", "dup3", "pipe", "pipe2", "memfd_create",
	"inotify_init1", "inotify_add_watch", "inotify_rm_watch", "fanotify_mark",
	/* waiting */
	"poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
	"epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "epoll_pwait2",
	"eventfd2", "timerfd_create", "timerfd_settime", "timerfd_settime64", "timerfd_gettime",
	"timerfd_gettime64", "signalfd4", "nanosleep", "clock_nanosleep", "clock_nanosleep_time64",
	"futex", "futex_time64", "futex_waitv", "restart_syscall", "sched_yield",
	/* sockets; which kinds can be made is told below */
	"connect", "bind", "listen", "accept", "accept4", "send", "sendto", "sendmsg", "sendmmsg",
	"recv", "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64", "getsockopt", "setsockopt",
	"getsockname", "getpeername", "shutdown",
	/* memory; what is executable is told below */
	"brk", "munmap", "mremap", "madvise", "membarrier",
	/* itself, and the children that end to show whether records arrive */
	"exit", "exit_group", "wait4", "waitid", "waitpid", "getpid", "gettid", "getppid",
	"getpgrp", "getpgid", "getsid", "getuid", "getuid32", "geteuid", "geteuid32", "getgid",
	"getgid32", "getegid", "getegid32", "getresuid", "getresuid32", "getresgid", "getresgid32",
	"getgroups", "getgroups32", "capget", "getrandom", "getrusage", "times", "sysinfo",
	"uname", "getrlimit", "ugetrlimit", "getcpu", "getpriority", "sched_getaffinity",
	"sched_setaffinity", "sched_getscheduler", "sched_getparam", "set_robust_list",
	"get_robust_list", "set_tid_address", "rseq", "rt_sigaction", "rt_sigprocmask",
	"rt_sigpending", "rt_sigreturn", "sigreturn", "rt_sigtimedwait", "sigaltstack",
	"pidfd_open", "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64",
	"gettimeofday", "time",
};
/* clang-format on */

/* clang-format off */
static const char *const deadly[] = {
	"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd",
	"kcmp", "mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen",
	"fsconfig", "fsmount", "fspick", "pivot_root", "chroot", "unshare", "setns", "init_module",
	"finit_module", "delete_module", "kexec_load", "kexec_file_load", "bpf", "perf_event_open",
	"reboot", "swapon", "swapoff", "sethostname", "setdomainname", "settimeofday",
	"clock_settime", "clock_settime64", "iopl", "ioperm", "userfaultfd", "open_by_handle_at",
	"quotactl", "quotactl_fd", "syslog", "personality",
};
/* clang-format on */

/* One that this architecture or this libseccomp does not know cannot be asked for either. */
static int add_all(scmp_filter_ctx f, uint32_t action, const char *const *names, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		int number = seccomp_syscall_resolve_name(names[i]);

		if (number != __NR_SCMP_ERROR && number >= 0)
			r = seccomp_rule_add(f, action, number, 0);
	}
	return r;
}

/* Memory that is both written and executed, and what was written becoming executable, is how foreign code gets in. */
static int add_memory(scmp_filter_ctx f)
{
	static const unsigned int both = PROT_WRITE | PROT_EXEC;
	const int maps[] = { SCMP_SYS(mmap), SCMP_SYS(mmap2) };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps) && r >= 0; i++) {
		if (maps[i] < 0)
			continue;
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, maps[i], 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
		if (r >= 0)
			r = seccomp_rule_add(f, SCMP_ACT_ALLOW, maps[i], 1,
					     SCMP_A2(SCMP_CMP_MASKED_EQ, both, PROT_EXEC));
	}
	return r < 0 ? r
		     : seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
					SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

static int add_sockets(scmp_filter_ctx f)
{
	static const unsigned int families[] = { AF_UNIX, AF_NETLINK };
	const int calls[] = { SCMP_SYS(socket), SCMP_SYS(socketpair) };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		for (size_t j = 0; j < ARRAY_SIZE(families) && r >= 0; j++)
			r = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 1,
					     SCMP_A0(SCMP_CMP_EQ, families[j]));
	return r;
}

/* A child or a thread as we are, in no namespace of its own. clone3() hides its flags, and libc does without it. */
static int add_processes(scmp_filter_ctx f)
{
	static const uint64_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
				       CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE;
#if defined(__s390__)
	const struct scmp_arg_cmp none = SCMP_A1(SCMP_CMP_MASKED_EQ, spaces, 0);
#else
	const struct scmp_arg_cmp none = SCMP_A0(SCMP_CMP_MASKED_EQ, spaces, 0);
#endif
	int fork_number = seccomp_syscall_resolve_name("fork");
	int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, none);

	if (r >= 0 && fork_number >= 0)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, fork_number, 0);
	return r;
}

/* Does a process live; abort(), in us or in a child; how much may be open; what a thread is called. */
static int add_signals(scmp_filter_ctx f)
{
	int r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, SCMP_A1(SCMP_CMP_EQ, 0));

	if (r >= 0)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				     SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	if (r >= 0)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), 1,
				     SCMP_A2(SCMP_CMP_EQ, 0));
	if (r >= 0)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1,
				     SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME));
	return r;
}

/* Is this a terminal; what can be read; what a reader has not taken. */
static int add_ioctls(scmp_filter_ctx f)
{
	static const unsigned int requests[] = { TCGETS, FIONREAD, SIOCOUTQ };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(requests) && r >= 0; i++)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1,
				     SCMP_A1(SCMP_CMP_EQ, requests[i]));
	return r;
}

static int fill(scmp_filter_ctx f, uint64_t capabilities)
{
	int r = add_all(f, SCMP_ACT_ALLOW, allowed, ARRAY_SIZE(allowed));

	if (r >= 0)
		r = add_all(f, SCMP_ACT_KILL_PROCESS, deadly, ARRAY_SIZE(deadly));
	if (r >= 0)
		r = add_memory(f);
	if (r >= 0)
		r = add_sockets(f);
	if (r >= 0)
		r = add_processes(f);
	if (r >= 0)
		r = add_signals(f);
	if (r >= 0)
		r = add_ioctls(f);
	if (r >= 0 && capabilities >> CAP_SYS_PACCT & 1)
		r = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(acct), 0);
	return r;
}

/* What an older libseccomp or kernel does not know of these is no reason to go without. */
static void set_attributes(scmp_filter_ctx f)
{
	seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(f, SCMP_FLTATR_CTL_LOG, 1);
	seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	/* else kernels before 5.16 slow this process down, as if it ran programs of strangers */
	seccomp_attr_set(f, SCMP_FLTATR_CTL_SSB, 1);
}

int confine(uint64_t capabilities)
{
	scmp_filter_ctx f;
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	f = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	if (!f)
		return -ENOMEM;
	set_attributes(f);
	r = seccomp_attr_set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	if (r >= 0)
		r = fill(f, capabilities);
	if (r >= 0)
		r = seccomp_load(f);
	seccomp_release(f);
	return r;
}
