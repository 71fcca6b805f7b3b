/* SPDX-License-Identifier: MIT */
/* Accounting records of every version and byte order: what is decoded. */
#include "unit/test.h"

#include "decode/pacct_comp.h"
#include "unit/pacct.h"

static void small_floats_at_their_limits(void **state)
{
	static const struct {
		uint16_t comp;
		uint64_t value;
	} comps[] = {
		{ 0, 0 },
		{ 1, 1 },
		{ 0x1fff, 8191 },
		{ 0x2400, 8192 },
		{ 0x2401, 8200 },
		{ 0x3fff, 65528 },
		{ 0xffff, UINT64_C(8191) << 21 },
	};
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(comps); i++) {
		assert_int_equal(comp_value(comps[i].comp), comps[i].value);
		assert_int_equal(mk_comp(comps[i].value), comps[i].comp);
	}
	assert_int_equal(mk_comp(65532), 0x4400); /* rounds up to the next exponent */
	assert_int_equal(mk_comp(UINT64_MAX), COMP_MAX);
	assert_int_equal(comp2_value(0x7ffff), 0x7ffff);
	assert_int_equal(comp2_value(mk_comp2(0x80000)), 0x80000);
	assert_int_equal(comp2_value(mk_comp2(0x1fffff)), 0x200000);
	assert_int_equal(comp2_value(COMP2_MAX), UINT64_C(0xfffff) << 30);
	for (int i = 0; i < 20000; i++) {
		uint64_t v = ((uint64_t)mk_random(&seed) << 19 ^ mk_random(&seed)) >> (i % 50);
		uint32_t f = mk_float(v & 0xffffffffff), c2 = mk_comp2(v);
		uint16_t c = mk_comp(v);

		if (c != COMP_MAX)
			assert_in_range(comp_value(c) - v + comp_step(c), 0, 2 * comp_step(c));
		assert_in_range(comp2_value(c2) - v + comp2_step(c2), 0, 2 * comp2_step(c2));
		assert_true(etime_float_sane(f) && etime_float_whole(f));
		assert_in_range((v & 0xffffffffff) - etime_float_value(f, 1), 0,
				etime_float_step(f) - 1);
	}
}

static void floats_that_no_kernel_writes(void **state)
{
	(void)state;
	assert_false(etime_float_sane(0x7f800000)); /* infinity */
	assert_false(etime_float_sane(0x7fc00000)); /* not a number */
	assert_false(etime_float_sane(0xc2c80000)); /* -100 */
	assert_false(etime_float_sane(0x5f000000)); /* 2^63 */
	assert_true(etime_float_sane(0x41480000) && !etime_float_whole(0x41480000)); /* 12.5 */
	assert_int_equal(etime_float_value(0x41480000, 10000), 125000);
	assert_int_equal(etime_float_value(1, 10000), 0); /* denormal */
	assert_false(etime_float_whole(1));
}

/* The record of the case collection, byte for byte as Python's struct made it; dump-acct agrees. */
static const uint8_t base_bytes[64] = {
	0x00, 0x03, 0x00, 0x88, 0,    0,    0,	  0,	0xe8, 0x03, 0,	  0,	0xe8,
	0x03, 0,    0,	  0x92, 0x10, 0,    0,	  0x64, 0,    0,    0,	  0x00, 0xf1,
	0x53, 0x65, 0x00, 0x00, 0x96, 0x43, 0x02, 0,	0x01, 0,    0xe8, 0x03, 0,
	0,    0,    0,	  0x32, 0,    0,    0,	  0,	0,    'd',  'e',  'm',	'o',
};

static void the_base_record_has_every_field(void **state)
{
	struct mk_exit x = base_exit();
	uint8_t bytes[64];
	struct pacct_exit e;

	(void)state;
	assert_int_equal(mk_record(bytes, &x, MK_V3_LE), 64);
	assert_memory_equal(bytes, base_bytes, 64);
	pacct_decode(base_bytes, PACCT_V3_LE, 64, &e);
	assert_int_equal(e.offset, 64);
	assert_int_equal(e.version, 3);
	assert_int_equal(e.present, PACCT_HAS_PID | PACCT_HAS_UID | PACCT_HAS_BTIME |
					    PACCT_HAS_STATUS | PACCT_HAS_ETIME | PACCT_HAS_UTIME |
					    PACCT_HAS_STIME | PACCT_HAS_MEM | PACCT_HAS_MINFLT |
					    PACCT_HAS_MAJFLT | PACCT_HAS_TTY);
	assert_int_equal(e.pid, 4242);
	assert_int_equal(e.ppid, 100);
	assert_int_equal(e.uid, 1000);
	assert_int_equal(e.btime_s, ENDED);
	assert_int_equal(e.etime_us, 3000000);
	assert_int_equal(e.etime_precision_ns, 10000000);
	assert_int_equal(e.utime_us, 20000);
	assert_int_equal(e.stime_us, 10000);
	assert_int_equal(e.mem_kib, 1000);
	assert_int_equal(e.minflt, 50);
	assert_string_equal(e.comm, "demo");
	assert_int_equal(e.comm_len, 4);
	assert_string_equal(e.tty_text, "pts/0");
	assert_false(e.phantom || e.big_endian);
}

