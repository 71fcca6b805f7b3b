/* SPDX-License-Identifier: MIT */
#include "base/input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/util.h"

#define CHUNK ((size_t)256 * 1024)
#define MAGIC_LEN 3 /* of gzip: 1f 8b, and 08 for deflate */

struct buffer {
	uint8_t *data; /* CHUNK + INPUT_PEEK_MAX bytes */
	size_t pos, len;
};

struct input {
	int fd;
	bool own_fd;
	char *name;
	bool recognised, gzip, at_end;
	bool in_member; /* gzip: between a header and its checksum */
	int failure;	/* negative errno that stays, told when all good bytes were taken */
	uint64_t offset;
	uint64_t file_offset; /* bytes read from fd */
	struct buffer raw;    /* as in the file */
	struct buffer out;    /* gzip: decompressed */
	z_stream z;
	char error[512];
};

static int buffer_init(struct buffer *b)
{
	b->data = malloc(CHUNK + INPUT_PEEK_MAX);
	return b->data ? 0 : -ENOMEM;
}

static size_t buffer_held(const struct buffer *b)
{
	return b->len - b->pos;
}

/* Makes room behind what is held. At most INPUT_PEEK_MAX bytes are ever held when more is wanted. */
static void buffer_compact(struct buffer *b)
{
	memmove(b->data, b->data + b->pos, buffer_held(b));
	b->len -= b->pos;
	b->pos = 0;
}

static struct buffer *content(struct input *in)
{
	return in->gzip ? &in->out : &in->raw;
}

int input_open(struct input **ret, const char *path)
{
	_cleanup_input_ struct input *in = calloc(1, sizeof(*in));
	bool is_stdin = !strcmp(path, "-");
	struct stat st;

	if (!in)
		return -ENOMEM;
	in->own_fd = !is_stdin;
	in->fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	in->name = strdup(is_stdin ? "standard input" : path);
	if (!in->name || buffer_init(&in->raw) < 0)
		return -ENOMEM;
	/* Only a hint: it fails for pipes. */
	posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	*ret = TAKE(in);
	return 0;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	if (in->own_fd)
		close_fd(in->fd);
	if (in->gzip)
		inflateEnd(&in->z);
	free(in->raw.data);
	free(in->out.data);
	free(in->name);
	free(in);
}

static int read_failed(struct input *in, int error)
{
	in->failure = -error;
	snprintf(in->error, sizeof(in->error), "%s: cannot read at byte %" PRIu64 ": %s", in->name,
		 in->file_offset, strerror(error));
	return -error;
}

/* Standard input may have been made non-blocking by whoever shares it. */
static int wait_readable(const struct input *in)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };

	return poll(&p, 1, -1) < 0 ? -errno : 0;
}

/* Reads once behind what is held. Returns how many bytes, 0 at the end, or negative errno. */
static ssize_t read_raw(struct input *in)
{
	ssize_t n;

	buffer_compact(&in->raw);
	for (;;) {
		n = read(in->fd, in->raw.data + in->raw.len, CHUNK);
		if (n >= 0)
			break;
		if (errno == EAGAIN && wait_readable(in) == 0)
			continue;
		return errno == EINTR ? -EINTR : read_failed(in, errno);
	}
	in->raw.len += (size_t)n;
	in->file_offset += (uint64_t)n;
	in->at_end = n == 0;
	return n;
}

static int start_gzip(struct input *in)
{
	int r = buffer_init(&in->out);

	if (r < 0)
		return r;
	if (inflateInit2(&in->z, 16 + MAX_WBITS) != Z_OK) {
		free(in->out.data);
		in->out.data = NULL;
		return -ENOMEM;
	}
	in->gzip = in->in_member = true;
	return 0;
}

/* Looks at the first bytes. Nothing else that is replayed begins like gzip. */
static int recognise(struct input *in)
{
	static const uint8_t magic[MAGIC_LEN] = { 0x1f, 0x8b, 0x08 };
	ssize_t n = 1;

	while (buffer_held(&in->raw) < MAGIC_LEN && n > 0)
		n = read_raw(in);
	if (n < 0)
		return (int)n;
	in->recognised = true;
	if (buffer_held(&in->raw) < MAGIC_LEN || memcmp(in->raw.data, magic, MAGIC_LEN) != 0)
		return 0;
	return start_gzip(in);
}

