/* SPDX-License-Identifier: MIT */
/* See copy.h. One walk serves both: without a buffer it only counts. */
#include "record/copy.h"

#include <stdalign.h>
#include <string.h>

#include "record/fields.h"

struct walk {
	char *buf; /* NULL: count */
	size_t used;
};

/* Room for `size` bytes at the alignment of a record, filled from `from`; NULL while counting. */
static void *take(struct walk *w, const void *from, size_t size)
{
	void *at = w->buf ? w->buf + w->used : NULL;
	const size_t align = alignof(struct exeunt_record);

	if (at && size)
		memcpy(at, from, size);
	w->used += (size + align - 1) / align * align;
	return at;
}

static void take_bytes(struct walk *w, struct exeunt_bytes *to, const struct exeunt_bytes *from)
{
	const char *data = take(w, from->data, from->len);

	if (to)
		to->data = data;
}

static void take_args(struct walk *w, struct exeunt_record *to, const struct exeunt_record *from)
{
	struct exeunt_bytes *args = take(w, from->args, from->n_args * sizeof(*args));

	for (uint32_t i = 0; i < from->n_args; i++)
		take_bytes(w, args ? &args[i] : NULL, &from->args[i]);
	if (to)
		to->args = args;
}

static const char *take_text(struct walk *w, const char *text)
{
	return text ? take(w, text, strlen(text) + 1) : NULL;
}

static void take_status(struct walk *w, struct exeunt_record *to, const struct exeunt_status *from)
{
	struct exeunt_status *status = take(w, from, sizeof(*status));
	struct exeunt_source_status *sources =
		take(w, from->sources, from->n_sources * sizeof(*sources));
	struct exeunt_status spare;
	struct exeunt_source_status none;

	if (!status)
		status = &spare;
	status->version = take_text(w, from->version);
	status->kernel_release = take_text(w, from->kernel_release);
	status->sources = sources;
	for (size_t i = 0; i < from->n_sources; i++) {
		struct exeunt_source_status *s = sources ? &sources[i] : &none;

		s->reason = take_text(w, from->sources[i].reason);
		s->remedy = take_text(w, from->sources[i].remedy);
		s->detail = take_text(w, from->sources[i].detail);
	}
	if (to)
		to->status = status;
}

static struct exeunt_record *walk(struct walk *w, const struct exeunt_record *r)
{
	struct exeunt_record *to = take(w, r, sizeof(*r));

	for (int f = 0; f < EXEUNT_F_COUNT; f++) {
		struct exeunt_bytes *ours;

		if (!exeunt_has(r, f))
			continue;
		ours = to ? (struct exeunt_bytes *)((char *)to + field_table[f].offset) : NULL;
		if (field_table[f].kind == FIELD_BYTES)
			take_bytes(w, ours, field_ptr(r, f));
		else if (field_table[f].kind == FIELD_ARGS)
			take_args(w, to, r);
	}
	if (r->loss) {
		const struct exeunt_loss *loss = take(w, r->loss, sizeof(*loss));

		if (to)
			to->loss = loss;
	}
	if (r->status)
		take_status(w, to, r->status);
	return to;
}

size_t record_copy_size(const struct exeunt_record *r)
{
	struct walk w = { .buf = NULL };

	walk(&w, r);
	return w.used;
}

struct exeunt_record *record_copy(void *buf, const struct exeunt_record *r)
{
	struct walk w = { .buf = buf };

	return walk(&w, r);
}