/* The precision that each format promises for the elapsed time holds. */
static void assert_same(const struct pacct_exit *e, const struct mk_exit *x)
{
	uint64_t us = x->etime * 10000,
		 off = e->etime_us > us ? e->etime_us - us : us - e->etime_us;

	assert_int_equal(e->flags, x->flag);
	assert_int_equal(e->status, x->status);
	assert_int_equal(e->btime_s, x->btime);
	assert_int_equal(e->tty, x->tty);
	assert_string_equal(e->comm, x->comm);
	assert_true(off * 1000 < e->etime_precision_ns);
	assert_int_equal(e->utime_us, comp_value(mk_comp(x->utime)) * 10000);
	assert_int_equal(e->stime_us, comp_value(mk_comp(x->stime)) * 10000);
	assert_int_equal(e->mem_kib, comp_value(mk_comp(x->mem)));
	assert_int_equal(e->minflt, comp_value(mk_comp(x->minflt)));
	assert_int_equal(e->majflt, comp_value(mk_comp(x->majflt)));
	assert_int_equal(e->offset, 640);
	if (e->version > 0 || x->uid <= 0xffff) {
		assert_int_equal(e->uid, x->uid);
		assert_int_equal(e->gid, x->gid);
	}
	if (e->version == 3) {
		assert_int_equal(e->pid, x->pid);
		assert_int_equal(e->ppid, x->ppid);
	}
	assert_int_equal(!!(e->present & PACCT_HAS_PID), e->version == 3);
}

static void every_format_tells_the_same(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct mk_exit x;

		mk_random_exit(&x, &seed, 1600000000 + mk_random(&seed) % 200000000);
		for (enum mk_format f = 0; f < MK_FORMATS; f++) {
			struct pacct_exit e = decoded(&x, f);

			assert_same(&e, &x);
			assert_int_equal(e.big_endian, mk_big(f));
		}
	}
}

/* v0 does not tell its byte order: one record alone is nearly always enough, and the one in front settles the rest. */
static void the_order_of_v0_is_told_by_content(void **state)
{
	uint64_t seed = 1;
	int wrong = 0, wrong_in_run = 0;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		enum mk_format f = i % 3;
		uint8_t bytes[64];
		struct mk_exit x;
		size_t size;
		int weight;

		mk_random_exit(&x, &seed, 1000000000 + mk_random(&seed) % 100000000);
		size = mk_record(bytes, &x, f);
		wrong += pacct_recognise(bytes, size, PACCT_NONE, &weight) != formats[f];
		wrong_in_run += pacct_recognise(bytes, size, formats[f], &weight) != formats[f];
	}
	assert_in_range(wrong, 0, 30);
	assert_in_range(wrong_in_run, 0, 3);
}

static void ids_beyond_16_bits(void **state)
{
	struct mk_exit x = base_exit();
	struct pacct_exit e;

	(void)state;
	x.uid = UINT32_MAX;
	x.gid = 70000;
	for (enum mk_format f = MK_V1_LE; f < MK_FORMATS; f++) {
		e = decoded(&x, f);
		assert_int_equal(e.uid, UINT32_MAX);
		assert_int_equal(e.gid, 70000);
	}
	e = decoded(&x, MK_V0_LE);
	assert_int_equal(e.uid, 65534); /* all that 2.4 kept */
	x.redhat = true;
	e = decoded(&x, MK_V0_LE);
	assert_int_equal(e.uid, UINT32_MAX);
	assert_int_equal(e.gid, 70000);
	e = decoded(&x, MK_V0_BE);
	assert_int_equal(e.gid, 70000);
}

static void v2_counts_in_its_own_ticks(void **state)
{
	struct mk_exit x = base_exit();
	struct pacct_exit e;

	(void)state;
	x.ahz = 1024;
	x.etime = 1024 * 60;
	x.utime = 512;
	e = decoded(&x, MK_V2_BE);
	assert_int_equal(e.ahz, 1024);
	assert_int_equal(e.etime_us, 60000000);
	assert_int_equal(e.utime_us, 500000);
	/* A v2 record without the long form of the elapsed time. */
	x.etime = 8191;
	e = decoded(&x, MK_V2_LE);
	assert_int_equal(e.etime_us, UINT64_C(8191) * 1000000 / 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_floats_at_their_limits),
		cmocka_unit_test(floats_that_no_kernel_writes),
		cmocka_unit_test(the_base_record_has_every_field),
		cmocka_unit_test(every_format_tells_the_same),
		cmocka_unit_test(the_order_of_v0_is_told_by_content),
		cmocka_unit_test(ids_beyond_16_bits),
		cmocka_unit_test(v2_counts_in_its_own_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
