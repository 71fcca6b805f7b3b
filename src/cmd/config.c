/* SPDX-License-Identifier: MIT */
/*
 * See config.h. inih takes lines apart; which line it is at, that a line is too long for it, and that one goes on what stands
 * above it, is seen by our reader.
 */
#include "cmd/config.h"

#include <ini.h>
#include <stdarg.h>

#include "base/util.h"
#include "cmd/cmd.h"

#define SECTION_SIZE 50 /* what inih keeps of a section's name */
#define VALUE_MAX 65536

struct config {
	char **strings; /* what the options point to */
	size_t n_strings;
};

struct reading {
	struct config *config;
	struct options *options;
	int groups;
	const char *path;
	FILE *file;
	int line, errors, last_error; /* last_error: the line that was told of */
	bool continued;		      /* the line goes on what stands above it */
	char section[SECTION_SIZE + 1];
	char name[SECTION_SIZE + 1];
	char *value; /* of `name`, as far as it was read */
	int value_line;
};

PRINTF(2, 3)
static void tell(struct reading *r, const char *format, ...)
{
	char text[1024];
	va_list ap;

	r->errors++;
	r->last_error = r->line;
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

/* A line for inih; "" for the rest of one that is too long. */
static char *read_line(char *buf, int size, void *userdata)
{
	struct reading *r = userdata;
	int c;

	if (!fgets(buf, size, r->file))
		return NULL;
	r->line++;
	r->continued = *buf == ' ' || *buf == '\t';
	if (strchr(buf, '\n') || feof(r->file))
		return buf;
	tell(r, "longer than %d bytes; break it, and begin what goes on with a blank", size - 2);
	while ((c = getc(r->file)) != EOF && c != '\n')
		;
	strcpy(buf, "\n");
	return buf;
}

/* The sink that the section is about; one that was not there yet is added. */
static bool begin_section(struct reading *r, const char *section)
{
	const char *name = section + strlen("sink");
	char *kept;

	if (!strcmp(section, r->section))
		return true;
	snprintf(r->section, sizeof(r->section), "%s", section);
	if (!*section || !strcmp(section, "exeunt")) {
		if (!r->options->n_to)
			return true;
		tell(r, "[exeunt] comes before the sinks");
		return false;
	}
	if (strncmp(section, "sink ", 5) != 0 || !*(name += strspn(name, " \t"))) {
		tell(r, "[%s]: expected [exeunt], or [sink NAME]", section);
		return false;
	}
	kept = keep(r->config, name);
	if (!kept || r->options->n_to == OPTIONS_SINKS) {
		tell(r, "no more than %d sinks", OPTIONS_SINKS);
		return false;
	}
	r->options->to[r->options->n_to++] = (struct sink_choice){ .name = kept };
	return true;
}

/* "to" says where the sink of this section is; elsewhere it would begin another one. */
static void set(struct reading *r)
{
	struct options *o = r->options;
	char *value = keep(r->config, r->value);
	char error[512];
	bool in_sink = !strncmp(r->section, "sink ", 5);

	if (!value)
		tell(r, "not enough memory");
	else if (!in_sink && !strcmp(r->name, "to"))
		tell(r, "to = %s: expected in a section [sink NAME]", value);
	else if (in_sink && !strcmp(r->name, "to"))
		o->to[o->n_to - 1].spec = value;
	else if (options_set(o, in_sink ? OPTIONS_OF_SINK : r->groups, r->name, value, error,
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

static int take(void *userdata, const char *section, const char *name, const char *value)
{
	struct reading *r = userdata;
	char *longer = NULL;

	if (r->continued && r->value) {
		if (strlen(r->value) + strlen(value) < VALUE_MAX &&
		    asprintf(&longer, "%s %s", r->value, value) >= 0) {
			free(r->value);
			r->value = longer;
		}
		return 1;
	}
	end_value(r);
	if (!begin_section(r, section))
		return 1;
	snprintf(r->name, sizeof(r->name), "%s", name);
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
	int line;

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
	line = ini_parse_stream(read_line, &r, take, &r);
	end_value(&r);
	if (line > 0 && line != r.last_error) {
		r.line = line;
		tell(&r, "expected [SECTION], or NAME = VALUE");
	}
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
