/* SPDX-License-Identifier: MIT */
/* The keeper's own life: starting a plugin, waiting for its end, and ending it. See plugin-keeper.h. */
#include "sink/plugin-keeper-internal.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/descriptors.h"
#include "base/util.h"
#include "sink/plugin-keeper.h"

#define CONTROL 3
#define INPUT 4
#define LINE_START "type="
#define LEAVE_NS (3 * NS_PER_SEC) /* at the end of the main process: to read what is left */
#define OBEY_NS NS_PER_SEC	  /* then, to obey SIGTERM */

struct keeper {
	char *const *argv;
	int signal_fd;
	pid_t plugin; /* 0: none */
	bool alone;   /* the main process is gone */
	bool drains, told;
	uint64_t unread;
	int64_t term_at, kill_at;
};

static void say(const struct plugin_word *word)
{
	/* a socket that is full is one that nobody reads: then it does not matter either */
	send(CONTROL, word, sizeof(*word), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * The one before may have read a part of a line. Nothing within a line looks like its start, as what a process can choose is
 * never written with a `=`.
 */
static uint64_t skip_torn_line(void)
{
	char buf[16384];
	ssize_t n = recv(INPUT, buf, sizeof(buf), MSG_PEEK | MSG_DONTWAIT);
	const char *newline;

	if (n <= 0 || !memcmp(buf, LINE_START, MIN((size_t)n, sizeof(LINE_START) - 1)))
		return 0;
	newline = memchr(buf, '\n', (size_t)n);
	if (newline)
		n = newline + 1 - buf;
	recv(INPUT, buf, (size_t)n, MSG_DONTWAIT);
	return 1;
}

static void start(struct keeper *k)
{
	struct plugin_word word = { .what = PLUGIN_STARTED };

	if (k->plugin || k->drains)
		return;
	word.lost = skip_torn_line();
	word.error = plugin_check(k->argv[0], word.why, sizeof(word.why));
	if (!word.error) {
		word.pid = plugin_start(k->argv, INPUT);
		if (word.pid < 0) {
			word.error = word.pid;
			snprintf(word.why, sizeof(word.why), "cannot be run: %s",
				 strerror(-word.error));
		} else {
			k->plugin = word.pid;
		}
	}
	say(&word);
}

/* What it has started and left behind must not read what is for the next one. */
static void bury(struct keeper *k)
{
	struct plugin_word word = { .what = PLUGIN_ENDED, .pid = k->plugin };

	kill(-k->plugin, SIGKILL);
	waitpid(k->plugin, &word.status, 0);
	k->plugin = 0;
	say(&word);
}

/* Its group is ended before it is reaped, as its number is nobody else's until then. */
static void reap(struct keeper *k)
{
	struct signalfd_siginfo info;
	siginfo_t ended = { 0 };

	while (read(k->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	if (!k->plugin)
		return;
	if (!waitid(P_PID, (id_t)k->plugin, &ended, WEXITED | WNOHANG | WNOWAIT) && ended.si_pid)
		bury(k);
}

static void signal_plugin(const struct keeper *k, int number)
{
	if (k->plugin)
		kill(k->plugin, number);
}

static void obey(struct keeper *k, unsigned char what)
{
	switch ((enum plugin_ask)what) {
	case PLUGIN_ASK_START:
		start(k);
		break;
	case PLUGIN_ASK_RELOAD:
		signal_plugin(k, SIGHUP);
		break;
	case PLUGIN_ASK_TERM:
		signal_plugin(k, SIGTERM);
		break;
	case PLUGIN_ASK_KILL:
		signal_plugin(k, SIGKILL);
		break;
	case PLUGIN_ASK_DRAIN:
		k->drains = !k->plugin;
		break;
	}
}

/* Counts what nobody read. */
static void drain(struct keeper *k)
{
	struct plugin_word word = { .what = PLUGIN_DRAINED };
	char buf[16384];
	ssize_t n = recv(INPUT, buf, sizeof(buf), MSG_DONTWAIT);

	for (const char *p = buf; n > 0 && (p = memchr(p, '\n', (size_t)(buf + n - p))); p++)
		k->unread++;
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return;
	word.lost = k->unread;
	k->told = true;
	say(&word);
}

static void take_question(struct keeper *k, int64_t now)
{
	unsigned char what;
	ssize_t n = recv(CONTROL, &what, 1, MSG_DONTWAIT);

	if (n == 1) {
		obey(k, what);
		return;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	k->alone = true;
	k->term_at = now + LEAVE_NS;
	k->kill_at = k->term_at + OBEY_NS;
}

/* Left alone with a plugin that does not leave. */
static int insist(struct keeper *k, int64_t now)
{
	int64_t next;

	if (!k->alone)
		return -1;
	if (now >= k->term_at) {
		signal_plugin(k, SIGTERM);
		k->term_at = INT64_MAX;
	}
	if (now >= k->kill_at) {
		signal_plugin(k, SIGKILL);
		k->kill_at = INT64_MAX;
	}
	next = MIN(k->term_at, k->kill_at) - now;
	return (int)(MIN(next, NS_PER_SEC) / NS_PER_MSEC) + 1;
}

static void turn(struct keeper *k)
{
	struct pollfd p[] = {
		{ .fd = k->alone ? -1 : CONTROL, .events = POLLIN },
		{ .fd = k->signal_fd, .events = POLLIN },
		{ .fd = k->drains && !k->told ? INPUT : -1, .events = POLLIN },
	};

	poll(p, ARRAY_SIZE(p), insist(k, mono_now()));
	if (p[1].revents)
		reap(k);
	if (p[0].revents)
		take_question(k, mono_now());
	if (p[2].revents)
		drain(k);
}

/* What ends the main process shall not end this one. */
static int prepare(struct keeper *k, int control, int input)
{
	const int keep[] = { control, input };
	sigset_t all, child;
	int r;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGCHLD, SIG_DFL);
	setsid();
	prctl(PR_SET_NAME, "exeunt-keeper");
	r = descriptors_keep(keep, ARRAY_SIZE(keep));
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	k->signal_fd = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	return r < 0 || k->signal_fd < 0 ? -1 : 0;
}

_Noreturn void plugin_keeper_run(int control, int input, char *const *argv)
{
	struct keeper k = { .argv = argv };

	if (prepare(&k, control, input) < 0)
		_exit(1);
	while (!k.alone || k.plugin)
		turn(&k);
	_exit(0);
}
