/* SPDX-License-Identifier: MIT */
/*
 * Prints one death of mkexit as one line of JSON. The names of the keys are what tests/live/lib.py
 * reads.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "helpers/mkexit.h"

static void print_comm(const char *comm)
{
	size_t i, len = strnlen(comm, 15);

	printf("\"comm_hex\":\"");
	for (i = 0; i < len; i++)
		printf("%02x", (unsigned char)comm[i]);
	putchar('"');
}

static void print_status(int status)
{
	printf("\"status\":%d,", status);
	if (WIFSIGNALED(status))
		printf("\"signal\":%d,\"core\":%s,", WTERMSIG(status),
		       WCOREDUMP(status) ? "true" : "false");
	else
		printf("\"code\":%d,", WEXITSTATUS(status));
}

static int64_t to_us(struct timeval tv)
{
	return tv.tv_sec * INT64_C(1000000) + tv.tv_usec;
}

static void print_rusage(const struct rusage *ru)
{
	printf(",\"rusage\":{\"utime_us\":%" PRId64 ",\"stime_us\":%" PRId64 ",\"maxrss_kib\":%ld,"
	       "\"minflt\":%ld,\"majflt\":%ld,\"nvcsw\":%ld,\"nivcsw\":%ld}",
	       to_us(ru->ru_utime), to_us(ru->ru_stime), ru->ru_maxrss, ru->ru_minflt,
	       ru->ru_majflt, ru->ru_nvcsw, ru->ru_nivcsw);
}

static void print_self(const struct death *d)
{
	const struct self_report *r = &d->self;

	printf(",\"did\":{\"read_bytes\":%" PRIu64 ",\"write_bytes\":%" PRIu64
	       ",\"read_calls\":%" PRIu64 ",\"write_calls\":%" PRIu64 "}",
	       d->did_read_bytes, d->did_write_bytes, d->did_read_calls, d->did_write_calls);
	printf(",\"self\":{\"utime_us\":%" PRId64 ",\"stime_us\":%" PRId64
	       ",\"maxrss_kib\":%" PRId64 ",\"minflt\":%" PRId64 ",\"majflt\":%" PRId64
	       ",\"nvcsw\":%" PRId64 ",\"nivcsw\":%" PRId64,
	       r->utime_us, r->stime_us, r->maxrss_kib, r->minflt, r->majflt, r->nvcsw, r->nivcsw);
	printf(",\"rchar\":%" PRIu64 ",\"wchar\":%" PRIu64 ",\"syscr\":%" PRIu64
	       ",\"syscw\":%" PRIu64 ",\"read_bytes\":%" PRIu64 ",\"write_bytes\":%" PRIu64
	       ",\"cancelled_bytes\":%" PRIu64,
	       r->rchar, r->wchar, r->syscr, r->syscw, r->read_bytes, r->write_bytes,
	       r->cancelled_bytes);
	printf(",\"vm_hwm_kib\":%" PRIu64 ",\"vm_peak_kib\":%" PRIu64 "}", r->vm_hwm_kib,
	       r->vm_peak_kib);
}

void print_death(const char *name, uint64_t index, const struct slot *s, unsigned int which,
		 const struct truth *t)
{
	const struct death *d = &s->death[which];

	printf("{\"case\":\"%s\",\"index\":%" PRIu64 ",\"role\":\"%s\",", name, index,
	       which ? "grandchild" : "child");
	if (s->kind[0])
		printf("\"kind\":\"%s\",", s->kind);
	if (s->failed[0])
		printf("\"failed\":\"%s\",", s->failed);
	printf("\"pid\":%d,\"parent_pid\":%d,\"waited\":%s,\"timed_out\":%s,", d->pid,
	       d->parent_pid, d->unwaited ? "false" : "true", t->timed_out ? "true" : "false");
	print_status(t->status);
	printf("\"uid\":%u,\"gid\":%u,\"euid\":%u,\"egid\":%u,\"suid\":%u,\"sgid\":%u,", d->uid,
	       d->gid, d->euid, d->egid, d->suid, d->sgid);
	print_comm(d->comm);
	printf(",\"threads\":%u,\"execed\":%s,", d->threads, d->execed ? "true" : "false");
	printf("\"real_before_ns\":%" PRId64 ",\"real_end_ns\":%" PRId64
	       ",\"real_after_ns\":%" PRId64,
	       t->real_before_ns, d->real_end_ns, t->real_after_ns);
	printf(",\"mono_before_ns\":%" PRId64 ",\"mono_after_ns\":%" PRId64, t->mono_before_ns,
	       t->mono_after_ns);
	if (!d->unwaited)
		print_rusage(&t->usage);
	if (d->has_self)
		print_self(d);
	puts("}");
}
