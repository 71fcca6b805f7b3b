/* SPDX-License-Identifier: MIT */
/*
 * What a person is told of the source of accounting records: its state, and sentences in a bounded
 * ring.
 */
#include "source/pacct_internal.h"

#include <stdarg.h>

#include "base/util.h"

void pacct_say(struct pacct_source *s, int level, const char *format, ...)
{
	unsigned int i = (s->next_message + s->n_messages) % PACCT_MESSAGES;
	va_list ap;

	va_start(ap, format);
	if (s->n_messages < PACCT_MESSAGES) {
		vsnprintf(s->messages[i].text, sizeof(s->messages[i].text), format, ap);
		s->messages[i].level = level;
		s->n_messages++;
	}
	va_end(ap);
}

const char *pacct_message(struct source *base, int *level)
{
	struct pacct_source *s = (struct pacct_source *)base;
	unsigned int i = s->next_message;

	if (!s->n_messages)
		return NULL;
	s->n_messages--;
	s->next_message = (i + 1) % PACCT_MESSAGES;
	*level = s->messages[i].level;
	return s->messages[i].text;
}

void pacct_set_state(struct pacct_source *s, enum exeunt_source_state state, const char *reason,
		     const char *remedy)
{
	struct exeunt_source_status *st = s->base.status;

	st->state = state;
	st->error = state == EXEUNT_STATE_OPEN ? 0 : ENODATA;
	st->reason = st->remedy = NULL;
	if (reason) {
		snprintf(s->reason, sizeof(s->reason), "%s", reason);
		st->reason = s->reason;
	}
	if (remedy) {
		snprintf(s->remedy, sizeof(s->remedy), "%s", remedy);
		st->remedy = s->remedy;
	}
}

int pacct_refuse(struct exeunt_source_status *st, const struct source_options *o, int error,
		 const char *remedy, const char *plain, const char *format, ...)
{
	va_list ap;

	st->state = EXEUNT_STATE_REFUSED;
	st->error = error;
	st->reason = plain;
	st->remedy = remedy;
	va_start(ap, format);
	if (format && o->text_size) {
		vsnprintf(o->text, o->text_size, format, ap);
		st->reason = o->text;
	}
	va_end(ap);
	return -error;
}
