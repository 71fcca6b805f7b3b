/* SPDX-License-Identifier: MIT */
/*
 * The audit source: records over netlink, beside the owner of audit or as the owner, or text from auditd.
 *
 * Promises never to make the host wait: beside an owner nobody waits for us, and as the owner the kernel is told to
 * wait for nobody. Promises to change nothing unless asked to own audit, and then to put everything back, also when it
 * is killed. Loads no rule unless asked to, and unloads it then. Keeps no capability: what has to be asked later, the keeper asks (audit_keeper.h).
 *
 * Loss. Multicast: what our buffer had no room for, exactly (AUDIT_CHANNEL_NETLINK). As the owner that is none: the
 * kernel sends again what it could not deliver. In either case the kernel's own counter tells what never reached
 * anybody (AUDIT_CHANNEL_KERNEL); it counts what its queue for an owner had no room for too, which multicast may have
 * had, so it is not exact. Decodes nothing but the type of a record.
 */
#ifndef SOURCE_AUDIT_H
#define SOURCE_AUDIT_H

#include "source/source.h"

/* "auto", "off", "multicast", "unicast", "stdin". Errors: -EINVAL. */
int audit_mode_parse(enum audit_mode *ret, const char *name);

/* "multicast", "unicast" or "stdin": what it is now, which may be another than was asked for. */
const char *audit_mode_now(const struct source *s);

/* True if the kernel has said that a rule tells of exits, perhaps not of all. */
bool audit_tells_exits(const struct source *s);

/*
 * True if audit told of all ends once and now does not: it was switched off, or the rule is gone. What ends meanwhile it does
 * not tell of.
 */
bool audit_is_blind(const struct source *s);

/* True if check() should be called soon though nothing comes. */
bool audit_is_unsettled(const struct source *s);

/* A record said that rules or settings changed; for text, which the source does not look into. */
void audit_note_change(struct source *s);

#endif
