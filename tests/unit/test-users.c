/* SPDX-License-Identifier: MIT */
/* Names by number: asked once, whatever other numbers there are. The C library's functions are replaced by ours. */
#include "unit/test.h"

#include <grp.h>
#include <pwd.h>

#include "base/users.h"
#include "base/util.h"

static unsigned int asked_users, asked_groups;

/* Multiples of 7 have no name, 13 has one that is too long. */
static char *name_of(uint32_t id, char *buf, size_t size)
{
	if (id % 7 == 0 && id)
		return NULL;
	snprintf(buf, size, id == 13 ? "n%0100u" : "n%u", id);
	return buf;
}

int getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t size, struct passwd **found)
{
	asked_users++;
	pw->pw_name = name_of(uid, buf, size);
	*found = pw->pw_name ? pw : NULL;
	return 0;
}

int getgrgid_r(gid_t gid, struct group *gr, char *buf, size_t size, struct group **found)
{
	asked_groups++;
	gr->gr_name = name_of(gid, buf, size);
	*found = gr->gr_name ? gr : NULL;
	return 0;
}

static struct users *new_users(void)
{
	struct users *u = NULL;

	asked_users = asked_groups = 0;
	assert_int_equal(users_new(&u), 0);
	return u;
}

static void assert_user(struct users *u, uint32_t uid, const char *want)
{
	size_t len = 77;
	const char *name = users_name(u, uid, 0, &len);

	assert_int_equal(len, want ? strlen(want) : 0);
	if (want)
		assert_string_equal(name, want);
	else
		assert_null(name);
}

static void names(void **state)
{
	struct users *u = new_users();
	size_t len;

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_user(u, 0, "n0");
		assert_user(u, 1000, "n1000");
		assert_user(u, 1001, NULL);
		assert_user(u, 13, NULL); /* half a name may be somebody else's */
		assert_user(u, UINT32_MAX, "n4294967295");
		assert_string_equal(users_group(u, 1000, 0, &len), "n1000");
	}
	assert_int_equal(asked_users, 5);
	assert_int_equal(asked_groups, 1);
	users_free(u);
}

/* Root and any one other, in turn, as a busy host has them: nobody is asked for again. */
static void two_in_turn(void **state)
{
	(void)state;
	for (uint32_t other = 1; other < 70000; other += 13) {
		struct users *u = new_users();
		size_t len;

		for (int i = 0; i < 5; i++) {
			users_name(u, 0, 0, &len);
			users_name(u, other, 0, &len);
		}
		assert_int_equal(asked_users, 2);
		users_free(u);
	}
}

/* The ordinary users of a large host, one after the other, again and again. */
static void many(void **state)
{
	struct users *u = new_users();
	size_t len;

	(void)state;
	for (int round = 0; round < 10; round++)
		for (uint32_t uid = 1000; uid < 1200; uid++)
			users_name(u, uid, 0, &len);
	assert_int_equal(asked_users, 200);
	users_free(u);
}

/* More than there is room for: dearer, never wrong. */
static void too_many(void **state)
{
	struct users *u = new_users();

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t uid = 0; uid < 20000; uid++) {
			char want[128];

			if (uid == 13)
				continue;
			assert_user(u, uid, name_of(uid, want, sizeof(want)));
		}
	}
	users_free(u);
}

static void asked_again_in_time(void **state)
{
	struct users *u = new_users();
	size_t len;

	(void)state;
	users_name(u, 5, 0, &len);
	users_name(u, 5, 600 * NS_PER_SEC, &len);
	assert_int_equal(asked_users, 1);
	users_name(u, 5, 600 * NS_PER_SEC + 1, &len);
	assert_int_equal(asked_users, 2);
	users_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(two_in_turn),
		cmocka_unit_test(many),
		cmocka_unit_test(too_many),
		cmocka_unit_test(asked_again_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
