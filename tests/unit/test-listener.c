/* SPDX-License-Identifier: MIT */
/* A socket at a path: its mode and group, what is in its place already, and what is removed at the end. */
#include "unit/test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "sink/listener.h"

static char folder[] = "/tmp/exeunt-listener.XXXXXX";
static char path[128];
static char error[512];

static int setup(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/run/s", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
	return rmdir(folder);
}

static int open_as(struct listener *l, gid_t group)
{
	return listener_open(l, path, 0660, group, error, sizeof(error));
}

static int connect_to(const char *to)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, to);
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	close_fd(fd);
	return -1;
}

static void a_socket_is_made_and_removed(void **state)
{
	struct listener l;
	struct stat st;
	mode_t mask = umask(077);
	int fd, taken;

	(void)state;
	assert_int_equal(open_as(&l, (gid_t)-1), 0);
	assert_int_equal(umask(mask), 077);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0660);
	assert_int_equal(st.st_gid, getegid());
	assert_int_equal(listener_accept(&l), -EAGAIN);
	fd = connect_to(path);
	assert_true(fd >= 0);
	taken = listener_accept(&l);
	assert_true(taken >= 0);
	assert_true(fcntl(taken, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(taken, F_GETFD) & FD_CLOEXEC);
	close(taken);
	close(fd);
	listener_close(&l);
	assert_int_equal(lstat(path, &st), -1);
	listener_close(&l);
}

static void the_group_is_that_asked_for(void **state)
{
	struct listener l;
	struct stat st;
	int fd;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(open_as(&l, 4), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_gid, 4);
	listener_close(&l);
	/* what else is made gets the old one again */
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_gid, getegid());
	close(fd);
	unlink(path);
}

static void what_answers_is_left_alone(void **state)
{
	struct listener first, second;
	int fd;

	(void)state;
	assert_int_equal(open_as(&first, (gid_t)-1), 0);
	assert_int_equal(open_as(&second, (gid_t)-1), -EADDRINUSE);
	assert_non_null(strstr(error, path));
	assert_non_null(strstr(error, "is in use"));
	fd = connect_to(path);
	assert_true(fd >= 0);
	close(fd);
	listener_close(&first);
}

static void what_a_dead_process_left_is_replaced(void **state)
{
	struct listener dead, l;
	struct stat st;

	(void)state;
	assert_int_equal(open_as(&dead, (gid_t)-1), 0);
	close(dead.fd);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(open_as(&l, (gid_t)-1), 0);
	/* whose name it was finds another's there, and leaves it */
	dead.fd = dup(l.fd);
	dead.ino++;
	listener_close(&dead);
	assert_int_equal(lstat(path, &st), 0);
	listener_close(&l);
	assert_int_equal(lstat(path, &st), -1);
}

static void other_things_are_left_alone(void **state)
{
	struct listener l;
	struct stat st;
	char target[160];

	(void)state;
	close(open(path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(open_as(&l, (gid_t)-1), -EEXIST);
	assert_non_null(strstr(error, "is no socket"));
	assert_int_equal(unlink(path), 0);
	snprintf(target, sizeof(target), "%s.target", path);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(open_as(&l, (gid_t)-1), -EEXIST);
	assert_int_equal(lstat(target, &st), -1);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(unlink(path), 0);
}

static void a_path_has_a_length(void **state)
{
	char longer[200];
	struct listener l;

	(void)state;
	memset(longer, 'x', sizeof(longer));
	longer[108] = '\0';
	assert_int_equal(listener_open(&l, longer, 0660, (gid_t)-1, error, sizeof(error)),
			 -ENAMETOOLONG);
	assert_non_null(strstr(error, "107 bytes"));
	assert_int_equal(listener_open(&l, "/proc/none/s", 0660, (gid_t)-1, error, sizeof(error)),
			 -ENOENT);
	assert_non_null(strstr(error, "/proc/none/s"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_made_and_removed),
		cmocka_unit_test(the_group_is_that_asked_for),
		cmocka_unit_test(what_answers_is_left_alone),
		cmocka_unit_test(what_a_dead_process_left_is_replaced),
		cmocka_unit_test(other_things_are_left_alone),
		cmocka_unit_test(a_path_has_a_length),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
