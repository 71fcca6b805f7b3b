/* SPDX-License-Identifier: MIT */
/* The lines above the table: how much ends, what it cost, what was lost. See top-screen.h. */
#include "view/top-screen.h"

#include <exeunt/exeunt.h>

#include "base/format.h"

static void put_duration(struct top_screen *s, struct top_line *l, double seconds)
{
	char text[FMT_DURATION_MAX + FMT_SLACK];
	uint64_t whole = (uint64_t)MAX(seconds, 0.0) * 1000000;

	*fmt_duration_us(text, whole) = '\0';
	if (whole < 60000000)
		*strchrnul(text, '.') = '\0';
	top_put(s, l, TOP_STYLE_PLAIN, whole < 60000000 ? "%s s" : "%s", text);
}

static void draw_first(struct top_screen *s, const struct top_view *v, struct top_model *m,
		       const struct top_about *about)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_PLAIN);
	char time[32] = "";

	if (about->real_ns)
		time[text_time(time, about->real_ns, about->utc)] = '\0';
	top_put(s, l, TOP_STYLE_STRONG, "exeunt top  ");
	top_put_raw(s, l, TOP_STYLE_STRONG, about->host, strlen(about->host), 24, false);
	top_put(s, l, TOP_STYLE_PLAIN, "  %s  watched ", time);
	put_duration(s, l, top_model_seconds(m));
	top_put(s, l, TOP_STYLE_STRONG, "  %s", top_window_title(v->window));
	if (v->frozen)
		top_put(s, l, TOP_STYLE_TITLE, "  FROZEN");
	if (about->ended)
		top_put(s, l, TOP_STYLE_STRONG, "  END");
}

static void put_rate(struct top_screen *s, struct top_line *l, enum top_style style,
		     const char *what, double sum, double seconds)
{
	top_put(s, l, TOP_STYLE_PLAIN, "%s ", what);
	top_put(s, l, sum >= 0.5 ? style : TOP_STYLE_STRONG, "%.0f", sum);
	if (seconds > 0)
		top_put(s, l, TOP_STYLE_PLAIN, sum / seconds < 100 ? " %.1f/s" : " %.0f/s",
			sum / seconds);
	top_put(s, l, TOP_STYLE_PLAIN, "  ");
}

/* Of everything, whatever is filtered. */
static void draw_rates(struct top_screen *s, const struct top_view *v, struct top_model *m,
		       const struct top_about *about)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_PLAIN);
	double seconds = top_window_seconds(m, v->window), cores;
	struct top_sums total;

	top_model_total(m, v->window, &total);
	put_rate(s, l, TOP_STYLE_STRONG, "exits", total.value[TOP_EXITS], seconds);
	put_rate(s, l, TOP_STYLE_FAILED, "failed", total.value[TOP_FAILED], seconds);
	put_rate(s, l, TOP_STYLE_BAD, "killed", total.value[TOP_KILLED], seconds);
	if (seconds <= 0)
		return;
	cores = total.value[TOP_CPU] / 1e6 / seconds;
	top_put(s, l, TOP_STYLE_PLAIN, "CPU ");
	if (about->cores) {
		top_put(s, l, TOP_STYLE_STRONG, "%.1f%%", 100 * cores / about->cores);
		top_put(s, l, TOP_STYLE_PLAIN, " of %u core%s", about->cores,
			about->cores == 1 ? "" : "s");
	} else {
		top_put(s, l, TOP_STYLE_STRONG, "%.2f", cores);
		top_put(s, l, TOP_STYLE_PLAIN, " cores");
	}
}

/* The causes of losses, the first ones that fit. */
static void put_causes(struct top_screen *s, struct top_line *l, const struct top_model *m)
{
	for (int i = 0; i < EXEUNT_SOURCE_COUNT; i++) {
		for (int c = 0; c < EXEUNT_LOSS_CAUSE_COUNT; c++) {
			const struct top_loss *loss =
				top_model_loss(m, (enum exeunt_source)i, (enum exeunt_loss_cause)c);

			if (loss->count)
				top_put(s, l, TOP_STYLE_BAD, ", %s %s %llu",
					exeunt_source_name((enum exeunt_source)i),
					exeunt_loss_cause_name((enum exeunt_loss_cause)c),
					(unsigned long long)loss->count);
		}
	}
}

