/* SPDX-License-Identifier: MIT */
/*
 * The handle's life: made, opened, started, stopped, freed; and what the library says about itself. See exeunt.h for
 * the promises. Reading is in loop.c, decoding and joining behind intake.c.
 */
#include "lib/engine.h"

#include <stdarg.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/procfile.h"
#include "base/util.h"
#include "record/fields.h"
#include "source/pacct.h"

#define KERNEL_SOURCES ARRAY_SIZE(((struct exeunt *)0)->sources)

int engine_fail(struct exeunt *x, int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(x->error, sizeof(x->error), format, ap);
	va_end(ap);
	return error;
}

void engine_message(struct exeunt *x, int level, const char *format, ...)
{
	char text[512];
	va_list ap;

	if (!x->options.on_message)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	x->options.on_message(level, text, x->options.userdata);
}

static void add_names(struct exeunt *x, struct exeunt_record *r)
{
	size_t len;

	if (!x->users)
		return;
	if (exeunt_has(r, EXEUNT_F_UID) && !exeunt_has(r, EXEUNT_F_USER)) {
		r->user.data = users_name(x->users, r->uid, x->intake.mono_ns, &len);
		r->user.len = (uint32_t)len;
		if (len)
			field_set(r, EXEUNT_F_USER);
	}
	if (exeunt_has(r, EXEUNT_F_GID) && !exeunt_has(r, EXEUNT_F_GROUP)) {
		r->group.data = users_group(x->users, r->gid, x->intake.mono_ns, &len);
		r->group.len = (uint32_t)len;
		if (len)
			field_set(r, EXEUNT_F_GROUP);
	}
}

void engine_emit(struct exeunt_record *r, void *userdata)
{
	struct exeunt *x = userdata;
	int value;

	r->seq = ++x->seq;
	r->time_ns = x->intake.real_ns;
	ledger_balance(x->ledger)->records++;
	add_names(x, r);
	if (!x->options.on_record)
		return;
	value = x->options.on_record(r, x->options.userdata);
	if (value > 0)
		x->stop_value = value;
}

static void emit_loss(const struct exeunt_loss *loss, void *userdata)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = EXEUNT_TYPE_LOSS };

	r.loss = loss;
	engine_emit(&r, userdata);
}

static struct exeunt_balance current_balance(const struct exeunt *x)
{
	struct exeunt_balance b = *ledger_balance(x->ledger);

	join_count(x->joiner, &b);
	return b;
}

void engine_emit_status(struct exeunt *x, enum exeunt_type type)
{
	struct exeunt_record r = { .size = sizeof(r),
				   .version = EXEUNT_RECORD_VERSION,
				   .type = (uint16_t)type };
	struct exeunt_status status = {
		.version = EXEUNT_VERSION,
		.kernel_release = x->info.kernel,
		.started_ns = x->started_ns,
		.delay_accounting = x->info.delay_accounting,
		.sources = x->status,
		.n_sources = ARRAY_SIZE(x->status),
	};

	engine_describe_sources(x);
	status.balance = current_balance(x);
	r.status = &status;
	engine_emit(&r, x);
}

static void read_host(struct capture_info *info)
{
	struct utsname name;
	char value[16];

	if (!uname(&name)) {
		snprintf(info->host, sizeof(info->host), "%s", name.nodename);
		snprintf(info->kernel, sizeof(info->kernel), "%s", name.release);
	}
	procfile_line("/proc/sys/kernel/random/boot_id", info->boot_id, sizeof(info->boot_id));
	if (procfile_line("/proc/sys/kernel/task_delayacct", value, sizeof(value)) >= 0)
		info->delay_accounting = atoi(value) != 0;
	info->started_ns = real_now();
}

static void about_file(void *userdata, const char *text)
{
	engine_message(userdata, 4, "%s", text);
}

static int init(struct exeunt *x)
{
	struct join_options join = { .emit = engine_emit, .userdata = x };
	int r;

	read_host(&x->home);
	x->info = x->home;
	for (size_t i = 0; i < ARRAY_SIZE(x->status); i++)
		x->status[i].source = (enum exeunt_source)i;
	r = loop_init(x);
	if (r < 0)
		return r;
	r = ledger_new(&x->ledger, emit_loss, x);
	if (r < 0)
		return r;
	join.ledger = x->ledger;
	join.threads = x->options.threads;
	join.table_entries = x->options.table_entries;
	r = join_new(&x->joiner, &join);
	if (r < 0)
		return r;
	if (!x->options.numeric) {
		r = users_new(&x->users);
		if (r < 0)
			return r;
	}
	x->intake.joiner = x->joiner;
	x->intake.ledger = x->ledger;
	x->intake.message = about_file;
	x->intake.userdata = x;
	x->intake.delay_accounting = x->info.delay_accounting;
	return intake_init(&x->intake);
}

