/* SPDX-License-Identifier: MIT */
/* The sinks that sinks.c lists, each of a file of its own. */
#ifndef SINK_TABLE_H
#define SINK_TABLE_H

struct sink_ops;

extern const struct sink_ops sink_store;
extern const struct sink_ops sink_audit;
extern const struct sink_ops sink_json;
extern const struct sink_ops sink_plugin;
extern const struct sink_ops sink_audispd;
extern const struct sink_ops sink_journal;
extern const struct sink_ops sink_syslog;
extern const struct sink_ops sink_socket;
extern const struct sink_ops sink_metrics;

#endif
