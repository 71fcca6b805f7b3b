/* SPDX-License-Identifier: MIT */
/*
 * The bytes of /proc/PID/cmdline -> a bounded list of arguments, secrets taken out. What was taken
 * out is wiped from the buffers before the list is handed on.
 */
#ifndef JOIN_CONTEXT_ARGS_H
#define JOIN_CONTEXT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <exeunt/record.h>

/* What stands last in a list that was cut at a bound. */
#define ARGS_CUT "..."
/* What stands for a match. */
#define ARGS_REDACTED "***"

struct args_rules;

/*
 * Makes rules. `patterns` are POSIX extended regular expressions over bytes, whatever the locale;
 * each is tried on the command line joined by single blanks (so that "--password [^ ]+" works),
 * then on each argument alone (so that "^" and "$" work). All that matches becomes "***"; a match
 * over several arguments makes them one. max_bytes and max_args bound what is kept. Errors: -EINVAL
 * (a pattern, or a bound of 0), -ENOMEM; on -EINVAL *bad, if not NULL, is the index of the pattern.
 */
int args_rules_new(struct args_rules **ret, const char *const *patterns, size_t n_patterns,
		   uint32_t max_bytes, uint32_t max_args, size_t *bad);
void args_rules_free(struct args_rules *r);

/* Where to read cmdline to: `size` bytes, one more than the bound, so that the cut shows. */
char *args_buffer(struct args_rules *r, size_t *size);

/*
 * Puts a list into the buffer, as cmdline would have it, as far as there is room. Returns the
 * length for args_take().
 */
size_t args_put(struct args_rules *r, const struct exeunt_bytes *args, uint32_t n);

/* True if there are patterns: what is not whole might hide what they look for. */
bool args_redacts(const struct args_rules *r);

/*
 * The list; parts are slices of data, where each is followed by a NUL. Borrowed until the next
 * call.
 */
struct args_list {
	const char *data;
	size_t len;
	const struct exeunt_bytes *parts;
	uint16_t n_parts;
	bool cut;
};

enum args_flag {
	/*
	 * the process had time to rewrite them: NULs behind the last one are padding (setproctitle)
	 */
	ARGS_TRIM = 1,
	/* the end is missing already, as if a bound had cut it */
	ARGS_OPEN_END = 2,
};

/*
 * Takes the `len` bytes in the buffer apart. Returns the number of arguments, 0 when there is none,
 * -ENOMEM.
 */
int args_take(struct args_rules *r, size_t len, unsigned int flags, struct args_list *ret);

#endif
