/* SPDX-License-Identifier: MIT */
/*
 * The text of /proc/PID/cgroup -> the path that says most, and what it says: container id and
 * systemd unit. Pure; what is found are slices of the text passed in.
 */
#ifndef JOIN_CGROUP_H
#define JOIN_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

#include <exeunt/record.h>

/* Absent is {NULL, 0}. */
struct cgroup_info {
	struct exeunt_bytes path;
	struct exeunt_bytes container_id; /* the innermost one */
	struct exeunt_bytes
		unit; /* the innermost one; a slice only where there is nothing better */
};

/*
 * Chooses among the lines. With version 2 alone there is one line. Else (version 1, or both on a
 * hybrid host) the order is: unified, name=systemd, the controllers as they come; the first path
 * that names a container wins, else the first that is not "/", else "/". So a container whose
 * runtime made groups only in the controllers is still found, and for all else the tree that
 * systemd keeps decides. Paths are as seen from the reader's cgroup namespace. Returns 0, or
 * -ENODATA when no line is a line of that file.
 */
int cgroup_parse(const char *text, size_t len, struct cgroup_info *ret);

/* What one path says; `path` becomes ret->path, without the mark of a removed group. */
void cgroup_parse_path(const char *path, size_t len, struct cgroup_info *ret);

/*
 * True if the text holds anything but the unified hierarchy. Those lines say "/" for a process that
 * is already ending (kernel/cgroup/cgroup.c: proc_cgroup_show).
 */
bool cgroup_has_v1(const char *text, size_t len);

#endif