int exeunt_new(struct exeunt **ret, const struct exeunt_options *options)
{
	struct exeunt_options o = { .size = sizeof(o) };
	struct exeunt *x;
	int r;

	if (options) {
		if (options->size < offsetof(struct exeunt_options, sources))
			return -EINVAL;
		memcpy(&o, options, MIN(options->size, sizeof(o)));
	}
	if ((o.sources | o.sources_needed) & ~(EXEUNT_SOURCE_BIT(KERNEL_SOURCES) - 1))
		return -EINVAL;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->options = o;
	x->loop.epoll_fd = x->loop.timer_fd = -1;
	r = init(x);
	if (r < 0) {
		exeunt_free(x);
		return r;
	}
	*ret = x;
	return 0;
}

void exeunt_free(struct exeunt *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < KERNEL_SOURCES; i++)
		if (x->sources[i])
			x->sources[i]->ops->free(x->sources[i]);
	loop_done(x);
	join_free(x->joiner);
	intake_done(&x->intake);
	context_free(x->context);
	ledger_free(x->ledger);
	users_free(x->users);
	free(x);
}

static int announce(struct exeunt *x)
{
	x->started = true;
	if (x->options.status_seconds)
		x->loop.status_at_ns = mono_now() + x->options.status_seconds * NS_PER_SEC;
	engine_emit_status(x, EXEUNT_TYPE_START);
	return 0;
}

int exeunt_start(struct exeunt *x)
{
	int r;

	x->live = true;
	x->intake.self = getpid();
	x->started_ns = x->intake.real_ns = real_now();
	if (x->options.capture)
		capturing_begin(x);
	r = selftest_run(x, announce);
	return r < 0 ? r : x->stop_value;
}

/*
 * A piece of accounting holds thousands of ends, and what taskstats did not tell of waits until it is known to be lost: that is
 * asked for before they are too many to be kept, and not when there is time.
 */
static int relieve(struct exeunt *x)
{
	struct source *s = source_in_use(x, EXEUNT_SOURCE_TASKSTATS);
	bool more;
	int r = s ? drain_source(x, EXEUNT_SOURCE_TASKSTATS, false, &more) : 0;

	if (r >= 0 && s)
		r = s->ops->check(s, engine_frame, x);
	join_checked(x->joiner, x->intake.mono_ns);
	return MIN(r, 0);
}

int engine_frame(const struct frame *f, void *userdata)
{
	struct exeunt *x = userdata;
	int r;

	if (x->options.capture)
		capturing_frame(x, f);
	r = intake_frame(&x->intake, f);
	if (f->source == EXEUNT_SOURCE_PACCT && f->kind == FRAME_DATA && x->sources[f->source])
		pacct_source_undecoded(x->sources[f->source], intake_pacct_undecoded(&x->intake));
	if (f->source == EXEUNT_SOURCE_PACCT && r >= 0 && x->live && join_is_crowded(x->joiner))
		r = relieve(x);
	return r;
}

int exeunt_fd(const struct exeunt *x)
{
	return x->loop.epoll_fd;
}

int exeunt_dispatch(struct exeunt *x)
{
	int r = loop_dispatch(x);

	if (unlikely(x->intake.own_told != x->own_told)) {
		x->own_told = x->intake.own_told;
		engine_describe_sources(x);
	}
	return r < 0 ? r : x->stop_value;
}

int exeunt_stop(struct exeunt *x)
{
	int r;

	if (x->stopped)
		return 0;
	x->stopped = true;
	r = drain_all(x);
	if (x->live)
		x->intake.real_ns = MAX(x->intake.real_ns, real_now());
	intake_end(&x->intake);
	join_flush(x->joiner);
	engine_end_audit(x);
	/* twice: a gap counts when two looks agree */
	intake_settle(&x->intake);
	ledger_release(x->ledger, INT64_MAX);
	engine_emit_status(x, EXEUNT_TYPE_STOP);
	engine_remember(x);
	return r < 0 ? r : x->stop_value;
}
