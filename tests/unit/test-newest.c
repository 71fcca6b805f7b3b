/* SPDX-License-Identifier: MIT */
/* What is shown newest first: an amend in the line of its exit, whatever lies between. */
#include "test.h"

#include "cmd/newest.h"
#include "record/fields.h"

static struct exeunt_record shown[1000];
static int n_shown, stop_at;

static bool show(const struct exeunt_record *r, void *userdata)
{
	(void)userdata;
	shown[n_shown++] = *r;
	return n_shown == stop_at;
}

static struct newest *begin(void)
{
	struct newest *n;

	n_shown = stop_at = 0;
	assert_int_equal(newest_new(&n, show, NULL), 0);
	return n;
}

static struct exeunt_record about(enum exeunt_type type, int32_t pid, uint64_t start)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .type = (uint16_t)type,
				   .pid = pid,
				   .entity_start_ns = start,
				   .seq = 5 };

	field_set(&r, EXEUNT_F_PID);
	field_set(&r, EXEUNT_F_ENTITY_ID);
	return r;
}

static void an_amend_is_in_the_line_of_its_exit(void **state)
{
	struct newest *n = begin();
	struct exeunt_record amend = about(EXEUNT_TYPE_AMEND, 7, 70),
			     exit = about(EXEUNT_TYPE_EXIT, 7, 70);
	struct exeunt_record other = about(EXEUNT_TYPE_EXIT, 7, 71);

	(void)state;
	amend.seq = 9;
	amend.login_uid = 1000;
	field_set(&amend, EXEUNT_F_LOGIN_UID);
	exit.uid = 33;
	field_set(&exit, EXEUNT_F_UID);
	assert_false(newest_take(n, &amend));
	assert_int_equal(n_shown, 0);
	assert_false(newest_take(n, &other));
	assert_false(newest_take(n, &exit));
	assert_false(newest_take(n, &exit)); /* once is enough */
	assert_int_equal(n_shown, 3);
	assert_false(exeunt_has(&shown[0], EXEUNT_F_LOGIN_UID));
	assert_int_equal(shown[1].type, EXEUNT_TYPE_EXIT);
	assert_int_equal(shown[1].seq, 5);
	assert_int_equal(shown[1].login_uid, 1000);
	assert_int_equal(shown[1].uid, 33);
	assert_false(exeunt_has(&shown[2], EXEUNT_F_LOGIN_UID));
	newest_free(n);
}

static void others_are_passed_over_and_losses_not(void **state)
{
	struct newest *n = begin();
	struct exeunt_loss loss = { .count = 1 };
	struct exeunt_record thread = about(EXEUNT_TYPE_THREAD, 1, 1),
			     lost = { .type = EXEUNT_TYPE_LOSS, .loss = &loss };

	(void)state;
	assert_false(newest_take(n, &thread));
	assert_int_equal(n_shown, 0);
	assert_false(newest_take(n, &lost));
	assert_int_equal(n_shown, 1);
	newest_free(n);
}

static void many_amends_are_bounded(void **state)
{
	struct newest *n = begin();

	(void)state;
	for (int i = 0; i < 600; i++) {
		struct exeunt_record amend = about(EXEUNT_TYPE_AMEND, i, 1);

		field_set(&amend, EXEUNT_F_LOGIN_UID);
		assert_false(newest_take(n, &amend));
	}
	for (int i = 599; i >= 0; i--) {
		struct exeunt_record exit = about(EXEUNT_TYPE_EXIT, i, 1);

		assert_false(newest_take(n, &exit));
	}
	assert_int_equal(n_shown, 600);
	assert_true(exeunt_has(&shown[0], EXEUNT_F_LOGIN_UID));
	assert_false(exeunt_has(&shown[599], EXEUNT_F_LOGIN_UID));
	newest_free(n);
}

static void enough_is_enough(void **state)
{
	struct newest *n = begin();
	struct exeunt_record exit = about(EXEUNT_TYPE_EXIT, 1, 1);

	(void)state;
	stop_at = 2;
	assert_false(newest_take(n, &exit));
	assert_true(newest_take(n, &exit));
	newest_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_amend_is_in_the_line_of_its_exit),
		cmocka_unit_test(others_are_passed_over_and_losses_not),
		cmocka_unit_test(many_amends_are_bounded),
		cmocka_unit_test(enough_is_enough),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
