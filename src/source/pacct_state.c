/* SPDX-License-Identifier: MIT */
/*
 * See pacct_state.h. The text:
 *
 *	exeunt pacct state 1
 *	saved 1700000000123456789
 *	down 0
 *	file DEVICE INODE OFFSET HEAD TAIL DONE		(one line for each, digests in hexadecimal)
 *	note 68656c6c6f					(hexadecimal)
 *	end DIGEST					(of every byte before this line)
 */
#include "source/pacct_state.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>

#include "base/format.h"
#include "base/util.h"

#define MAGIC "exeunt pacct state "
#define VERSION "1"

static int write_end(char *p, const char *text, size_t len)
{
	return sprintf(p, "end %016" PRIx64 "\n", pacct_digest((const unsigned char *)text, len));
}

size_t pacct_state_format(char *buf, const struct pacct_state *s)
{
	size_t n_note = strnlen(s->note, PACCT_NOTE);
	char *p = buf;

	p += sprintf(p, MAGIC VERSION "\nsaved %" PRId64 "\ndown %d\n", s->saved_ns, s->down);
	for (unsigned int i = 0; i < s->n; i++) {
		const struct pacct_position *at = &s->positions[i];

		p += sprintf(p,
			     "file %" PRIu64 " %" PRIu64 " %" PRIu64 " %016" PRIx64 " %016" PRIx64
			     " %d\n",
			     at->dev, at->ino, at->offset, at->head, at->tail, at->done);
	}
	p = fmt_str(p, "note ");
	p = fmt_hex_bytes(p, s->note, n_note);
	*p++ = '\n';
	p += write_end(p, buf, (size_t)(p - buf));
	return (size_t)(p - buf);
}

/* The rest of the line if it begins with `word`, and moves on to the next line. */
static const char *take_line(char **text, const char *word)
{
	char *line = *text, *newline = strchr(line, '\n');
	size_t len = strlen(word);

	if (!newline || strncmp(line, word, len) != 0)
		return NULL;
	*newline = '\0';
	*text = newline + 1;
	return line + len;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int take_note(struct pacct_state *s, const char *hex)
{
	size_t n = strlen(hex);

	if (n % 2 || n > (size_t)2 * PACCT_NOTE)
		return -EBADMSG;
	for (size_t i = 0; i < n / 2; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0 || !(high | low))
			return -EBADMSG;
		s->note[i] = (char)(high << 4 | low);
	}
	return 0;
}

static int take_position(struct pacct_state *s, const char *line)
{
	struct pacct_position *p = &s->positions[s->n];
	int done, used = 0;

	if (s->n == PACCT_POSITIONS)
		return -EBADMSG;
	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNx64 " %" SCNx64 " %d%n",
		   &p->dev, &p->ino, &p->offset, &p->head, &p->tail, &done, &used) != 6 ||
	    line[used])
		return -EBADMSG;
	p->done = done != 0;
	s->n++;
	return 0;
}

static int parse_lines(struct pacct_state *s, char *text)
{
	const char *line = take_line(&text, "saved ");
	char *end;
	int r = 0;

	if (!line)
		return -EBADMSG;
	s->saved_ns = strtoll(line, &end, 10);
	if (*end || end == line)
		return -EBADMSG;
	line = take_line(&text, "down ");
	if (!line)
		return -EBADMSG;
	s->down = *line == '1';
	while (r >= 0 && (line = take_line(&text, "file ")))
		r = take_position(s, line);
	if (r < 0)
		return r;
	line = take_line(&text, "note ");
	return line && !*text ? take_note(s, line) : -EBADMSG;
}

int pacct_state_parse(struct pacct_state *s, const char *text, size_t len)
{
	const size_t end_line = strlen("end 0123456789abcdef\n"), magic = strlen(MAGIC);
	char copy[PACCT_STATE_MOST + 1], end[32], *p = copy;
	int r;

	memset(s, 0, sizeof(*s));
	if (len < magic + end_line || len > PACCT_STATE_MOST || memcmp(text, MAGIC, magic) != 0 ||
	    memchr(text, '\0', len))
		return -EBADMSG;
	if (memcmp(text + magic, VERSION "\n", strlen(VERSION "\n")) != 0)
		return -EPROTONOSUPPORT;
	write_end(end, text, len - end_line);
	if (memcmp(text + len - end_line, end, end_line) != 0)
		return -EBADMSG;
	memcpy(copy, text, len - end_line);
	copy[len - end_line] = '\0';
	take_line(&p, MAGIC);
	r = parse_lines(s, p);
	if (r < 0)
		memset(s, 0, sizeof(*s));
	return r;
}

static int read_all(struct pacct_state *s, const char *path)
{
	char text[PACCT_STATE_MOST + 1];
	_cleanup_fd_
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text));
	r = n < 0 ? -errno : pacct_state_parse(s, text, (size_t)n);
	if (r < 0 && !fstat(fd, &st))
		s->saved_ns = st.st_mtim.tv_sec * NS_PER_SEC + st.st_mtim.tv_nsec;
	return r;
}

int pacct_state_load(struct pacct_state *s, const char *path)
{
	char bad[PATH_MAX];
	int r;

	memset(s, 0, sizeof(*s));
	r = read_all(s, path);
	if (r != -EBADMSG && r != -EPROTONOSUPPORT)
		return r;
	if ((size_t)snprintf(bad, sizeof(bad), "%s.bad", path) < sizeof(bad))
		rename(path, bad);
	return r;
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

int pacct_state_save(const struct pacct_state *s, const char *path)
{
	char text[PACCT_STATE_MOST], beside[PATH_MAX];
	size_t len = pacct_state_format(text, s);
	int fd, r;

	if ((size_t)snprintf(beside, sizeof(beside), "%s.new", path) >= sizeof(beside))
		return -ENAMETOOLONG;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = write_all(fd, text, len);
	if (close(fd) && r >= 0)
		r = -errno;
	if (r >= 0 && rename(beside, path))
		r = -errno;
	if (r < 0)
		unlink(beside);
	return r;
}
