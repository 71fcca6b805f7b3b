/* SPDX-License-Identifier: MIT */
/* What a service manager is told, heard on a socket of our own. */
#include "unit/test.h"

#include "base/util.h"
#include "cmd/notify.h"

static char dir[] = "/tmp/exeunt-notify.XXXXXX", path[64];
static char heard[2048];

static int listen_at(const char *name)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t len = strlen(name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(a.sun_path, name, len);
	if (*name == '@')
		a.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (const struct sockaddr *)&a,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
			 0);
	return fd;
}

/* The next message; "" if there is none. */
static const char *hear(int fd)
{
	ssize_t n = recv(fd, heard, sizeof(heard) - 1, 0);

	heard[n > 0 ? n : 0] = '\0';
	return heard;
}

static void setup_env(const char *socket, const char *usec, const char *pid)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	if (socket)
		setenv("NOTIFY_SOCKET", socket, 1);
	if (usec)
		setenv("WATCHDOG_USEC", usec, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
}

static void check_talk(const char *name)
{
	int fd = listen_at(name);
	struct notify n;

	setup_env(name, NULL, NULL);
	notify_open(&n);
	assert_null(getenv("NOTIFY_SOCKET"));
	notify_send(&n, "READY=1\nSTATUS=%s", "listening");
	assert_string_equal(hear(fd), "READY=1\nSTATUS=listening");
	assert_string_equal(hear(fd), "");
	assert_int_equal(notify_alive(&n, 5), INT64_MAX);
	assert_string_equal(hear(fd), "");
	notify_close(&n);
	close(fd);
}

static void path_and_abstract(void **state)
{
	char name[64];

	(void)state;
	check_talk(path);
	unlink(path);
	snprintf(name, sizeof(name), "@exeunt-test-%d", (int)getpid());
	check_talk(name);
}

static void nobody_asked(void **state)
{
	static const char *const none[] = { NULL, "", "/", "@", "relative", "vsock:2:1" };
	char longer[300];
	struct notify n;

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	for (size_t i = 0; i <= ARRAY_SIZE(none); i++) {
		setup_env(i < ARRAY_SIZE(none) ? none[i] : longer, "1000000", NULL);
		notify_open(&n);
		assert_int_equal(n.fd, -1);
		notify_send(&n, "READY=1");
		assert_int_equal(notify_alive(&n, 5), INT64_MAX);
		notify_close(&n);
	}
}

static void watchdog(void **state)
{
	int fd = listen_at(path);
	char pid[16];
	struct notify n;

	(void)state;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setup_env(path, "2000000", pid);
	notify_open(&n);
	assert_int_equal(notify_alive(&n, 10), 10 + NS_PER_SEC);
	assert_string_equal(hear(fd), "WATCHDOG=1");
	assert_int_equal(notify_alive(&n, NS_PER_SEC), 10 + NS_PER_SEC);
	assert_string_equal(hear(fd), "");
	assert_int_equal(notify_alive(&n, 10 + NS_PER_SEC), 10 + 2 * NS_PER_SEC);
	assert_string_equal(hear(fd), "WATCHDOG=1");
	notify_close(&n);
	/* of another process, or nonsense */
	setup_env(path, "2000000", "1");
	notify_open(&n);
	assert_int_equal(notify_alive(&n, 10), INT64_MAX);
	notify_close(&n);
	setup_env(path, "-5", NULL);
	notify_open(&n);
	assert_int_equal(notify_alive(&n, 10), INT64_MAX);
	notify_close(&n);
	assert_string_equal(hear(fd), "");
	close(fd);
	unlink(path);
}

/* One that does not read is not waited for; one that is started anew is heard by. */
static void manager_comes_and_goes(void **state)
{
	int fd = listen_at(path);
	struct notify n;

	(void)state;
	setup_env(path, NULL, NULL);
	notify_open(&n);
	for (int i = 0; i < 10000; i++)
		notify_send(&n, "STATUS=%d", i);
	assert_string_equal(hear(fd), "STATUS=0");
	close(fd);
	unlink(path);
	notify_send(&n, "STATUS=to nobody");
	fd = listen_at(path);
	notify_send(&n, "STATUS=again");
	assert_string_equal(hear(fd), "STATUS=again");
	notify_close(&n);
	close(fd);
	unlink(path);
}

static void long_status(void **state)
{
	char text[5000];
	int fd = listen_at(path);
	struct notify n;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	setup_env(path, NULL, NULL);
	notify_open(&n);
	notify_send(&n, "STATUS=%s", text);
	assert_in_range(strlen(hear(fd)), 1000, 1023);
	notify_close(&n);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_and_abstract), cmocka_unit_test(nobody_asked),
		cmocka_unit_test(watchdog),	     cmocka_unit_test(manager_comes_and_goes),
		cmocka_unit_test(long_status),
	};
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/notify", dir);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return failed;
}
