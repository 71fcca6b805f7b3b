/* SPDX-License-Identifier: MIT */
/* The short columns of a line for people, and its command. See text.h. */
#include "sink/text-internal.h"

#include <exeunt/exeunt.h>

static bool was_killed(const struct exeunt_record *r)
{
	if (exeunt_has(r, EXEUNT_F_EXIT_SIGNAL))
		return r->exit_signal != 0;
	return !exeunt_has(r, EXEUNT_F_EXIT_CODE) && exeunt_has(r, EXEUNT_F_EXIT_STATUS) &&
	       (r->exit_status & 0x7f) != 0;
}

static bool has_core(const struct exeunt_record *r)
{
	if (exeunt_has(r, EXEUNT_F_EXIT_CORE_DUMPED))
		return r->exit_core_dumped;
	return exeunt_has(r, EXEUNT_F_EXIT_STATUS) && (r->exit_status & 0x80) != 0;
}

/* -1: not known. */
static int64_t exit_code(const struct exeunt_record *r)
{
	if (exeunt_has(r, EXEUNT_F_EXIT_CODE))
		return r->exit_code;
	if (exeunt_has(r, EXEUNT_F_EXIT_STATUS))
		return r->exit_status >> 8 & 0xff;
	return -1;
}

const char *text_status_color(const struct exeunt_record *r)
{
	if (was_killed(r))
		return has_core(r) ? "1;31" : "31";
	return exit_code(r) > 0 ? "33" : NULL;
}

static char *put_killed(char *p, const struct exeunt_record *r)
{
	uint32_t signal =
		exeunt_has(r, EXEUNT_F_EXIT_SIGNAL) ? r->exit_signal : r->exit_status & 0x7f;
	const char *name = exeunt_signal_name(signal);

	p = name ? fmt_str(p, name) : fmt_u32(FMT_LIT(p, "SIG"), signal);
	return has_core(r) ? FMT_LIT(p, "+core") : p;
}

static char *put_status(char *p, const struct exeunt_record *r)
{
	int64_t code = exit_code(r);

	if (r->type == EXEUNT_TYPE_INTERIM)
		return FMT_LIT(p, "running");
	if (r->type == EXEUNT_TYPE_THREAD)
		p = FMT_LIT(p, "thread ");
	else if (r->type == EXEUNT_TYPE_AMEND)
		p = FMT_LIT(p, "amend ");
	if (was_killed(r))
		p = put_killed(p, r);
	else if (code >= 0)
		p = fmt_i64(p, code);
	else
		*p++ = '-';
	if (exeunt_has(r, EXEUNT_F_EXIT_CERTAIN) && !r->exit_certain)
		*p++ = '?';
	return p;
}

static char *put_number(char *p, bool present, int64_t v)
{
	return present ? fmt_i64(p, v) : FMT_LIT(p, "-");
}

static char *put_size(char *p, bool present, uint64_t v)
{
	return present ? fmt_bytes(p, v) : FMT_LIT(p, "-");
}

static char *put_duration(char *p, bool present, uint64_t us)
{
	return present ? fmt_duration_us(p, us) : FMT_LIT(p, "-");
}

static char *put_cpu(char *p, const struct exeunt_record *r)
{
	bool user = exeunt_has(r, EXEUNT_F_CPU_USER);
	bool system = exeunt_has(r, EXEUNT_F_CPU_SYSTEM);

	return put_duration(p, user || system,
			    (user ? r->cpu_user_us : 0) + (system ? r->cpu_system_us : 0));
}

static char *put_pid(char *p, const struct exeunt_record *r)
{
	if (r->type == EXEUNT_TYPE_THREAD && exeunt_has(r, EXEUNT_F_THREAD_ID))
		return fmt_i64(p, r->thread_id);
	return put_number(p, exeunt_has(r, EXEUNT_F_PID), r->pid);
}

