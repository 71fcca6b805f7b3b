/* SPDX-License-Identifier: MIT */
/*
 * From an accounting record to the record that everything else works with. Pure.
 *
 * What accounting alone can say, and how far it is to be trusted (kernel/acct.c, 6.12):
 * - The exit status is the leader thread's own. For a process of one thread it is what wait(2) told. With threads it is
 *   wrong where the leader ended by itself before the process did, and nothing in the record shows it; hence
 *   `exit_certain` is never true here. It is false where the flags, which are an OR over all threads, contradict the
 *   status: a thread went through the delivery of a fatal signal (AXSIG) or began a core dump (ACORE) and yet the leader
 *   tells an exit code. That is the ordinary end of exit_group(), which kills the other threads, or else a process killed
 *   after its leader had ended: only another source can tell. If the leader was killed, so was the process: no doubt.
 * - comm is that of the thread that ended last (mainline), not always the leader's.
 * - The start is a whole second: floor(now) - floor(elapsed), so within a second of the truth on either side, and shifted by
 *   what the clock was set, or the machine slept, in between.
 * - start + whole seconds of elapsed time is floor(now) again: the second in which it ended. The fraction of the elapsed
 *   time adds nothing: it would only move the end within two seconds, and out of the order of the file.
 *   `exit_precision_ns` is that second and the step of the elapsed time where that is coarser than a tick.
 * - Everything that the format lacks or the kernel clamped or saturated is absent.
 */
#ifndef DECODE_PACCT_RECORD_H
#define DECODE_PACCT_RECORD_H

#include <exeunt/record.h>

#include "decode/pacct.h"

/*
 * Fills all of `r`, as EXEUNT_TYPE_EXIT from the source pacct; seq and time_ns stay 0. `r->tty` points into `e`.
 * A phantom is no exit: the caller leaves it out. `entity_start_ns` is the start in ns since 1970 rather than on the
 * monotonic clock, which is not known here: it tells processes of one file apart as far as a second can, and
 * `creation_precision_ns` is what says that it is no better.
 */
void pacct_to_record(const struct pacct_exit *e, struct exeunt_record *r);

#endif