static int gzip_failed(struct input *in, const char *what)
{
	in->failure = -EBADMSG;
	snprintf(in->error, sizeof(in->error),
		 "%s: %s at byte %" PRIu64 " of the file, after %" PRIu64 " bytes of content",
		 in->name, what, in->file_offset - buffer_held(&in->raw),
		 in->offset + buffer_held(&in->out));
	return -EBADMSG;
}

/*
 * Between members: gzip files may be put one behind the other, and padded with zeros to a tape block. Returns 1 if
 * another one begins, 0 at the end.
 */
static int next_member(struct input *in)
{
	ssize_t n;

	for (;;) {
		while (buffer_held(&in->raw) && !in->raw.data[in->raw.pos])
			in->raw.pos++;
		if (buffer_held(&in->raw))
			break;
		n = read_raw(in);
		if (n <= 0)
			return (int)n;
	}
	if (in->raw.data[in->raw.pos] != 0x1f)
		return gzip_failed(in, "the compressed data is followed by something else");
	if (inflateReset(&in->z) != Z_OK)
		return gzip_failed(in, "the compressed data cannot be read");
	in->in_member = true;
	return 1;
}

/* Inflates what is at hand once, behind what is held. Returns how many bytes of content that gave, or -errno. */
static ssize_t inflate_once(struct input *in)
{
	size_t before = in->out.len;
	int r;

	in->z.next_in = in->raw.data + in->raw.pos;
	in->z.avail_in = (uInt)buffer_held(&in->raw);
	in->z.next_out = in->out.data + in->out.len;
	in->z.avail_out = (uInt)CHUNK;
	r = inflate(&in->z, Z_NO_FLUSH);
	in->raw.pos = in->raw.len - in->z.avail_in;
	in->out.len += CHUNK - in->z.avail_out;
	if (r == Z_STREAM_END)
		in->in_member = false;
	else if (r == Z_MEM_ERROR)
		return -ENOMEM;
	else if (r != Z_OK && r != Z_BUF_ERROR)
		gzip_failed(in, "the compressed data is damaged"); /* told once the good is taken */
	if (in->out.len == before && in->failure)
		return in->failure;
	return (ssize_t)(in->out.len - before);
}

/* Adds content behind what is held. Returns how many bytes, 0 at the end, or negative errno. */
static ssize_t fill_gzip(struct input *in)
{
	ssize_t n;

	buffer_compact(&in->out);
	for (;;) {
		if (!in->in_member) {
			n = next_member(in);
			if (n <= 0)
				return n;
		}
		if (!buffer_held(&in->raw)) {
			n = read_raw(in);
			if (n < 0)
				return n;
		}
		n = inflate_once(in);
		if (n)
			return n;
		if (in->in_member && in->at_end && !buffer_held(&in->raw))
			return gzip_failed(in, "the compressed data is cut off");
	}
}

static ssize_t fill(struct input *in)
{
	int r;

	if (in->failure)
		return in->failure;
	if (!in->recognised) {
		r = recognise(in);
		if (r < 0)
			return r;
		if (!in->gzip && buffer_held(&in->raw))
			return (ssize_t)buffer_held(&in->raw);
	}
	if (in->gzip)
		return fill_gzip(in);
	return in->at_end ? 0 : read_raw(in);
}

ssize_t input_peek(struct input *in, size_t n, const uint8_t **data)
{
	ssize_t r = 1;

	n = n ? MIN(n, INPUT_PEEK_MAX) : 1;
	while (buffer_held(content(in)) < n && r > 0)
		r = fill(in);
	*data = content(in)->data + content(in)->pos;
	if (r == -EINTR || (r < 0 && !buffer_held(content(in))))
		return r;
	return (ssize_t)buffer_held(content(in));
}

ssize_t input_next(struct input *in, const uint8_t **data)
{
	ssize_t n = (ssize_t)buffer_held(content(in));
	struct buffer *b;

	if (!n)
		n = fill(in);
	b = content(in);
	*data = b->data + b->pos;
	if (n <= 0)
		return n;
	n = (ssize_t)buffer_held(b);
	b->pos = b->len;
	in->offset += (uint64_t)n;
	return n;
}

uint64_t input_offset(const struct input *in)
{
	return in->offset;
}

bool input_is_compressed(const struct input *in)
{
	return in->gzip;
}

const char *input_name(const struct input *in)
{
	return in->name;
}

const char *input_error(const struct input *in)
{
	return in->error;
}
