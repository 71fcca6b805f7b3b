/* SPDX-License-Identifier: MIT */
/*
 * How a process ended, from the one number that wait(2) tells: the only place that takes it apart.
 * Owns nothing; sets fields of a record and their presence bits together, so that they never contradict.
 */
#ifndef RECORD_STATUS_H
#define RECORD_STATUS_H

#include <exeunt/record.h>

#define STATUS_SIGNAL_MASK 0x7fu
#define STATUS_CORE 0x80u

/*
 * Sets status, cause, and either the code or signal, its name and whether a core was written; clears what the
 * other way of ending would have set, so a record may be corrected by calling it again. `exit_certain` is not touched.
 */
void record_set_status(struct exeunt_record *r, uint32_t wait_status);

/* Forgets how it ended, `exit_certain` too. */
void record_clear_status(struct exeunt_record *r);

/* A number that an exiting Linux process can have: code << 8, or a signal with or without the core bit. */
static inline bool status_is_plausible(uint32_t wait_status)
{
	if (!(wait_status & STATUS_SIGNAL_MASK))
		return !(wait_status & ~0xff00u);
	return wait_status <= 0xff && (wait_status & STATUS_SIGNAL_MASK) != 0x7f;
}

#endif
