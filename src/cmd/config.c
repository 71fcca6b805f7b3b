/* SPDX-License-Identifier: MIT */
/*
 * See config.h. inih takes names and values apart; our reader sees each line before it does: which line it is at, sections, that
 * one goes on what stands above it, and what inih would cut off, take for something else, or leave unsaid.
 */
#include "cmd/config.h"

#include <ctype.h>
#include <ini.h>
#include <stdarg.h>

#include "base/util.h"
#include "cmd/cmd.h"

#define NAME_SIZE 64
#define VALUE_MAX 65536
#define ERRORS_MAX 20 /* of a file that is something else altogether */
#define SEEN_MAX 64

struct config {
	char **strings; /* what the options point to */
	size_t n_strings;
};

struct seen {
	const char *name;
	int line;
};

struct reading {
	struct config *config;
	struct options *options;
	int groups;
	const char *path;
	FILE *file;
	int line, errors;
	bool in_sink;	      /* else the lines are said of the whole daemon */
	bool unknown;	      /* a section that was told of: what is in it is passed over */
	bool continued;	      /* the line goes on what stands above it */
	char name[NAME_SIZE]; /* "": none yet in this section */
	char *value;	      /* of `name`, as far as it was read */
	int value_line;
	struct seen seen[SEEN_MAX]; /* in this section */
	unsigned int n_seen;
};

PRINTF(2, 3)
static void tell(struct reading *r, const char *format, ...)
{
	char text[1024];
	va_list ap;

	if (r->errors++ == ERRORS_MAX)
		cmd_error("%s: more is wrong; the rest is not told", r->path);
	if (r->errors > ERRORS_MAX)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	cmd_error("%s:%d: %s", r->path, r->line, text);
}

static char *keep(struct config *c, const char *text)
{
	char **grown = realloc(c->strings, (c->n_strings + 1) * sizeof(*grown));
	char *copy = grown ? strdup(text) : NULL;

	if (grown)
		c->strings = grown;
	if (copy)
		c->strings[c->n_strings++] = copy;
	return copy;
}

/* "to" says where the sink of this section is; elsewhere it would begin another one. */
static void set(struct reading *r)
{
	struct options *o = r->options;
	char *value = keep(r->config, r->value);
	char error[512];

	if (!value)
		tell(r, "not enough memory");
	else if (!r->in_sink && !strcmp(r->name, "to"))
		tell(r, "to = %s: expected in a section [sink NAME]", value);
	else if (r->in_sink && !strcmp(r->name, "to"))
		o->to[o->n_to - 1].spec = value;
	else if (options_set(o, r->in_sink ? OPTIONS_OF_SINK : r->groups, r->name, value, error,
			     sizeof(error)) < 0)
		tell(r, "%s", error);
}

/* What was read last is whole. */
static void end_value(struct reading *r)
{
	int line = r->line;

	r->line = r->value_line;
	if (r->value)
		set(r);
	r->line = line;
	free(TAKE(r->value));
}

static bool add_sink(struct reading *r, const char *name)
{
	struct options *o = r->options;
	char *kept;

	for (unsigned int i = 0; i < o->n_to; i++)
		if (!strcmp(o->to[i].name, name)) {
			tell(r, "[sink %s] is there already", name);
			return false;
		}
	if (o->n_to == OPTIONS_SINKS) {
		tell(r, "no more than %d sinks", OPTIONS_SINKS);
		return false;
	}
	kept = keep(r->config, name);
	if (!kept) {
		tell(r, "not enough memory");
		return false;
	}
	r->n_seen = 0;
	o->to[o->n_to++] = (struct sink_choice){ .name = kept };
	return true;
}

/* False: what it is was told. */
static bool begin_section(struct reading *r, const char *section)
{
	bool blank = !strncmp(section, "sink", 4) && isspace((unsigned char)section[4]);
	const char *name = blank ? section + 4 + strspn(section + 4, " \t") : "";

	r->in_sink = *name != '\0';
	if (r->in_sink && strlen(name) < NAME_SIZE)
		return add_sink(r, name);
	if (r->in_sink)
		tell(r, "[%s]: a name of at most %d bytes was expected", section, NAME_SIZE - 1);
	else if (strcmp(section, "exeunt") != 0)
		tell(r, "[%s]: expected [exeunt], or [sink NAME]", section);
	else if (r->options->n_to)
		tell(r, "[exeunt] comes before the sinks");
	else
		return true;
	return false;
}

/* "[sink files] ; a comment" */
static void take_section(struct reading *r, const char *p)
{
	size_t len = strcspn(p + 1, "]");
	const char *behind = p + 1 + len;
	char section[256];

	end_value(r);
	*r->name = '\0';
	if (*behind)
		behind += 1 + strspn(behind + 1, " \t");
	if (p[1 + len] != ']' || len >= sizeof(section) || !strchr(";#", *behind)) {
		tell(r, "expected [SECTION]");
		r->unknown = true;
		return;
	}
	snprintf(section, sizeof(section), "%.*s", (int)len, p + 1);
	r->unknown = !begin_section(r, section);
}

