/* SPDX-License-Identifier: MIT */
/* Times as people write them; see values.h. */
#include <ctype.h>
#include <time.h>

#include "base/util.h"
#include "cmd/values.h"

/* Midnight, so many days from the day of `now`. */
static int64_t midnight(int64_t now_ns, int days)
{
	time_t now = (time_t)(now_ns / NS_PER_SEC);
	struct tm tm;

	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday += days;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * NS_PER_SEC;
}

static const struct {
	const char *word;
	int days;
} days[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };

/* "2h ago" */
static int before(const char *text, int64_t now_ns, int64_t *ns)
{
	char amount[32];
	size_t len = strlen(text);
	int64_t back;

	if (len < 5 || strcmp(text + len - 3, "ago") != 0)
		return -EINVAL;
	len -= 3;
	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	if (len >= sizeof(amount))
		return -EINVAL;
	memcpy(amount, text, len);
	amount[len] = '\0';
	if (value_time(amount, &back) < 0)
		return -EINVAL;
	*ns = now_ns - back;
	return 0;
}

/* Formats of strptime(3); with a date it is of that day, else of today. */
static int calendar(const char *text, int64_t now_ns, int64_t *ns)
{
	static const char *const formats[] = {
		"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
		"%Y-%m-%d",	     "%H:%M:%S",	  "%H:%M"
	};

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		time_t now = (time_t)(now_ns / NS_PER_SEC);
		struct tm tm, asked;
		const char *end;
		bool utc;

		localtime_r(&now, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, formats[i], &tm);
		if (!end)
			continue;
		utc = *end == 'Z';
		if (end[utc])
			continue;
		asked = tm;
		*ns = (int64_t)(utc ? timegm(&tm) : mktime(&tm)) * NS_PER_SEC;
		/* 31 April would be the first of May */
		return tm.tm_mday == asked.tm_mday && tm.tm_mon == asked.tm_mon ? 0 : -EINVAL;
	}
	return -EINVAL;
}

int value_when(const char *text, int64_t now_ns, int64_t *ns)
{
	char *end;

	text += strspn(text, " ");
	if (!strcmp(text, "now")) {
		*ns = now_ns;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(days); i++) {
		if (!strcmp(text, days[i].word)) {
			*ns = midnight(now_ns, days[i].days);
			return 0;
		}
	}
	if (*text == '@' && isdigit((unsigned char)text[1])) {
		errno = 0;
		*ns = strtoll(text + 1, &end, 10);
		if (errno || *end || *ns > INT64_MAX / NS_PER_SEC)
			return -EINVAL;
		*ns *= NS_PER_SEC;
		return 0;
	}
	if (!before(text, now_ns, ns))
		return 0;
	return calendar(text, now_ns, ns);
}
