/* SPDX-License-Identifier: MIT */
/* Reading and writing of captures. See capture.h for the format. */
#include "decode/capture.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"

#define FRAME_MAGIC UINT32_C(0x4d524658) /* "XFRM" */
#define VERSION_LINE CAPTURE_MAGIC "1\n"
#define HOST_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

size_t capture_write_info(char *buf, const struct capture_info *info)
{
	int n = snprintf(
		buf, CAPTURE_INFO_MOST,
		VERSION_LINE
		"byte_order %s\nhost %s\nboot_id %s\nkernel %s\ndelay_accounting %d\nsources %u\n"
		"started_ns %" PRId64 "\n\n",
		HOST_IS_LITTLE ? "little" : "big", info->host, info->boot_id, info->kernel,
		info->delay_accounting, info->sources, info->started_ns);

	return (size_t)n;
}

static void put_u32(unsigned char *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static void put_i64(unsigned char *p, int64_t v)
{
	uint64_t u = htole64((uint64_t)v);

	memcpy(p, &u, sizeof(u));
}

void capture_write_frame(unsigned char buf[CAPTURE_FRAME_HEADER], const struct frame *f)
{
	put_u32(buf, FRAME_MAGIC);
	put_u32(buf + 4, (uint32_t)f->len);
	buf[8] = (unsigned char)f->kind;
	buf[9] = (unsigned char)f->source;
	buf[10] = buf[11] = 0;
	put_u32(buf + 12, (uint32_t)f->channel);
	put_i64(buf + 16, f->mono_ns);
	put_i64(buf + 24, f->real_ns);
	put_i64(buf + 32, f->since_ns);
}

bool capture_is(const void *data, size_t len)
{
	return len >= strlen(CAPTURE_MAGIC) && !memcmp(data, CAPTURE_MAGIC, strlen(CAPTURE_MAGIC));
}

static void take_text(char *to, size_t size, const char *value, size_t len)
{
	len = MIN(len, size - 1);
	memcpy(to, value, len);
	to[len] = '\0';
}

/* Unknown keys are of a later version that only added, and are passed over. */
static int take_key(struct capture_info *info, const char *line, size_t len)
{
	const char *value = memchr(line, ' ', len);
	size_t key_len, n;
	char number[32];

	if (!value)
		return -EBADMSG;
	key_len = (size_t)(value - line);
	value++;
	n = len - key_len - 1;
	take_text(number, sizeof(number), value, n);
#define KEY(name) (key_len == strlen(name) && !memcmp(line, name, key_len))
	if (KEY("byte_order")) {
		const char *ours = HOST_IS_LITTLE ? "little" : "big";

		return n == strlen(ours) && !memcmp(value, ours, n) ? 0 : -EPROTONOSUPPORT;
	}
	if (KEY("host"))
		take_text(info->host, sizeof(info->host), value, n);
	else if (KEY("boot_id"))
		take_text(info->boot_id, sizeof(info->boot_id), value, n);
	else if (KEY("kernel"))
		take_text(info->kernel, sizeof(info->kernel), value, n);
	else if (KEY("delay_accounting"))
		info->delay_accounting = atoi(number) != 0;
	else if (KEY("sources"))
		info->sources = (uint32_t)strtoul(number, NULL, 10);
	else if (KEY("started_ns"))
		info->started_ns = strtoll(number, NULL, 10);
#undef KEY
	return 0;
}

int capture_read_info(const void *data, size_t len, struct capture_info *info, size_t *used)
{
	const char *start = data, *p = start, *end = start + len;

	memset(info, 0, sizeof(*info));
	info->sources = EXEUNT_SOURCE_BIT(EXEUNT_SOURCE_TASKSTATS);
	if (!capture_is(data, len))
		return -EBADMSG;
	for (bool first = true;; first = false) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		int r = 0;

		if (!newline)
			return len < CAPTURE_INFO_MOST ? 0 : -EBADMSG;
		if (first && memcmp(start, VERSION_LINE, MIN(strlen(VERSION_LINE), len)))
			return -EPROTONOSUPPORT;
		if (newline == p) {
			*used = (size_t)(newline + 1 - start);
			return 1;
		}
		if (!first)
			r = take_key(info, p, (size_t)(newline - p));
		if (r < 0)
			return r;
		p = newline + 1;
	}
}

static bool header_is_sane(const unsigned char *p)
{
	return le32toh(load_u32(p)) == FRAME_MAGIC &&
	       le32toh(load_u32(p + 4)) <= CAPTURE_DATA_MOST && p[8] >= FRAME_DATA &&
	       p[8] <= FRAME_FILE && p[9] < EXEUNT_SOURCE_COUNT;
}

/* The next place that may be a frame, at least one byte on. */
static size_t find_frame(const unsigned char *p, size_t len)
{
	const uint32_t magic = htole32(FRAME_MAGIC);

	for (size_t i = 1; i + CAPTURE_FRAME_HEADER <= len; i++)
		if (!memcmp(p + i, &magic, sizeof(magic)) && header_is_sane(p + i))
			return i;
	return len > CAPTURE_FRAME_HEADER ? len - CAPTURE_FRAME_HEADER + 1 : len;
}

int capture_read_frame(const void *data, size_t len, struct frame *f, size_t *used)
{
	const unsigned char *p = data;
	size_t n;

	if (len < CAPTURE_FRAME_HEADER)
		return 0;
	if (!header_is_sane(p)) {
		*used = find_frame(p, len);
		return -EBADMSG;
	}
	n = le32toh(load_u32(p + 4));
	if (len < CAPTURE_FRAME_HEADER + n)
		return 0;
	f->kind = p[8];
	f->source = p[9];
	f->channel = (int32_t)le32toh(load_u32(p + 12));
	f->mono_ns = (int64_t)le64toh(load_u64(p + 16));
	f->real_ns = (int64_t)le64toh(load_u64(p + 24));
	f->since_ns = (int64_t)le64toh(load_u64(p + 32));
	f->data = p + CAPTURE_FRAME_HEADER;
	f->len = n;
	*used = CAPTURE_FRAME_HEADER + n;
	return 1;
}
