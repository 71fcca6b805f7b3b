/* SPDX-License-Identifier: MIT */
/*
 * The control side of audit, on libaudit: its settings, its rules. Each call may sleep in the kernel for as long as
 * backlog_wait_time (a minute, by default) when audit's queue is full (kernel/audit.c: audit_receive()), so nothing
 * here may be called where sockets have to be read meanwhile. Needs CAP_AUDIT_CONTROL in the initial pid namespace.
 */
#ifndef SOURCE_AUDIT_CONTROL_H
#define SOURCE_AUDIT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

struct audit_facts;
struct audit_rule_data;

/* Returns a descriptor, or -errno: -EPROTONOSUPPORT when the kernel has no audit, or was booted with audit=0. */
int audit_control_open(void);

/* Errors: -EPERM, -ECONNREFUSED (another user namespace), -ETIME (no answer). */
int audit_control_status(int fd, struct audit_facts *facts);

/* Calls fn for each loaded rule, in their order, lists apart. Errors: as above, or what fn returned, below 0. */
typedef int (*audit_rule_fn)(const struct audit_rule_data *rule, size_t len, void *userdata);
int audit_control_rules(int fd, audit_rule_fn fn, void *userdata);

/* What the loaded rules mean to us. Errors: as above. */
int audit_control_rule_facts(int fd, struct audit_facts *facts);

#endif