/* Indented as a whole section may be, it would become a part of the value above. */
static bool looks_like_option(const struct reading *r, const char *p)
{
	size_t len = strcspn(p, "=: \t");
	char name[NAME_SIZE];
	const char *behind = p + len + strspn(p + len, " \t");

	if (*p == '[')
		return true;
	/* "==" is of an expression */
	if (len >= sizeof(name) || *behind != '=' || behind[1] == '=')
		return false;
	snprintf(name, sizeof(name), "%.*s", (int)len, p);
	return !strcmp(name, "to") || options_has(r->groups | OPTIONS_OF_SINK, name);
}

/* What inih does for a line with a name, not every version of it does for one that goes on. */
static void cut_comment(char *p)
{
	for (; *p; p++)
		if (*p == ';' && isspace((unsigned char)p[-1])) {
			*p = '\0';
			return;
		}
}

/* False: inih shall not see the line. */
static bool take_line(struct reading *r, char *line)
{
	char *p = line;

	while (isspace((unsigned char)*p))
		p++;
	r->continued = p > line && *r->name;
	if (strchr(";#", *p))
		return true; /* nothing, or a comment */
	if (r->continued) {
		cut_comment(p);
		if (looks_like_option(r, p))
			tell(r,
			     "a line that begins with a blank goes on the one above it; this one "
			     "shall not begin with one");
		return !looks_like_option(r, p);
	}
	if (*p == '[') {
		take_section(r, p);
		return true;
	}
	if (*p != '=' && *p != ':' && strpbrk(p, "=:"))
		return true;
	tell(r, "expected [SECTION], or NAME = VALUE");
	return false;
}

/* The next line without its end, as far as it fits; its whole length, or -1 at the end of the file. */
static long get_line(struct reading *r, char *buf, int size, bool *zero)
{
	long len = 0;
	int c;

	*zero = false;
	while ((c = getc(r->file)) != EOF && c != '\n') {
		*zero |= !c;
		if (len < size - 1)
			buf[len] = (char)c;
		len++;
	}
	buf[MIN(len, size - 1)] = '\0';
	for (char *end = buf + strlen(buf); end > buf && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	return c == EOF && !len ? -1 : len;
}

/* A line for inih, or an empty one in its place. */
static char *read_line(char *buf, int size, void *userdata)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors put it in front of UTF-8 */
	struct reading *r = userdata;
	bool zero;
	long len = get_line(r, buf, size, &zero);

	if (len < 0 || r->errors > ERRORS_MAX)
		return NULL;
	r->line++;
	if (r->line == 1 && !strncmp(buf, mark, 3))
		memmove(buf, buf + 3, strlen(buf + 3) + 1);
	if (zero)
		tell(r, "there is a zero byte in it");
	else if (len >= size)
		tell(r, "longer than %d bytes; break it, and begin what goes on with a blank",
		     size - 1);
	else if (take_line(r, buf))
		return buf;
	*buf = '\0';
	return buf;
}

static void go_on(struct reading *r, const char *value)
{
	char *longer = NULL;

	if (strlen(r->value) + strlen(value) >= VALUE_MAX)
		tell(r, "the value of '%s' is longer than %d bytes", r->name, VALUE_MAX);
	else if (asprintf(&longer, "%s %s", r->value, value) < 0)
		tell(r, "not enough memory");
	else {
		free(r->value);
		r->value = longer;
	}
}

/* Once in a section, but for what may be repeated on the command line as well. */
static bool is_new(struct reading *r, const char *name)
{
	char *kept;

	for (unsigned int i = 0; i < r->n_seen; i++)
		if (!strcmp(r->seen[i].name, name)) {
			tell(r, "'%s' is in line %d already", name, r->seen[i].line);
			return false;
		}
	if (r->n_seen == SEEN_MAX || !strcmp(name, "redact"))
		return true;
	kept = keep(r->config, name);
	if (kept)
		r->seen[r->n_seen++] = (struct seen){ kept, r->line };
	return true;
}

static int take(void *userdata, const char *section, const char *name, const char *value)
{
	struct reading *r = userdata;

	(void)section;
	if (r->continued) {
		if (r->value)
			go_on(r, value);
		return 1;
	}
	end_value(r);
	snprintf(r->name, sizeof(r->name), "%s", name);
	if (r->unknown || !is_new(r, name))
		return 1;
	r->value = strdup(value);
	r->value_line = r->line;
	return 1;
}

static void check_sinks(struct reading *r)
{
	for (unsigned int i = 0; i < r->options->n_to; i++)
		if (!r->options->to[i].spec) {
			r->errors++;
			cmd_error("%s: [sink %s] has no line 'to = SINK'", r->path,
				  r->options->to[i].name);
		}
}

int config_read(struct config **ret, const char *path, struct options *o, int groups)
{
	struct reading r = { .options = o, .groups = groups, .path = path };
	_cleanup_file_
	FILE *file = fopen(path, "re");

	if (!file) {
		cmd_error("cannot open '%s': %s", path, strerror(errno));
		return CMD_FAILED;
	}
	*ret = r.config = calloc(1, sizeof(**ret));
	if (!r.config) {
		cmd_error("not enough memory");
		return CMD_FAILED;
	}
	r.file = file;
	ini_parse_stream(read_line, &r, take, &r);
	end_value(&r);
	if (ferror(file)) {
		cmd_error("reading '%s' failed: %s", path, strerror(errno));
		return CMD_FAILED;
	}
	check_sinks(&r);
	return r.errors ? CMD_USAGE : -1;
}

void config_free(struct config *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n_strings; i++)
		free(c->strings[i]);
	free(c->strings);
	free(c);
}
