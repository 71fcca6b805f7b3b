/* SPDX-License-Identifier: MIT */
/*
 * Records in audit's own text, for what reads audit: one line a record, of type TRUSTED_APP, whose inner text is
 *
 *	exits		op=process-exit seq=+1 opid=+42 oppid=+1 ouid=0 ogid=0 oauid=1000 oses=+3 obj=LABEL ocomm="x" exe="/bin/x"
 *			proctitle="x" cgroup="/x" unit="x.service" terminal=pts/0 exit=0 sig=0 core=no certain=yes
 *			start=SEC.MMM elapsed=SEC.UUUUUU utime=SEC.UUUUUU stime=SEC.UUUUUU maxrss=900k read=0k written=4k res=success
 *	others		op=process-exit-amend, op=process-interim: the same; op=thread-exit: otid=+43 behind opid
 *	losses		op=process-exit-loss seq= source= cause= count=+5 exact=yes backfilled=+0 start= end= res=failed
 *	of ourselves	op=exeunt-start, -status, -stop: seq= version= kernel= sources= exits= ... res=success
 *
 * The order is fixed, no field is ever left out, and `?` is what is not known. Objects have names of their own (opid), as the
 * sender has pid, uid, auid and ses in front. What a process can choose is in double quotes, or in hexadecimal if it holds
 * a byte below 0x21 or above 0x7e, a quote of either kind, or `=`: audit's own rule, and more of it, as some tools look for
 * ` res=` in all of the text. Numbers whose name audit does not know have a sign, a point or a unit, as auparse 4 would
 * take their digits for hexadecimal. What is longer than its bound is cut, and ends in "...".
 */
#ifndef SINK_AUDIT_LINE_H
#define SINK_AUDIT_LINE_H

#include <exeunt/record.h>

#include <sys/types.h>

#include "base/util.h"

#define AUDIT_TEXT_MAX \
	7424 /* the kernel cuts at 8,560, other readers at 8,970 with what is in front */
#define AUDIT_LINE_MAX (AUDIT_TEXT_MAX + 512)

struct output;

/* The most that audit_text() makes of this record. */
size_t audit_text_bound(const struct exeunt_record *r);

/* Writes the inner text, without NUL. Returns its length; 0 if `size` is less than the bound. */
size_t audit_text(const struct exeunt_record *r, char *buf, size_t size);

/* Who writes the lines, as the kernel would tell of the sender of a message. */
struct audit_sender {
	char text[320]; /* "pid=1 uid=0 auid=0 ses=0 subj=LABEL" */
	size_t len;
};

/* Of this process, as it is now. */
void audit_sender_init(struct audit_sender *s);

/*
 * The whole line, with its newline: type=TRUSTED_APP msg=audit(SEC.MMM:SERIAL): SENDER msg='TEXT'. The time is that of the
 * exit if it is known; the serial is the record's seq, so what is missing shows. Returns its length; -ENOSPC.
 */
ssize_t audit_line_format(const struct audit_sender *s, const struct exeunt_record *r, char *buf,
			  size_t size);

/* Queues the line; `format` is a struct audit_sender; see feed.h. */
int audit_line_write(void *format, const struct exeunt_record *r, struct output *o);

#endif