static void draw_sources(struct top_screen *s, const struct top_model *m,
			 const struct top_about *about)
{
	struct top_line *l = top_screen_line(s, TOP_STYLE_PLAIN);
	uint32_t sources = top_model_sources(m);
	bool exact, any = false;
	uint64_t lost = top_model_lost(m, &exact);

	if (lost)
		top_put(s, l, TOP_STYLE_BAD, "LOST %s%llu", exact ? "" : "at least ",
			(unsigned long long)lost);
	else
		top_put(s, l, TOP_STYLE_STRONG, "lost 0");
	put_causes(s, l, m);
	top_put(s, l, TOP_STYLE_PLAIN, "  sources ");
	for (int i = 0; i < EXEUNT_SOURCE_OUTPUT; i++) {
		if (!(sources & EXEUNT_SOURCE_BIT(i)))
			continue;
		top_put(s, l, TOP_STYLE_STRONG, "%s%s", any ? "," : "",
			exeunt_source_name((enum exeunt_source)i));
		any = true;
	}
	if (!any)
		top_put(s, l, TOP_STYLE_BAD, "none");
	if (about->source_note) {
		top_put(s, l, TOP_STYLE_PLAIN, "  ");
		top_put_raw(s, l, TOP_STYLE_PLAIN, about->source_note, strlen(about->source_note),
			    s->width, false);
	}
}

/* Each column is the most of some seconds. The present second is not over, unless nothing more comes. */
static void draw_sparkline(struct top_screen *s, const struct top_model *m, bool ended)
{
	static const char *const utf8[] = { " ",
					    "\xe2\x96\x81",
					    "\xe2\x96\x82",
					    "\xe2\x96\x83",
					    "\xe2\x96\x84",
					    "\xe2\x96\x85",
					    "\xe2\x96\x86",
					    "\xe2\x96\x87",
					    "\xe2\x96\x88" };
	static const char *const plain[] = { " ", "_", ".", ":", "-", "=", "+", "*", "#" };
	struct top_line *l = top_screen_line(s, TOP_STYLE_PLAIN);
	int columns = 60, each = (TOP_HISTORY_SECONDS - 1) / columns;
	uint32_t height[60] = { 0 }, most = 0;

	for (int i = 0; i < columns; i++) {
		for (int k = 0; k < each; k++)
			height[i] =
				MAX(height[i],
				    top_model_history(m, (unsigned int)(i * each + k + !ended)));
		most = MAX(most, height[i]);
	}
	for (int i = columns - 1; i >= 0; i--) {
		unsigned int level =
			most ? (unsigned int)(((uint64_t)height[i] * 8 + most - 1) / most) : 0;

		top_put_columns(s, l, TOP_STYLE_PLAIN, s->utf8 ? utf8[level] : plain[level], 1);
	}
	top_put(s, l, TOP_STYLE_PLAIN, " to %u/s, %d min", most, (columns * each + 30) / 60);
}

static void draw_notes(struct top_screen *s, const struct top_view *v, const struct top_table *t,
		       const struct top_model *m, const struct top_about *about)
{
	struct top_line *l;
	unsigned long long lost_amends = top_model_lost_amends(m);

	if (v->filter[0]) {
		l = top_screen_line(s, TOP_STYLE_PLAIN);
		top_put(s, l, TOP_STYLE_STRONG,
			about->filter_later ? "filter from its time on: " : "filter: ");
		top_put_raw(s, l, TOP_STYLE_PLAIN, v->filter, strlen(v->filter), s->width, false);
	}
	if (t->given_up || lost_amends) {
		l = top_screen_line(s, TOP_STYLE_FAILED);
		if (t->given_up)
			top_put(s, l, TOP_STYLE_FAILED,
				"%llu small groups had no room: their exits are with the others  ",
				(unsigned long long)t->given_up);
		if (lost_amends)
			top_put(s, l, TOP_STYLE_FAILED, "%llu corrections came too late",
				lost_amends);
	}
}

void top_draw_head(struct top_screen *s, const struct top_view *v, const struct top_table *t,
		   struct top_model *m, const struct top_about *about)
{
	draw_first(s, v, m, about);
	draw_rates(s, v, m, about);
	draw_sources(s, m, about);
	draw_sparkline(s, m, about->ended);
	draw_notes(s, v, t, m, about);
}
