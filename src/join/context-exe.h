/* SPDX-License-Identifier: MIT */
/*
 * Which file an inode is: pairs of (device, inode) and path, for processes of which the kernel told
 * the inode of the executable and whose path could not be read in time. Owns its pairs, within a
 * fixed size; the paths are in the pool. Promises that a path is told only where it names that file
 * now, has done so since before the process began, and is the file's only name.
 *
 * A pair is learned from a process that was read: /proc/PID/exe is a file, and the path that it
 * shows leads to the same one from here, which it does not for most processes in containers. It
 * counts once taskstats told the same two numbers of a process with that path: on btrfs and some
 * overlays stat(2) shows others than the kernel has. Snapshots share inodes, so only file systems
 * are taken that have none.
 *
 * Never waits for a disk or a server: what the kernel has not at hand is left alone.
 */
#ifndef JOIN_CONTEXT_EXE_H
#define JOIN_CONTEXT_EXE_H

#include <stdbool.h>
#include <stdint.h>

#include "join/context-pool.h"

struct exe_cache;

/* Errors: -ENOMEM, -ENOSYS (before Linux 5.12 nothing can be looked at without waiting). */
int exe_cache_new(struct exe_cache **ret);
/* Before the pool is done. */
void exe_cache_free(struct exe_cache *x, struct pool *pool);

struct exe_file {
	uint64_t dev, inode; /* inode 0: none */
};

/* True if this path has not been looked at for a while. */
bool exe_cache_is_due(struct exe_cache *x, const char *path, size_t len, int64_t now_ns);

/* The file at `exe` of the process, if the path leads to it; a NUL is put behind the path. */
struct exe_file exe_cache_look(int pid_fd, char *path);

/* What was looked at has this path. */
void exe_cache_learn(struct exe_cache *x, struct pool *pool, struct pool_item *path,
		     struct exe_file file);

/* A process that was read with this path had this file, says taskstats. */
void exe_cache_confirm(struct exe_cache *x, const struct pool_item *path, struct exe_file file);

/*
 * The path of the file, which a process that began at `start_ns` (CLOCK_REALTIME) ran; NULL: not
 * known. Borrowed.
 */
const struct pool_item *exe_cache_find(struct exe_cache *x, struct exe_file file, int64_t start_ns);

#endif
