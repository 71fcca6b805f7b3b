/* SPDX-License-Identifier: MIT */
/* The rows of the field table, and how a name finds its row. See fields.h. */
#include "record/fields.h"

#include <errno.h>
#include <string.h>

#define FIELD(id, path_, alias_, kind_, unit_, member)                  \
	[EXEUNT_F_##id] = { path_, alias_, FIELD_##kind_, UNIT_##unit_, \
			    offsetof(struct exeunt_record, member) }

#define DELAY(index, name)                                                                  \
	[EXEUNT_F_DELAY +                                                                   \
		4 * (index)] = { "delay." name ".count", NULL, FIELD_U64, UNIT_NONE,        \
				 offsetof(struct exeunt_record, delay[index].count) },      \
		    [EXEUNT_F_DELAY + 4 * (index) +                                         \
			    1] = { "delay." name ".total_ns", NULL, FIELD_U64, UNIT_NS,     \
				   offsetof(struct exeunt_record, delay[index].total_ns) }, \
		    [EXEUNT_F_DELAY + 4 * (index) +                                         \
			    2] = { "delay." name ".max_ns", NULL, FIELD_U64, UNIT_NS,       \
				   offsetof(struct exeunt_record, delay[index].max_ns) },   \
		    [EXEUNT_F_DELAY + 4 * (index) +                                         \
			    3] = { "delay." name ".min_ns", NULL, FIELD_U64, UNIT_NS,       \
				   offsetof(struct exeunt_record, delay[index].min_ns) }

/* clang-format off */
const struct field_info field_table[EXEUNT_F_COUNT] = {
	FIELD(PID, "process.pid", "pid", I32, NONE, pid),
	FIELD(PARENT_PID, "process.parent_pid", "ppid", I32, NONE, parent_pid),
	FIELD(PARENT_PID_AT_FORK, "process.parent_pid_at_fork", NULL, I32, NONE, parent_pid_at_fork),
	FIELD(ENTITY_ID, "process.entity_id", "entity", ENTITY, NONE, entity_start_ns),
	FIELD(COMM, "process.comm", "comm", COMM, NONE, comm),
	FIELD(EXE_PATH, "process.executable.path", "exe", BYTES, NONE, exe_path),
	FIELD(EXE_DEV, "process.executable.dev", NULL, U64, NONE, exe_dev),
	FIELD(EXE_INODE, "process.executable.inode", NULL, U64, NONE, exe_inode),
	FIELD(ARGS, "process.command_args", "args", ARGS, NONE, args),
	FIELD(CREATION_TIME, "process.creation.time", "start", TIME, NONE, creation_time_ns),
	FIELD(CREATION_PRECISION, "process.creation.precision_ns", NULL, U64, NS, creation_precision_ns),
	FIELD(EXIT_TIME, "process.exit.time", "end", TIME, NONE, exit_time_ns),
	FIELD(EXIT_PRECISION, "process.exit.precision_ns", NULL, U64, NS, exit_precision_ns),
	FIELD(EXIT_CODE, "process.exit.code", "code", U32, NONE, exit_code),
	FIELD(EXIT_SIGNAL, "process.exit.signal", "signal", U32, NONE, exit_signal),
	FIELD(EXIT_SIGNAL_NAME, "process.exit.signal_name", NULL, SIGNAL_NAME, NONE, exit_signal),
	FIELD(EXIT_CORE_DUMPED, "process.exit.core_dumped", "core", BOOL, NONE, exit_core_dumped),
	FIELD(EXIT_CAUSE, "process.exit.cause", "cause", CAUSE, NONE, exit_cause),
	FIELD(EXIT_STATUS, "process.exit.status", "status", U32, NONE, exit_status),
	FIELD(EXIT_CERTAIN, "process.exit.certain", "certain", BOOL, NONE, exit_certain),
	FIELD(THREADS, "process.threads", "threads", U32, NONE, threads),
	FIELD(FORKED_NOT_EXECED, "process.forked_not_execed", NULL, BOOL, NONE, forked_not_execed),
	FIELD(USED_PRIVILEGE, "process.used_privilege", NULL, BOOL, NONE, used_privilege),
	FIELD(UID, "process.user.id", "uid", U32, NONE, uid),
	FIELD(USER, "process.user.name", "user", BYTES, NONE, user),
	FIELD(GID, "process.group.id", "gid", U32, NONE, gid),
	FIELD(GROUP, "process.group.name", "group", BYTES, NONE, group),
	FIELD(EUID, "process.effective_user.id", "euid", U32, NONE, euid),
	FIELD(EGID, "process.effective_group.id", "egid", U32, NONE, egid),
	FIELD(SUID, "process.saved_user.id", "suid", U32, NONE, suid),
	FIELD(SGID, "process.saved_group.id", "sgid", U32, NONE, sgid),
	FIELD(TTY, "process.tty", "tty", BYTES, NONE, tty),
	FIELD(CWD, "process.working_directory", "cwd", BYTES, NONE, cwd),
	FIELD(NICE, "process.nice", "nice", I32, NONE, nice),
	FIELD(CGROUP, "process.linux.cgroup", "cgroup", BYTES, NONE, cgroup),
	FIELD(THREAD_ID, "thread.id", "tid", I32, NONE, thread_id),
	FIELD(THREAD_NAME, "thread.name", NULL, COMM, NONE, thread_name),
	FIELD(CONTAINER_ID, "container.id", "container", BYTES, NONE, container_id),
	FIELD(UNIT, "systemd.unit", "unit", BYTES, NONE, unit),
	FIELD(ELAPSED, "usage.elapsed_us", "elapsed", U64, US, elapsed_us),
	FIELD(CPU_USER, "usage.cpu.user_us", "utime", U64, US, cpu_user_us),
	FIELD(CPU_SYSTEM, "usage.cpu.system_us", "stime", U64, US, cpu_system_us),
	FIELD(CPU_RUN, "usage.cpu.run_ns", NULL, U64, NS, cpu_run_ns),
	FIELD(RSS_PEAK, "usage.memory.rss_peak_bytes", "rss", U64, BYTES, rss_peak_bytes),
	FIELD(VM_PEAK, "usage.memory.vm_peak_bytes", "vm", U64, BYTES, vm_peak_bytes),
	FIELD(VM_AT_EXIT, "usage.memory.vm_at_exit_bytes", NULL, U64, BYTES, vm_at_exit_bytes),
	FIELD(READ_BYTES, "usage.io.read_bytes", "read", U64, BYTES, read_bytes),
	FIELD(WRITE_BYTES, "usage.io.write_bytes", "written", U64, BYTES, write_bytes),
	FIELD(CANCELLED_WRITE_BYTES, "usage.io.cancelled_write_bytes", NULL, U64, BYTES, cancelled_write_bytes),
	FIELD(READ_CHARS, "usage.io.read_chars", NULL, U64, BYTES, read_chars),
	FIELD(WRITE_CHARS, "usage.io.write_chars", NULL, U64, BYTES, write_chars),
	FIELD(READ_SYSCALLS, "usage.io.read_syscalls", NULL, U64, NONE, read_syscalls),
	FIELD(WRITE_SYSCALLS, "usage.io.write_syscalls", NULL, U64, NONE, write_syscalls),
	FIELD(MINOR_FAULTS, "usage.faults.minor", "minflt", U64, NONE, minor_faults),
	FIELD(MAJOR_FAULTS, "usage.faults.major", "majflt", U64, NONE, major_faults),
	FIELD(VOLUNTARY_SWITCHES, "usage.switches.voluntary", "nvcsw", U64, NONE, voluntary_switches),
	FIELD(INVOLUNTARY_SWITCHES, "usage.switches.involuntary", "nivcsw", U64, NONE, involuntary_switches),
	DELAY(0, "cpu"),
	DELAY(1, "blkio"),
	DELAY(2, "swapin"),
	DELAY(3, "reclaim"),
	DELAY(4, "thrashing"),
	DELAY(5, "compact"),
	DELAY(6, "wpcopy"),
	DELAY(7, "irq"),
	FIELD(LOGIN_UID, "audit.login_uid", "auid", U32, NONE, login_uid),
	FIELD(LOGIN_USER, "audit.login_user", "login", BYTES, NONE, login_user),
	FIELD(SESSION, "audit.session", "session", U32, NONE, session),
	FIELD(SUBJECT, "audit.subject", "subj", BYTES, NONE, subject),
	FIELD(AUDIT_KEY, "audit.key", "key", BYTES, NONE, audit_key),
	FIELD(AUDIT_SERIAL, "audit.serial", NULL, U64, NONE, audit_serial),
	FIELD(SOURCES, "sources", NULL, SOURCES, NONE, sources),
	FIELD(MISSING, "missing", NULL, SOURCES, NONE, missing),
	FIELD(INHERITED, "inherited", NULL, PATHS, NONE, inherited),
	FIELD(BACKFILLED, "backfilled", NULL, BOOL, NONE, backfilled),
};
/* clang-format on */

