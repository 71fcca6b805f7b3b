/* SPDX-License-Identifier: MIT */
/* Messages for people, each in one write so that lines of several programs do not mix. See cmd.h. */
#include "cmd/cmd.h"

#include <poll.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>

#define PATIENCE_MS 10

static int log_fd = -1; /* -1: stderr is read by somebody */
static bool prompt;

/* syslog(3) would wait for a logger that does not read; who listens to the kernel may wait for nobody. */
static void connect_log(void)
{
	static const struct sockaddr_un logger = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };

	close_fd(log_fd);
	log_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (log_fd >= 0 && connect(log_fd, (const struct sockaddr *)&logger, sizeof(logger)))
		log_fd = close_fd(log_fd);
}

static bool is_open(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3));
}

void cmd_messages_to_log(void)
{
	if (!is_open(STDERR_FILENO))
		connect_log();
}

bool cmd_is_null(int fd)
{
	return !is_open(fd);
}

static void put_log(int priority, const char *text)
{
	char line[1600], stamp[32] = "";
	time_t now = time(NULL);
	struct tm tm;
	int n;

	if (localtime_r(&now, &tm))
		strftime(stamp, sizeof(stamp), "%b %e %T", &tm);
	n = snprintf(line, sizeof(line), "<%d>%s exeunt[%d]: %s", LOG_DAEMON | priority, stamp,
		     (int)getpid(), text);
	n = MIN(n, (int)sizeof(line) - 1);
	if (send(log_fd, line, (size_t)n, MSG_NOSIGNAL) >= 0 || errno == EAGAIN)
		return;
	connect_log(); /* it was started anew meanwhile */
	if (log_fd >= 0)
		send(log_fd, line, (size_t)n, MSG_NOSIGNAL);
}

/* systemd takes the level from the line where stderr goes to its journal, which $JOURNAL_STREAM names. */
static bool is_journal(void)
{
	static int known = -1;
	const char *stream;
	char ours[64];
	struct stat st;

	if (known >= 0)
		return known;
	stream = getenv("JOURNAL_STREAM");
	if (stream && !fstat(STDERR_FILENO, &st))
		snprintf(ours, sizeof(ours), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	known = stream && !strcmp(stream, ours);
	return known;
}

void cmd_messages_prompt(void)
{
	prompt = true;
}

/* Room for a line: a pipe or socket that says so takes one without waiting. */
static bool has_room(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return !prompt || poll(&p, 1, PATIENCE_MS) != 0;
}

/* A message may hold what a user or a file brought; lines and escapes of its own it shall not have. */
PRINTF(2, 0)
static void put_line(int priority, const char *format, va_list ap)
{
	char line[1400], *p = line;
	int n = is_journal() ? snprintf(line, sizeof(line), "<%d>", priority)
			     : snprintf(line, sizeof(line), "exeunt: ");

	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, ap);
	for (; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	if (log_fd >= 0) {
		put_log(priority, line + n);
		return;
	}
	*p++ = '\n';
	if (!has_room(STDERR_FILENO))
		return;
	while (write(STDERR_FILENO, line, (size_t)(p - line)) < 0 && errno == EINTR)
		;
}

void cmd_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line(LOG_ERR, format, ap);
	va_end(ap);
}

void cmd_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line(LOG_INFO, format, ap);
	va_end(ap);
}

void cmd_say(int level, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line(level, format, ap);
	va_end(ap);
}

int cmd_usage_hint(const char *command)
{
	if (log_fd >= 0)
		cmd_error("its options are not understood; see exeunt %s--help", command);
	fprintf(stderr, "Try 'exeunt %s--help' for more information.\n", command);
	return CMD_USAGE;
}

int cmd_usage_error(const char *command, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	put_line(LOG_ERR, format, ap);
	va_end(ap);
	return cmd_usage_hint(command);
}
