/* SPDX-License-Identifier: MIT */
/*
 * Records written, files rotated in every way, packed, positions saved, kill -9 and starts, all in
 * an order that is drawn by lot: each record comes once. SEED=n repeats one such life.
 */
#include "unit/test.h"

#include "unit/follow.h"

static void some_rotation(struct world *w, uint64_t *seed, int *files)
{
	char name[32];

	snprintf(name, sizeof(name), "pacct.%d", 500 - ++*files);
	switch (mk_random(seed) % 4) {
	case 0: /* savelog, logrotate */
		move(w, "pacct", name);
		if (mk_random(seed) % 2)
			write_records(w, mk_random(seed) % 4);
		create(w, "pacct");
		if (mk_random(seed) % 2)
			write_records(w, mk_random(seed) % 4);
		break;
	case 1: /* with the kernel told at once */
		rotate(w, name);
		return;
	case 2: /* copytruncate, but not in the moment in which the file was begun */
		accton(w, "pacct");
		write_records(w, 1 + mk_random(seed) % 4);
		if (w->f)
			tick(w);
		write_records(w, mk_random(seed) % 4);
		copy_file(w, "pacct", name);
		assert_int_equal(truncate(in(w, "pacct"), 0), 0);
		break;
	case 3:
		accton(w, "pacct");
		break;
	}
}

static void maybe_pack(struct world *w, uint64_t *seed, int files)
{
	char name[32];

	snprintf(name, sizeof(name), "pacct.%d",
		 500 - (int)(mk_random(seed) % (unsigned int)(files + 1)));
	/* It may be the one that the kernel still writes to: log rotation waits a day with that. */
	if (!access(in(w, name), F_OK) && w->kernel >= 0) {
		struct stat a, b;

		assert_int_equal(stat(in(w, name), &a), 0);
		assert_int_equal(fstat(w->kernel, &b), 0);
		if (a.st_ino != b.st_ino)
			pack(w, name);
	}
}

static void at_random(uint64_t seed)
{
	struct world *w = start();
	int files = 0;

	w->seed = seed;
	save(w);
	for (int i = 0; i < 300; i++) {
		switch (mk_random(&seed) % 12) {
		case 0:
		case 1:
		case 2:
		case 3:
			write_records(w, mk_random(&seed) % 20);
			break;
		case 4:
			if (w->f)
				read_one(w);
			break;
		case 5:
			if (w->f)
				tick(w);
			break;
		case 6:
			if (files < 60)
				some_rotation(w, &seed, &files);
			break;
		case 7:
			maybe_pack(w, &seed, files);
			break;
		case 8:
			if (w->f)
				save(w);
			break;
		case 9:
			if (w->f)
				crash(w);
			else
				restart(w);
			break;
		case 10:
			pass(w, (int64_t)(mk_random(&seed) % 8000) * NS_PER_MSEC);
			break;
		case 11:
			w->keep_back = mk_random(&seed) % 4 * 64;
			break;
		}
	}
	if (!w->f)
		restart(w);
	accton(w, "pacct");
	w->keep_back = 0;
	write_records(w, 1);
	tick(w);
	tick(w);
	expect_all(w, 1);
	world_free(w);
}

static void killed_at_random_moments(void **state)
{
	const char *only = getenv("SEED");

	(void)state;
	if (only) {
		at_random(strtoull(only, NULL, 10));
		return;
	}
	for (uint64_t seed = 1; seed <= 150; seed++)
		at_random(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_at_random_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
