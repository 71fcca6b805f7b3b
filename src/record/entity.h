/* SPDX-License-Identifier: MIT */
/*
 * The text of process.entity_id: "<boot id without dashes>-<pid>-<start in ns, hexadecimal>". The same process has
 * the same text in every record of every sink. Owns nothing.
 */
#ifndef RECORD_ENTITY_H
#define RECORD_ENTITY_H

#include "base/format.h"

#define ENTITY_BOOT_LEN 32
#define ENTITY_MAX 64 /* with the NUL */

/*
 * The boot id as /proc/sys/kernel/random/boot_id gives it, or without dashes, in the form that entity_format() takes:
 * 32 lower-case hexadecimal digits and a NUL. NULL or anything else becomes 32 zeros: the boot is not known.
 */
void entity_boot_id(char out[ENTITY_BOOT_LEN + 1], const char *boot_id);

/* "<pid>-<start>", without NUL; stores up to FMT_SLACK bytes more than it counts. */
static inline char *entity_tail(char *p, int32_t pid, uint64_t start_ns)
{
	p = fmt_i64(p, pid);
	*p++ = '-';
	return fmt_hex64(p, start_ns);
}

/* Writes the text and a NUL to `buf` of at least ENTITY_MAX bytes; returns the length. */
size_t entity_format(char *buf, const char *boot_id_hex32, int32_t pid, uint64_t start_ns);

#endif
