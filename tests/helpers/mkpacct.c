/* SPDX-License-Identifier: MIT */
/*
 * mkpacct FORMAT COUNT [SEED]: writes an accounting file of COUNT records to standard output, for benchmarks and for
 * trying other programs. FORMAT: v0 v0-be v0-m68k v1 v1-be v2 v2-be v3 v3-be, or "mixed" for all of them in turn.
 * mkpacct FORMAT -: writes in that format what standard input, records as this kernel writes them (v3), tells of.
 */
#include "helpers/mkpacct.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/acct.h>

static const char *const names[MK_FORMATS] = { "v0", "v0-be", "v0-m68k", "v1",	 "v1-be",
					       "v2", "v2-be", "v3",	 "v3-be" };

static void put(const struct mk_exit *x, int format, unsigned long i)
{
	enum mk_format f = format < MK_FORMATS ? format : (int)(i % MK_FORMATS);
	uint8_t record[64];
	size_t size = mk_record(record, x, f);

	if (fwrite(record, 1, size, stdout) != size)
		err(1, "standard output");
}

static uint64_t value_of(comp_t c)
{
	return (uint64_t)(c & 0x1fff) << 3 * (c >> 13);
}

static void read_v3(struct mk_exit *x, const struct acct_v3 *a)
{
	if (a->ac_version != 3)
		errx(1, "a record of version %d", a->ac_version);
	*x = (struct mk_exit){
		.flag = (uint8_t)a->ac_flag,
		.tty = a->ac_tty,
		.status = a->ac_exitcode,
		.uid = a->ac_uid,
		.gid = a->ac_gid,
		.pid = a->ac_pid,
		.ppid = a->ac_ppid,
		.btime = a->ac_btime,
		.etime = (uint64_t)a->ac_etime,
		.utime = value_of(a->ac_utime),
		.stime = value_of(a->ac_stime),
		.mem = value_of(a->ac_mem),
		.rw = value_of(a->ac_rw),
		.minflt = value_of(a->ac_minflt),
		.majflt = value_of(a->ac_majflt),
		.swaps = value_of(a->ac_swaps),
	};
	memcpy(x->comm, a->ac_comm, 16);
}

static void convert(int format)
{
	struct acct_v3 a;
	struct mk_exit x;

	for (unsigned long i = 0; fread(&a, sizeof(a), 1, stdin) == 1; i++) {
		read_v3(&x, &a);
		put(&x, format, i);
	}
	if (ferror(stdin))
		err(1, "standard input");
}

int main(int argc, char **argv)
{
	uint64_t state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	int format = 0;

	if (argc < 3)
		errx(2, "usage: mkpacct FORMAT COUNT|- [SEED]");
	while (format < MK_FORMATS && strcmp(argv[1], names[format]) != 0)
		format++;
	if (format == MK_FORMATS && strcmp(argv[1], "mixed") != 0)
		errx(2, "no such format: %s", argv[1]);
	if (!strcmp(argv[2], "-")) {
		convert(format);
	} else {
		for (unsigned long i = 0, n = strtoul(argv[2], NULL, 10); i < n; i++) {
			struct mk_exit x;

			mk_random_exit(&x, &state, 1700000000 + (uint32_t)(i / 1000));
			put(&x, format, i);
		}
	}
	if (fflush(stdout) != 0)
		err(1, "standard output");
	return 0;
}