static bool equals(const char *s, const char *name, size_t len)
{
	return strlen(s) == len && !memcmp(s, name, len);
}

static bool ends_with(const char *path, const char *name, size_t len)
{
	size_t n = strlen(path);

	return n > len && path[n - len - 1] == '.' && !memcmp(path + n - len, name, len);
}

int field_find(const char *name, size_t len)
{
	int found = -ENOENT;

	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const struct field_info *f = &field_table[i];

		if (equals(f->path, name, len) || (f->alias && equals(f->alias, name, len)))
			return i;
		if (ends_with(f->path, name, len))
			found = found == -ENOENT ? i : -ENOTUNIQ;
	}
	return found;
}

/* All whose path goes on behind the name with a dot. */
static bool add_group(uint64_t *mask, const char *name, size_t len)
{
	bool any = false;

	for (int i = 0; i < EXEUNT_F_COUNT; i++) {
		const char *path = field_table[i].path;
		const char *at = path;

		/* the group by its whole path, or by what stands behind the first dot: "exit" is process.exit */
		if (strncmp(at, name, len) != 0 || at[len] != '.')
			at = strchr(path, '.');
		if (at && *at == '.')
			at++;
		if (!at || strncmp(at, name, len) != 0 || at[len] != '.')
			continue;
		field_add(mask, (unsigned int)i);
		any = true;
	}
	return any;
}

int field_parse_list(const char *list, uint64_t ret_mask[EXEUNT_PRESENT_WORDS], const char **bad,
		     size_t *bad_len)
{
	bool any = false;

	memset(ret_mask, 0, EXEUNT_PRESENT_WORDS * sizeof(*ret_mask));
	for (;; any = true) {
		size_t len;
		int field;

		list += strspn(list, ", \t");
		len = strcspn(list, ", \t");
		if (!len && any)
			return 0;
		field = len ? field_find(list, len) : -ENOENT;
		if (field >= 0)
			field_add(ret_mask, (unsigned int)field);
		if ((!len || !add_group(ret_mask, list, len)) && field < 0) {
			*bad = list;
			*bad_len = len;
			return -EINVAL;
		}
		list += len;
	}
}
