/* SPDX-License-Identifier: MIT */
/* What the tests of accounting records share: one exit, written in any format and decoded again. */
#ifndef UNIT_PACCT_H
#define UNIT_PACCT_H

#include <string.h>

#include "base/util.h"
#include "decode/pacct.h"
#include "helpers/mkpacct.h"

#define ENDED INT64_C(1700000000)

static const enum pacct_format formats[MK_FORMATS] = {
	PACCT_V0_LE, PACCT_V0_BE, PACCT_V0_M68K, PACCT_V1_LE, PACCT_V1_BE,
	PACCT_V2_LE, PACCT_V2_BE, PACCT_V3_LE,	 PACCT_V3_BE,
};

static inline struct mk_exit base_exit(void)
{
	return (struct mk_exit){ .tty = 0x8800,
				 .uid = 1000,
				 .gid = 1000,
				 .pid = 4242,
				 .ppid = 100,
				 .btime = ENDED,
				 .etime = 300,
				 .utime = 2,
				 .stime = 1,
				 .mem = 1000,
				 .minflt = 50,
				 .comm = "demo" };
}

/* Writes `x`, insists that it is recognised as what it was written as, and decodes it. */
static inline struct pacct_exit decoded(const struct mk_exit *x, enum mk_format f)
{
	uint8_t bytes[64];
	size_t size = mk_record(bytes, x, f);
	struct pacct_exit e;
	int weight;

	memset(&e, 0xa5, sizeof(e));
	assert_true(pacct_weigh(bytes, formats[f]) >= 0);
	if (f > MK_V0_M68K) /* for v0 see the_order_of_v0_is_told_by_content() */
		assert_int_equal(pacct_recognise(bytes, size, PACCT_NONE, &weight), formats[f]);
	assert_int_equal(pacct_size(formats[f]), size);
	pacct_decode(bytes, formats[f], 640, &e);
	return e;
}

#endif
