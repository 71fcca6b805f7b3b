/* SPDX-License-Identifier: MIT */
/*
 * mkpacct FORMAT COUNT [SEED]: writes an accounting file of COUNT records to standard output, for benchmarks and for
 * trying other programs. FORMAT: v0 v0-be v0-m68k v1 v1-be v2 v2-be v3 v3-be, or "mixed" for all of them in turn.
 */
#include "helpers/mkpacct.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[MK_FORMATS] = { "v0", "v0-be", "v0-m68k", "v1",	 "v1-be",
					       "v2", "v2-be", "v3",	 "v3-be" };

int main(int argc, char **argv)
{
	uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	int format = 0;

	if (argc < 3)
		errx(2, "usage: mkpacct FORMAT COUNT [SEED]");
	while (format < MK_FORMATS && strcmp(argv[1], names[format]) != 0)
		format++;
	if (format == MK_FORMATS && strcmp(argv[1], "mixed") != 0)
		errx(2, "no such format: %s", argv[1]);
	for (unsigned long i = 0, n = strtoul(argv[2], NULL, 10); i < n; i++) {
		enum mk_format f = format < MK_FORMATS ? format : (int)(i % MK_FORMATS);
		struct mk_exit x;
		uint8_t record[64];
		size_t size;

		mk_random_exit(&x, &state, 1700000000 + (uint32_t)(i / 1000));
		size = mk_record(record, &x, f);
		if (fwrite(record, 1, size, stdout) != size)
			err(1, "standard output");
	}
	if (fflush(stdout) != 0)
		err(1, "standard output");
	return 0;
}
