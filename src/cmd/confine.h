/* SPDX-License-Identifier: MIT */
/*
 * What the daemon may still ask the kernel for, once all is open: a filter of system calls (seccomp) over this process, all its
 * threads, and what it forks from here on. It cannot be taken off again.
 */
#ifndef CMD_CONFINE_H
#define CMD_CONFINE_H

#include <stdint.h>

/*
 * `capabilities` are those that were kept, as a mask of 1 << CAP_...: what only they permit is allowed with them alone.
 * Forbids new privileges besides. Errors: -errno; nothing has changed then but that.
 */
int confine(uint64_t capabilities);

#endif
