/* SPDX-License-Identifier: MIT */
#include "record/status.h"

#include <exeunt/exeunt.h>

#include "record/fields.h"

void record_clear_status(struct exeunt_record *r)
{
	static const enum exeunt_field fields[] = {
		EXEUNT_F_EXIT_CODE,	   EXEUNT_F_EXIT_SIGNAL, EXEUNT_F_EXIT_SIGNAL_NAME,
		EXEUNT_F_EXIT_CORE_DUMPED, EXEUNT_F_EXIT_CAUSE,	 EXEUNT_F_EXIT_STATUS,
		EXEUNT_F_EXIT_CERTAIN,
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		field_clear(r, fields[i]);
	r->exit_status = r->exit_code = r->exit_signal = 0;
	r->exit_core_dumped = r->exit_certain = false;
	r->exit_cause = EXEUNT_CAUSE_EXITED;
}

static void set_code(struct exeunt_record *r, uint32_t code)
{
	field_clear(r, EXEUNT_F_EXIT_SIGNAL);
	field_clear(r, EXEUNT_F_EXIT_SIGNAL_NAME);
	field_clear(r, EXEUNT_F_EXIT_CORE_DUMPED);
	r->exit_signal = 0;
	r->exit_core_dumped = false;
	r->exit_code = code;
	r->exit_cause = EXEUNT_CAUSE_EXITED;
	field_set(r, EXEUNT_F_EXIT_CODE);
}

static void set_signal(struct exeunt_record *r, uint32_t signal, bool core)
{
	field_clear(r, EXEUNT_F_EXIT_CODE);
	r->exit_code = 0;
	r->exit_signal = signal;
	r->exit_core_dumped = core;
	r->exit_cause = core ? EXEUNT_CAUSE_CORE_DUMPED : EXEUNT_CAUSE_SIGNALED;
	field_set(r, EXEUNT_F_EXIT_SIGNAL);
	field_set(r, EXEUNT_F_EXIT_CORE_DUMPED);
	if (exeunt_signal_name(signal))
		field_set(r, EXEUNT_F_EXIT_SIGNAL_NAME);
	else
		field_clear(r, EXEUNT_F_EXIT_SIGNAL_NAME);
}

void record_set_status(struct exeunt_record *r, uint32_t wait_status)
{
	uint32_t signal = wait_status & STATUS_SIGNAL_MASK;

	/* ACORE, AXSIG and their kin are not asked: they say what a thread went through, not how the process ended. */
	if (signal)
		set_signal(r, signal, wait_status & STATUS_CORE);
	else
		set_code(r, wait_status >> 8 & 0xff);
	r->exit_status = wait_status;
	field_set(r, EXEUNT_F_EXIT_STATUS);
	field_set(r, EXEUNT_F_EXIT_CAUSE);
}
