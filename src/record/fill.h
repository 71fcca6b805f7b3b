/* SPDX-License-Identifier: MIT */
/* Merging of records: what one source knows and another does not. Owns nothing; strings stay borrowed. */
#ifndef RECORD_FILL_H
#define RECORD_FILL_H

#include <exeunt/record.h>

/*
 * Copies each field that `from` has and `to` lacks, with its presence and its mark in `inherited`. How it ended is one thing:
 * where `from` says otherwise than `to`, none of that is copied.
 */
void record_fill(struct exeunt_record *to, const struct exeunt_record *from);

/* Copies one field that `from` has, whether `to` has it or not. */
void record_copy_field(struct exeunt_record *to, const struct exeunt_record *from,
		       enum exeunt_field field);

#endif