char *text_cell(struct text *t, char *p, enum column c, const struct exeunt_record *r)
{
	switch (c) {
	case COLUMN_TIME:
		return text_clock(t, p,
				  exeunt_has(r, EXEUNT_F_EXIT_TIME) ? r->exit_time_ns : r->time_ns);
	case COLUMN_PID:
		return put_pid(p, r);
	case COLUMN_PPID:
		return put_number(p, exeunt_has(r, EXEUNT_F_PARENT_PID), r->parent_pid);
	case COLUMN_STATUS:
		return put_status(p, r);
	case COLUMN_ELAPSED:
		return put_duration(p, exeunt_has(r, EXEUNT_F_ELAPSED), r->elapsed_us);
	case COLUMN_CPU:
		return put_cpu(p, r);
	case COLUMN_RSS:
		return put_size(p, exeunt_has(r, EXEUNT_F_RSS_PEAK), r->rss_peak_bytes);
	case COLUMN_READ:
		return put_size(p, exeunt_has(r, EXEUNT_F_READ_BYTES), r->read_bytes);
	case COLUMN_WRITTEN:
		return put_size(p, exeunt_has(r, EXEUNT_F_WRITE_BYTES), r->write_bytes);
	case COLUMN_USER:
	case COLUMN_LOGIN:
	case COLUMN_CGROUP:
	case COLUMN_COMMAND:
	case COLUMN_COUNT:
		break;
	}
	return p;
}

/* Bytes collected for the command, up to a limit behind which nothing would be seen. */
struct raw {
	struct text *t;
	size_t len;
	size_t max;
	int error;
};

static void add(struct raw *raw, const char *s, size_t len)
{
	len = MIN(len, raw->max - raw->len);
	if (raw->error || len == 0)
		return;
	raw->error = text_room(&raw->t->command, &raw->t->command_size, raw->len + len);
	if (raw->error)
		return;
	memcpy(raw->t->command + raw->len, s, len);
	raw->len += len;
}

static void add_arg(struct raw *raw, const struct exeunt_bytes *arg)
{
	if (arg->len)
		add(raw, arg->data, arg->len);
	else
		add(raw, "\"\"", 2);
}

static void add_exec(struct raw *raw, const struct exeunt_record *r)
{
	bool has_exe = exeunt_has(r, EXEUNT_F_EXE_PATH);
	uint32_t n = exeunt_has(r, EXEUNT_F_ARGS) ? r->n_args : 0;

	/* The executable is the kernel's word, the first argument only the program's. */
	if (has_exe)
		add_arg(raw, &r->exe_path);
	else if (n)
		add_arg(raw, &r->args[0]);
	for (uint32_t i = 1; i < n && raw->len < raw->max && !raw->error; i++) {
		add(raw, " ", 1);
		add_arg(raw, &r->args[i]);
	}
}

static void add_thread(struct raw *raw, const struct exeunt_record *r)
{
	char number[FMT_SLACK];

	add(raw, number,
	    (size_t)(put_number(number, exeunt_has(r, EXEUNT_F_PID), r->pid) - number));
	add(raw, "/", 1);
	if (exeunt_has(r, EXEUNT_F_THREAD_NAME))
		add(raw, r->thread_name, strnlen(r->thread_name, sizeof(r->thread_name)));
	else if (exeunt_has(r, EXEUNT_F_COMM))
		add(raw, r->comm, strnlen(r->comm, sizeof(r->comm)));
	else
		add(raw, "-", 1);
}

ssize_t text_command(struct text *t, const struct exeunt_record *r, size_t max)
{
	struct raw raw = { .t = t, .max = max };

	if (r->type == EXEUNT_TYPE_THREAD)
		add_thread(&raw, r);
	else if (exeunt_has(r, EXEUNT_F_EXE_PATH) ||
		 (exeunt_has(r, EXEUNT_F_ARGS) && r->n_args > 0))
		add_exec(&raw, r);
	else if (exeunt_has(r, EXEUNT_F_COMM))
		add(&raw, r->comm, strnlen(r->comm, sizeof(r->comm)));
	else
		add(&raw, "-", 1);
	return raw.error ? raw.error : (ssize_t)raw.len;
}
