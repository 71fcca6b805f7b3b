/* SPDX-License-Identifier: MIT */
/*
 * Reads of /proc/PID: few system calls, no allocation, no stdio, no state. Everything is relative
 * to an open directory: that of one process keeps meaning the process it was opened for, so a pid
 * that is used again cannot mix two processes into one answer; when the process is gone, reads fail
 * with -ENOENT or -ESRCH. exe and cwd of other users' processes need CAP_SYS_PTRACE (-EACCES); the
 * rest is open to all, but for hidepid mounts.
 */
#ifndef BASE_PROCFS_H
#define BASE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* task->flags, as in stat (include/linux/sched.h); these two have not moved since 2.6. */
#define PROCFS_EXITING 0x00000004u
#define PROCFS_KTHREAD 0x00200000u

struct procfs_stat {
	char comm[16]; /* raw, NUL-terminated; cut to 15 bytes */
	char state;
	int32_t ppid;
	uint32_t flags;
	uint32_t threads;     /* an unreaped zombie counts as one */
	uint64_t start_ticks; /* of 1 / sysconf(_SC_CLK_TCK) s, CLOCK_BOOTTIME, rounded down */
};

struct procfs_ids {
	uint32_t uid, euid, suid;
	uint32_t gid, egid, sgid;
};

/* Opens /proc or a tree like it; NULL means "/proc". Returns a descriptor or a negative errno. */
int procfs_open(const char *path);

/*
 * Opens the directory of one process, for the functions below. Returns a descriptor or a negative
 * errno.
 */
int procfs_open_pid(int proc_fd, pid_t pid);

/*
 * Errors of all: -ENOENT, -ESRCH (gone), -EACCES, -EBADMSG (not what the kernel writes), others of
 * open and read.
 */
int procfs_read_stat(int pid_fd, struct procfs_stat *ret);
int procfs_read_ids(int pid_fd, struct procfs_ids *ret); /* from status */
int procfs_read_loginuid(int pid_fd, uint32_t *ret);	 /* UINT32_MAX: never set */
int procfs_read_sessionid(int pid_fd, uint32_t *ret);	 /* of audit; UINT32_MAX: none */

/*
 * Reads a whole small file, at most `size` bytes; no NUL is added. Returns the bytes read: `size`
 * means that there may be more. For "cmdline" and "cgroup". A zombie, and a kernel thread, has 0
 * bytes of cmdline.
 */
ssize_t procfs_read(int pid_fd, const char *name, char *buf, size_t size);

/* "exe" or "cwd"; no NUL is added. Returns the length, -ENAMETOOLONG where `size` is too small. */
ssize_t procfs_readlink(int pid_fd, const char *name, char *buf, size_t size);

/* The text of stat and status, for the two above. Errors: -EBADMSG. */
int procfs_parse_stat(const char *text, size_t len, struct procfs_stat *ret);
int procfs_parse_ids(const char *text, size_t len, struct procfs_ids *ret);

/* Walks over all processes; the descriptor stays the caller's, and its position is moved. */
struct procfs_iter {
	int fd;
	uint32_t pos, end;
	char buf[8192] __attribute__((aligned(8)));
};

/* `fd` is open for reading (procfs_open() is); starts from the first. Errors: those of lseek(2). */
int procfs_iter_init(struct procfs_iter *it, int proc_fd);

/* Returns the next pid, 0 at the end, or a negative errno. */
pid_t procfs_iter_next(struct procfs_iter *it);

#endif
