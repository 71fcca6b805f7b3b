/* SPDX-License-Identifier: MIT */
/* See entity.h. */
#include "record/entity.h"

#include <ctype.h>

void entity_boot_id(char out[ENTITY_BOOT_LEN + 1], const char *boot_id)
{
	size_t n = 0;

	for (const char *s = boot_id ? boot_id : ""; *s && *s != '\n'; s++) {
		if (*s == '-')
			continue;
		if (n == ENTITY_BOOT_LEN || !isxdigit((unsigned char)*s)) {
			n = 0;
			break;
		}
		out[n++] = (char)tolower((unsigned char)*s);
	}
	if (n != ENTITY_BOOT_LEN)
		memset(out, '0', ENTITY_BOOT_LEN);
	out[ENTITY_BOOT_LEN] = '\0';
}

size_t entity_format(char *buf, const char *boot_id_hex32, int32_t pid, uint64_t start_ns)
{
	/* 32 + 1 + 11 + 1 + 16 characters fit, the stores behind them do not. */
	char tmp[ENTITY_MAX + FMT_SLACK];
	char *p = fmt_mem(tmp, boot_id_hex32, ENTITY_BOOT_LEN);
	size_t len;

	*p++ = '-';
	p = entity_tail(p, pid, start_ns);
	len = (size_t)(p - tmp);
	memcpy(buf, tmp, len);
	buf[len] = '\0';
	return len;
}
