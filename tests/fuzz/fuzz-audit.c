/* SPDX-License-Identifier: MIT */
/*
 * Audit text of any kind into stream, scanner and window. The first byte chooses the sizes of the
 * pieces, the bounds of the window and the clock; with bit 1 each line is a netlink payload behind
 * two bytes of type. What is promised is checked: slices that can be read, a window within its
 * bounds, counters that add up.
 */
#include <stdlib.h>

#include "base/util.h"
#include "decode/audit_assemble.h"
#include "decode/audit_stream.h"
#include "fuzz/fuzz.h"

struct fuzz {
	struct audit_assemble *window;
	bool payloads;
	int64_t now_ns;
	uint64_t events, read;
};

static void demand(bool ok)
{
	if (!ok)
		abort();
}

static uint64_t touch(const struct exeunt_bytes *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < v->len; i++)
		sum += (unsigned char)v->data[i];
	return sum;
}

static void on_event(const struct audit_event *e, void *userdata)
{
	const struct exeunt_bytes *const texts[] = {
		&e->tty,      &e->comm, &e->exe,  &e->subj, &e->key,  &e->auid_name, &e->uid_name,
		&e->gid_name, &e->cwd,	&e->path, &e->acct, &e->addr, &e->op,	     &e->msg,
	};
	static const enum audit_has bits[] = {
		AUDIT_HAS_TTY, AUDIT_HAS_COMM,	    AUDIT_HAS_EXE,	AUDIT_HAS_SUBJ,
		AUDIT_HAS_KEY, AUDIT_HAS_AUID_NAME, AUDIT_HAS_UID_NAME, AUDIT_HAS_GID_NAME,
		AUDIT_HAS_CWD, AUDIT_HAS_PATH,	    AUDIT_HAS_ACCT,	AUDIT_HAS_ADDR,
		AUDIT_HAS_OP,  AUDIT_HAS_MSG,
	};
	struct fuzz *fuzz = userdata;

	_Static_assert(ARRAY_SIZE(texts) == ARRAY_SIZE(bits), "a bit for each text");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (audit_event_has(e, bits[i]))
			fuzz->read += touch(texts[i]);
	fuzz->read += touch(&e->node);
	for (uint32_t i = 0; i < e->n_args; i++)
		fuzz->read += touch(&e->args[i]);
	demand(!e->n_args == !audit_event_has(e, AUDIT_HAS_ARGS));
	demand(!audit_event_has(e, AUDIT_HAS_PID) || e->pid >= 0);
	fuzz->events++;
}

static int on_line(const char *line, size_t len, unsigned int flags, void *userdata)
{
	struct fuzz *fuzz = userdata;
	size_t bytes;
	int r;

	fuzz->now_ns += NS_PER_SEC / 8;
	if (fuzz->payloads && len >= 2)
		r = audit_assemble_payload(fuzz->window, load_u16(line), line + 2, len - 2,
					   fuzz->now_ns);
	else
		r = audit_assemble_text(fuzz->window, line, len, flags, fuzz->now_ns);
	demand(r <= 0);
	demand(audit_assemble_pending(fuzz->window, &bytes) <= 8);
	demand(bytes <= (size_t)8 * AUDIT_LINE_MAX);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz fuzz = { 0 };
	struct audit_assemble_options options = { .max_events = 8,
						  .max_bytes = 1,
						  .max_event_bytes = 1,
						  .on_event = on_event,
						  .userdata = &fuzz };
	struct audit_stream stream;
	size_t chunk, at;

	if (size == 0)
		return 0;
	options.event_clock = data[0] & 1;
	fuzz.payloads = data[0] & 2;
	chunk = data[0] & 4 ? 7 : 65536;
	if (audit_assemble_new(&fuzz.window, &options) < 0)
		return 0;
	if (audit_stream_init(&stream, on_line, &fuzz) == 0) {
		for (at = 1; at < size; at += chunk)
			audit_stream_feed(&stream, (const char *)data + at, MIN(chunk, size - at));
		audit_stream_flush(&stream);
	}
	audit_assemble_flush(fuzz.window);
	demand(audit_assemble_pending(fuzz.window, NULL) == 0);
	demand(audit_assemble_counters(fuzz.window)->events == fuzz.events);
	audit_stream_done(&stream);
	audit_assemble_free(fuzz.window);
	return 0;
}
