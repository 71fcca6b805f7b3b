/* SPDX-License-Identifier: MIT */
/* Owns the buffer for an unfinished line: see audit_stream.h. */
#include "decode/audit_stream.h"

#include "base/util.h"
#include "decode/audit_line.h"

int audit_stream_init(struct audit_stream *ret, audit_line_fn on_line, void *userdata)
{
	*ret = (struct audit_stream){ .on_line = on_line, .userdata = userdata };
	ret->buf = malloc(AUDIT_LINE_MAX);
	return ret->buf ? 0 : -ENOMEM;
}

void audit_stream_done(struct audit_stream *s)
{
	if (!s)
		return;
	free(s->buf);
	s->buf = NULL;
}

static int hand_on(struct audit_stream *s, const char *line, size_t len, unsigned int flags)
{
	if (len == 0)
		return 0;
	s->lines++;
	return s->on_line(line, len, flags, s->userdata);
}

/* True if a record starts at `p`: "type=NAME msg=audit(", NAME without blanks. */
static bool is_record_start(const char *p, const char *end)
{
	const char *q = p + 5;

	if (end - p < 16 || memcmp(p, "type=", 5) != 0)
		return false;
	while (q<end && * q> ' ' && *q < 0x7f && *q != '=')
		q++;
	return end - q >= 11 && !memcmp(q, " msg=audit(", 11);
}

/* A record's node= stands in front of its type, behind the end of the record before. */
static const char *with_node(const char *from, const char *type)
{
	const char *word = type - 1, *node;

	if (type - from < 7 || *word != ' ')
		return type;
	while (word > from && word[-1] != ' ')
		word--;
	node = memmem(word, (size_t)(type - 1 - word), "node=", 5);
	return node ? node : type;
}

/* Where the next record starts behind `from`; `end` if there is none. */
static const char *find_record(const char *from, const char *end)
{
	const char *p = from;

	while ((p = memmem(p, (size_t)(end - p), "type=", 5))) {
		if (is_record_start(p, end))
			return with_node(from, p);
		p += 5;
	}
	return end;
}

/* Behind the "type=" of the record at `p`, with or without a node= in front of it. */
static const char *behind_head(const char *p, const char *end)
{
	const char *type = memmem(p, (size_t)(end - p), "type=", 5);

	return type ? type + 5 : end;
}

/*
 * The buffer is full and no newline came. auditd 4.0.4 and 4.0.5 send records through af_unix
 * without any newline (restored in 4.1.0): then several records stand here, and all but the last
 * one are whole. Else the line is cut.
 */
static int split_full(struct audit_stream *s)
{
	const char *end = s->buf + s->len, *p = s->buf, *next;
	int r = 0;

	s->too_long++;
	next = find_record(behind_head(p, end), end);
	if (next == end) {
		s->skipping = true;
		r = hand_on(s, s->buf, s->len, AUDIT_LINE_CUT);
		s->len = 0;
		return r;
	}
	while (next < end && r == 0) {
		r = hand_on(s, p, (size_t)(next - p), 0);
		p = next;
		next = find_record(behind_head(p, end), end);
	}
	s->len = (size_t)(end - p);
	memmove(s->buf, p, s->len);
	return r;
}

/* Adds to the unfinished line. */
static int append(struct audit_stream *s, const char *p, size_t len)
{
	while (len && !s->skipping) {
		size_t n = MIN(len, AUDIT_LINE_MAX - s->len);

		memcpy(s->buf + s->len, p, n);
		s->len += n;
		p += n;
		len -= n;
		if (s->len == AUDIT_LINE_MAX) {
			int r = split_full(s);

			if (r)
				return r;
		}
	}
	return 0;
}

static int end_line(struct audit_stream *s, const char *p, size_t len)
{
	int r;

	if (s->len == 0 && !s->skipping && len < AUDIT_LINE_MAX)
		return hand_on(s, p, len, 0);
	r = append(s, p, len);
	if (r)
		return r;
	len = s->len;
	s->len = 0;
	s->skipping = false;
	return hand_on(s, s->buf, len, 0);
}

static const char *find_or_end(const char *p, const char *end, char c)
{
	const char *found = memchr(p, c, (size_t)(end - p));

	return found ? found : end;
}

int audit_stream_feed(struct audit_stream *s, const char *data, size_t len)
{
	const char *p = data, *end = data + len;
	const char *nul = find_or_end(p, end, 0), *newline = NULL;

	while (p < end) {
		const char *stop;
		int r;

		if (!newline || newline < p)
			newline = find_or_end(p, end, '\n');
		stop = MIN(newline, nul);
		if (stop > p)
			s->in_nuls = false;
		if (stop == end)
			return append(s, p, (size_t)(end - p));
		r = end_line(s, p, (size_t)(stop - p));
		if (r)
			return r;
		p = stop + 1;
		if (stop == nul) {
			s->nul_runs += !s->in_nuls;
			s->in_nuls = true;
			while (p < end && *p == 0)
				p++;
			nul = find_or_end(p, end, 0);
		}
	}
	return 0;
}

int audit_stream_flush(struct audit_stream *s)
{
	size_t len = s->len;

	s->len = 0;
	s->skipping = s->in_nuls = false;
	return hand_on(s, s->buf, len, AUDIT_LINE_CUT);
}
