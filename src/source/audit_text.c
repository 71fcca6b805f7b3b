/* SPDX-License-Identifier: MIT */
/*
 * Audit text on standard input, as auditd's dispatcher writes it to its plugins: a stream socket that holds about 170
 * records. One plugin that does not read makes auditd wait, and in the end every process that is audited; so what is
 * there is always read, whatever becomes of it.
 */
#include "source/audit_internal.h"

#include <poll.h>
#include <sys/stat.h>

#include "base/clock.h"

#define CHUNK (64u << 10)
#define ROUNDS 16

int text_begin(struct audit_source *s)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st))
		return -errno;
	if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
		return -ESPIPE;
	s->text = malloc(CHUNK);
	if (!s->text)
		return -ENOMEM;
	s->empty_ns = mono_now();
	return audit_watch_fd(s, STDIN_FILENO);
}

/* Without changing the descriptor's flags, which belong to others too. Returns 0 at the end, -EAGAIN if there is none. */
static ssize_t read_some(struct audit_source *s)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return -EAGAIN;
	n = read(STDIN_FILENO, s->text, CHUNK);
	if (n >= 0)
		return n;
	return errno == EINTR ? -EAGAIN : -errno;
}

static void end(struct audit_source *s)
{
	s->ended = true;
	audit_watch_fd(s, -1);
	s->base.status->state = EXEUNT_STATE_FAILED;
	s->base.status->reason = "the audit stream on standard input has ended";
	s->base.status->remedy = NULL;
}

int text_drain(struct audit_source *s, frame_fn fn, void *userdata, bool *more)
{
	int total = 0;

	for (int round = 0; round < ROUNDS && !s->ended; round++) {
		int64_t before = mono_now();
		struct frame f = { .source = EXEUNT_SOURCE_AUDIT,
				   .kind = FRAME_DATA,
				   .channel = AUDIT_CHANNEL_TEXT,
				   .since_ns = s->empty_ns,
				   .data = s->text };
		ssize_t n = read_some(s);
		int r;

		if (n == -EAGAIN) {
			s->empty_ns = before;
			return total;
		}
		/* a hung-up terminal or a reset socket is an end as well */
		if (n <= 0) {
			end(s);
			return total;
		}
		f.len = (size_t)n;
		f.mono_ns = mono_now();
		f.real_ns = real_now();
		s->base.status->messages++;
		s->base.status->bytes += f.len;
		s->seen++;
		total++;
		r = fn(&f, userdata);
		if (r < 0)
			return r;
	}
	*more = !s->ended;
	return total;
}
