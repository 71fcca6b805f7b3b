/* SPDX-License-Identifier: MIT */
/* plugin:PATH: real programs of this host as plugins, with a clock that is a number where it is passed in. */
#include "unit/test.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "record/fields.h"
#include "sink/plugin-keeper.h"
#include "sink/sink.h"
#include "sink/table.h"

#define WAIT_NS (60 * NS_PER_SEC) /* a test that hangs has failed */

static char folder[] = "/tmp/exeunt-plugin.XXXXXX";
static char told[4096];

static void say(int level, const char *text, void *userdata)
{
	(void)level;
	(void)userdata;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static const struct sink_host host = { .say = say };

static const char *place(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

/* A script that a shell of root's runs. */
static const char *script(const char *name, const char *text)
{
	const char *path = place(name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fprintf(f, "cd %s\n%s\n", folder, text);
	fclose(f);
	return path;
}

static struct sink *open_sink(const char *target, uint64_t buffer)
{
	struct sink_options o = {
		.host = &host, .name = "plugin", .target = target, .buffer = buffer
	};
	struct sink *s;
	char error[512] = "";

	told[0] = '\0';
	if (sink_plugin.new(&s, &o, error, sizeof(error)) < 0 ||
	    sink_plugin.start(s, error, sizeof(error)) < 0) {
		print_error("%s\n", error);
		fail();
	}
	return s;
}

static struct sink *run_script(const char *path, uint64_t buffer)
{
	static char target[256];

	snprintf(target, sizeof(target), "/bin/sh %s", path);
	return open_sink(target, buffer);
}

static void put(struct sink *s, int n)
{
	static int pid;
	struct exeunt_record r = { .type = EXEUNT_TYPE_EXIT, .time_ns = real_now() };

	for (int i = 0; i < n; i++) {
		r.pid = ++pid;
		field_set(&r, EXEUNT_F_PID);
		sink_plugin.record(s, &r);
	}
	sink_plugin.flush(s, mono_now());
}

static void turn(struct sink *s)
{
	struct pollfd p = { .fd = sink_plugin.fd(s), .events = POLLIN };

	poll(&p, 1, 5);
	if (p.revents || mono_now() >= sink_plugin.deadline(s))
		sink_plugin.dispatch(s, mono_now());
}

static size_t count_lines(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, word) && strchr(line, '\n');
	if (f)
		fclose(f);
	return n;
}

static void wait_lines(struct sink *s, const char *path, const char *word, size_t n)
{
	int64_t until = mono_now() + WAIT_NS;

	while (count_lines(path, word) < n && mono_now() < until)
		turn(s);
	assert_int_equal(count_lines(path, word), n);
}

/* `ahead` is how far the clock has gone on since the stop began. */
static struct sink_report finish(struct sink *s, int64_t ahead)
{
	int64_t now = mono_now(), until = now + WAIT_NS;
	bool done = sink_plugin.finish(s, now);
	struct sink_report report;

	while (!done && mono_now() < until) {
		poll(NULL, 0, 2);
		done = sink_plugin.finish(s, now + ahead);
	}
	assert_true(done);
	sink_plugin.report(s, &report);
	sink_plugin.free(s);
	return report;
}

static void everything_arrives(void **state)
{
	struct sink_report report;
	char target[256];
	struct sink *s;

	(void)state;
	snprintf(target, sizeof(target), " /usr/bin/tee  %s ", place("all"));
	s = open_sink(target, 0);
	put(s, 5000);
	report = finish(s, 0);
	assert_int_equal(count_lines(place("all"), "op=process-exit "), 5000);
	assert_int_equal(count_lines(place("all"), ":5000): "), 1);
	assert_int_equal(report.records, 5000);
	assert_int_equal(report.dropped, 0);
	assert_int_equal(report.readers, 0);
	assert_int_equal(report.restarts, 0);
	assert_string_equal(told, "");
}

/* Nobody asked for: no environment, no descriptors but three, no signal that is ignored or blocked. */
static void as_auditd_does(void **state)
{
	struct sink *s;
	FILE *f;
	char line[256];
	int fd = open("/dev/null", O_RDONLY), all = 0;

	(void)state;
	signal(SIGUSR1, SIG_IGN);
	s = run_script(script("look",
			      "for f in 3 4 5 6 7 8 9; do\n"
			      "[ -e /proc/$$/fd/$f ] && readlink /proc/$$/fd/$f >>fds\n"
			      "done\n"
			      "while read -r name value; do case $name in SigBlk:|SigIgn:)\n"
			      "echo $value >>signals;; esac; done </proc/$$/status\n"
			      "cat /proc/$$/environ >environ\n"
			      "readlink /proc/$$/fd/0 /proc/$$/fd/2 >std\n"
			      "exec cat >last"),
		       0);
	finish(s, 0);
	signal(SIGUSR1, SIG_DFL);
	close(fd);
	f = fopen(place("signals"), "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_string_equal(line, "0000000000000000\n");
		all++;
	}
	fclose(f);
	assert_int_equal(all, 2);
	assert_int_equal(count_lines(place("std"), "socket:"), 1);
	assert_int_equal(count_lines(place("std"), "/dev/null"), 1);
	/* the shell has its own script open, and no more */
	assert_int_equal(count_lines(place("fds"), "/"), count_lines(place("fds"), folder));
	f = fopen(place("environ"), "r");
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
}

/* What a plugin that ended had not read, the next one reads; of a line that it had read in part the rest is passed over. */
static void started_again(void **state)
{
	struct sink_report report;
	struct sink *s = run_script(script("torn", "if [ ! -e flag ]; then\n"
						   "touch flag\n"
						   "dd bs=1 count=50 2>&1 >/dev/null\n"
						   "exit 3\n"
						   "fi\n"
						   "exec tee torn.out"),
				    0);

	(void)state;
	put(s, 100);
	wait_lines(s, place("torn.out"), "op=process-exit ", 99);
	assert_int_equal(count_lines(place("torn.out"), "type=TRUSTED_APP"),
			 count_lines(place("torn.out"), "res="));
	wait_lines(s, place("torn.out"), "op=process-exit-loss ", 1);
	assert_int_equal(count_lines(place("torn.out"), " count=+1 exact=yes"), 1);
	assert_non_null(strstr(told, "ended with status 3; it is started again in 0.1 s"));
	report = finish(s, 0);
	assert_int_equal(report.restarts, 1);
	assert_int_equal(report.dropped, 1);
	assert_int_equal(report.records, 99 + 1);
}

/* Neither reads nor obeys: nothing waits for it, its memory is bounded, and at the end all that it missed is counted. */
static void hung(void **state)
{
	struct sink *s = run_script(script("hung", "trap '' TERM HUP\n"
						   "echo ready >hung.ready\n"
						   "while :; do sleep 1; done"),
				    64 << 10);
	struct sink_report report;

	(void)state;
	wait_lines(s, place("hung.ready"), "ready", 1);
	put(s, 5000);
	sink_plugin.report(s, &report);
	assert_in_range(report.queued_bytes, 1, 64 << 10);
	assert_int_equal(report.records + report.dropped, 5000);
	assert_in_range(report.records, 100, 4000);
	assert_non_null(strstr(told, "does not keep up"));
	sink_plugin.reload(s);
	report = finish(s, 4 * NS_PER_SEC);
	assert_int_equal(report.records, 0);
	assert_int_equal(report.dropped, 5000);
	assert_non_null(strstr(told, "is killed"));
	assert_non_null(strstr(told, "records unread"));
}

/* One that ends at once, again and again: the pauses get longer, and what is left at the end is counted. */
static void ends_at_once(void **state)
{
	struct sink *s = run_script(script("once", "exit 7"), 0);
	struct sink_report report;
	int64_t until = mono_now() + WAIT_NS;

	(void)state;
	while (!strstr(told, "again in 0.4 s") && mono_now() < until)
		turn(s);
	assert_non_null(strstr(told, "again in 0.1 s"));
	assert_non_null(strstr(told, "again in 0.2 s"));
	assert_non_null(strstr(told, "again in 0.4 s"));
	put(s, 10);
	/* a reload does not wait for the pause to end */
	sink_plugin.reload(s);
	report = finish(s, 0);
	assert_int_equal(report.dropped, 10);
	assert_int_equal(report.records, 0);
	assert_in_range(report.restarts, 2, 4);
}

static bool runs(const struct sink *s)
{
	struct sink_report report;

	sink_plugin.report(s, &report);
	return report.readers;
}

/* Each of its lives is long, by the clock that is passed in: no end is held against it. */
static void forgiven(void **state)
{
	struct sink *s = run_script(script("long", "read -r line; exit 5"), 0);
	int64_t until = mono_now() + WAIT_NS, later = 0;

	(void)state;
	for (int i = 0; i < 5; i++) {
		put(s, 1);
		for (later += 3600 * NS_PER_SEC; runs(s) && mono_now() < until; poll(NULL, 0, 1))
			sink_plugin.dispatch(s, mono_now() + later);
		assert_non_null(strstr(told, "ended with status 5; it is started again in 0.1 s"));
		told[0] = '\0';
		for (later += NS_PER_SEC; !runs(s) && mono_now() < until; poll(NULL, 0, 1))
			sink_plugin.dispatch(s, mono_now() + later);
		assert_string_equal(told, "");
	}
	assert_int_equal(finish(s, 0).dropped, 0);
}

/* A reload is SIGHUP to the plugin; its children are not left behind to read what is for the next one. */
static void reload_and_children(void **state)
{
	struct sink *s = run_script(script("hup", "trap 'echo hup >>hups; exit 0' HUP\n"
						  "cat >/dev/null &\n"
						  "echo ready >>ready\n"
						  "[ -e hups ] && exec cat >>rest\n"
						  "while :; do sleep 0.01; done"),
				    0);

	(void)state;
	wait_lines(s, place("ready"), "ready", 1);
	sink_plugin.reload(s);
	wait_lines(s, place("hups"), "hup", 1);
	/* standard input of what runs in the background of a shell is /dev/null */
	put(s, 10);
	wait_lines(s, place("rest"), "op=process-exit ", 10);
	assert_int_equal(finish(s, 0).dropped, 0);
}

/* It can do that to its socket, and so to the next one: told, and nothing waits for it. */
static void shuts_its_input(void **state)
{
	struct sink *s = run_script(
		script("shut",
		       "exec python3 -c 'import socket; s = socket.socket(fileno=0); "
		       "s.shutdown(socket.SHUT_RDWR); open(\"shut.done\", \"w\").write(\"x\\n\")'"),
		0);
	struct sink_report report;

	(void)state;
	wait_lines(s, place("shut.done"), "x", 1);
	put(s, 10);
	assert_non_null(strstr(told, "shut its input down"));
	report = finish(s, 4 * NS_PER_SEC);
	assert_int_equal(report.error, EPIPE);
}

static void refused(const char *target, const char *why)
{
	struct sink_options o = { .host = &host, .target = target };
	struct sink *s;
	char error[512] = "";

	assert_true(sink_plugin.new(&s, &o, error, sizeof(error)) < 0);
	if (!strstr(error, why)) {
		print_error("'%s' says: %s\n", target, error);
		fail();
	}
}

static void targets_refused(void **state)
{
	(void)state;
	refused("bin/sh", "absolute");
	refused(" ", "no path");
	refused("/nonexistent/x", "No such file");
	refused("/bin", "regular");
}

static int make_folder(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_arrives),  cmocka_unit_test(as_auditd_does),
		cmocka_unit_test(started_again),       cmocka_unit_test(hung),
		cmocka_unit_test(ends_at_once),	       cmocka_unit_test(forgiven),
		cmocka_unit_test(reload_and_children), cmocka_unit_test(shuts_its_input),
		cmocka_unit_test(targets_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
