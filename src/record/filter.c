/* SPDX-License-Identifier: MIT */
/*
 * The grammar of the filter language, by recursive descent, and the life of a filter.
 *
 *	or     = and { ("or" | "||") and }
 *	and    = not { ("and" | "&&") not }
 *	not    = ("not" | "!") not | one
 *	one    = "(" or ")" | "exists" "(" field ")" | field [ test ]
 *	test   = operator value | [ "not" ] "in" "(" value { "," value } ")"
 *
 * Depth is bounded here, and with it the recursion of the evaluation: "and" and "or" have any number of children in
 * one node.
 */
#include "record/filter-internal.h"

#define DEPTH_MAX 64
/* More is no expression that a person wrote. */
#define LENGTH_MAX (64 * 1024)

static int parse_or(struct filter_parser *p);

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct filter_node *n = &f->nodes[i];

		if (n->op == FILTER_TEXT || n->op == FILTER_ACCOUNT || n->op == FILTER_ARGUMENT)
			free(n->text.data);
		else if (n->op == FILTER_PATTERN || n->op == FILTER_LINE)
			filter_pattern_free(n->pattern);
	}
	free(f->nodes);
	free(f->line);
	free(f);
}

/* Returns the index of a new node without children; -ENOMEM. */
static int add_node(struct filter_parser *p, enum filter_op op)
{
	struct filter *f = p->filter;

	if (f->n_nodes == f->size) {
		uint32_t size = f->size ? f->size * 2 : 8;
		struct filter_node *nodes = reallocarray(f->nodes, size, sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		f->nodes = nodes;
		f->size = size;
	}
	f->nodes[f->n_nodes] =
		(struct filter_node){ .op = op, .child = FILTER_NONE, .next = FILTER_NONE };
	return (int)f->n_nodes++;
}

static int add_parent(struct filter_parser *p, enum filter_op op, int child)
{
	int i = add_node(p, op);

	if (i >= 0)
		p->filter->nodes[i].child = (uint32_t)child;
	return i;
}

static int expect(struct filter_parser *p, enum filter_token_kind kind, const char *what)
{
	if (p->token.kind != kind)
		return filter_fail(p, p->token.at, "%s is missing here", what);
	return filter_next(p);
}

static int enter(struct filter_parser *p)
{
	if (++p->depth > DEPTH_MAX)
		return filter_fail(p, p->token.at, "nested deeper than %d levels", DEPTH_MAX);
	return 0;
}

/* One comparison of `field` with the next token. Returns its node. */
static int parse_value(struct filter_parser *p, const struct filter_token *op, int field)
{
	/* Harmless to free until filter_value() has given it something. */
	int i = add_node(p, FILTER_EXISTS);
	struct filter_node *n;
	int r;

	if (i < 0)
		return i;
	n = &p->filter->nodes[i];
	n->field = (uint8_t)field;
	n->compare = op->kind == TOKEN_IN ? COMPARE_EQ : op->compare;
	if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_NUMBER &&
	    p->token.kind != TOKEN_STRING)
		return filter_fail(p, p->token.at, "a value is missing here");
	r = filter_value(p, n, op->kind == TOKEN_MATCH, op, &p->token);
	if (r < 0)
		return r;
	r = filter_next(p);
	return r < 0 ? r : i;
}

/* Behind "in": one node with a comparison for each value. */
static int parse_list(struct filter_parser *p, const struct filter_token *op, int field)
{
	int r = expect(p, TOKEN_OPEN, "( of a list of values");
	int list = -1, last = -1;

	while (r >= 0) {
		int i = parse_value(p, op, field);

		if (i < 0)
			return i;
		if (list < 0)
			list = add_parent(p, FILTER_OR, i);
		else
			p->filter->nodes[last].next = (uint32_t)i;
		if (list < 0)
			return list;
		last = i;
		if (p->token.kind != TOKEN_COMMA)
			break;
		r = filter_next(p);
	}
	if (r >= 0)
		r = expect(p, TOKEN_CLOSE, ") of the list of values");
	return r < 0 ? r : list;
}

static int parse_field(struct filter_parser *p)
{
	const char *name = p->expr + p->token.at;
	int field, r;

	if (p->token.kind != TOKEN_WORD)
		return filter_fail(p, p->token.at, "the name of a field is missing here");
	field = field_find(name, p->token.len);
	if (field < 0)
		return filter_fail_field(p, name, p->token.len, p->token.at);
	r = filter_next(p);
	return r < 0 ? r : field;
}

/* A field of truth values alone is a test by itself. */
static int bare_field(struct filter_parser *p, const struct filter_token *name, int field)
{
	int i;

	if (field_table[field].kind != FIELD_BOOL)
		return filter_fail(p, name->at,
				   "\"%.*s\" is not true or false by itself: compare it with "
				   "something, or ask exists(%.*s)",
				   (int)name->len, p->expr + name->at, (int)name->len,
				   p->expr + name->at);
	i = add_node(p, FILTER_BOOL);
	if (i < 0)
		return i;
	p->filter->nodes[i].field = (uint8_t)field;
	p->filter->nodes[i].compare = COMPARE_EQ;
	p->filter->nodes[i].number = 1;
	return i;
}

static int parse_test(struct filter_parser *p)
{
	const struct filter_token name = p->token;
	int field = parse_field(p), r;
	struct filter_token op;
	bool negated;

	if (field < 0)
		return field;
	negated = p->token.kind == TOKEN_NOT;
	if (negated) {
		r = filter_next(p);
		if (r < 0)
			return r;
		if (p->token.kind != TOKEN_IN)
			return filter_fail(p, p->token.at, "\"in\" is missing here");
	}
	op = p->token;
	if (op.kind != TOKEN_IN && op.kind != TOKEN_COMPARE && op.kind != TOKEN_MATCH)
		return bare_field(p, &name, field);
	r = filter_next(p);
	if (r < 0)
		return r;
	if (op.kind != TOKEN_IN)
		return parse_value(p, &op, field);
	r = parse_list(p, &op, field);
	return r < 0 || !negated ? r : add_parent(p, FILTER_NOT, r);
}

static int parse_exists(struct filter_parser *p)
{
	int r = filter_next(p), field, i;

	if (r >= 0)
		r = expect(p, TOKEN_OPEN, "( of exists(FIELD)");
	if (r < 0)
		return r;
	field = parse_field(p);
	if (field < 0)
		return field;
	r = expect(p, TOKEN_CLOSE, ") of exists(FIELD)");
	if (r < 0)
		return r;
	i = add_node(p, FILTER_EXISTS);
	if (i >= 0)
		p->filter->nodes[i].field = (uint8_t)field;
	return i;
}

static int parse_one(struct filter_parser *p)
{
	int r, i;

	switch (p->token.kind) {
	case TOKEN_EXISTS:
		return parse_exists(p);
	case TOKEN_WORD:
		return parse_test(p);
	case TOKEN_OPEN:
		break;
	case TOKEN_NUMBER:
	case TOKEN_STRING:
		return filter_fail(p, p->token.at,
				   "a comparison starts with a field, as in comm == \"sshd\"");
	default:
		return filter_fail(p, p->token.at, "a comparison is missing here");
	}
	r = enter(p);
	if (r >= 0)
		r = filter_next(p);
	if (r < 0)
		return r;
	i = parse_or(p);
	if (i < 0)
		return i;
	p->depth--;
	r = expect(p, TOKEN_CLOSE, "a closing )");
	return r < 0 ? r : i;
}

static int parse_not(struct filter_parser *p)
{
	int r, i;

	if (p->token.kind != TOKEN_NOT)
		return parse_one(p);
	r = enter(p);
	if (r >= 0)
		r = filter_next(p);
	if (r < 0)
		return r;
	i = parse_not(p);
	p->depth--;
	return i < 0 ? i : add_parent(p, FILTER_NOT, i);
}

/* Operands of one level with the same word between them, as children of one node if there are several. */
static int parse_level(struct filter_parser *p, enum filter_token_kind between, enum filter_op op,
		       int (*parse)(struct filter_parser *p))
{
	int first = parse(p), parent = -1, last = first;

	while (last >= 0 && p->token.kind == between) {
		int r = filter_next(p);
		int i = r < 0 ? r : parse(p);

		if (i < 0)
			return i;
		if (parent < 0)
			parent = add_parent(p, op, first);
		if (parent < 0)
			return parent;
		p->filter->nodes[last].next = (uint32_t)i;
		last = i;
	}
	return parent < 0 ? first : parent;
}

static int parse_and(struct filter_parser *p)
{
	return parse_level(p, TOKEN_AND, FILTER_AND, parse_not);
}

static int parse_or(struct filter_parser *p)
{
	return parse_level(p, TOKEN_OR, FILTER_OR, parse_and);
}

static int parse(struct filter_parser *p)
{
	int r, root;

	if (p->len > LENGTH_MAX)
		return filter_fail(p, LENGTH_MAX, "longer than %d bytes", LENGTH_MAX);
	r = filter_next(p);
	if (r < 0)
		return r;
	root = parse_or(p);
	if (root < 0)
		return root;
	if (p->token.kind == TOKEN_CLOSE)
		return filter_fail(p, p->token.at, "this ) closes nothing");
	if (p->token.kind != TOKEN_END)
		return filter_fail(p, p->token.at,
				   "the expression is complete before this: \"and\" or \"or\" "
				   "is missing");
	p->filter->root = (uint32_t)root;
	return 0;
}

static int compile(struct filter **ret, const char *expr, bool prompt, char *error,
		   size_t error_size)
{
	struct filter_parser p = {
		.expr = expr,
		.len = strlen(expr),
		.prompt = prompt,
		.error = error,
		.error_size = error_size,
	};
	int r;

	if (error_size)
		error[0] = '\0';
	p.filter = calloc(1, sizeof(*p.filter));
	r = p.filter ? parse(&p) : -ENOMEM;
	if (r < 0) {
		if (r == -ENOMEM && error_size)
			snprintf(error, error_size, "filter: out of memory");
		filter_free(p.filter);
		return r;
	}
	*ret = p.filter;
	return 0;
}

int filter_new(struct filter **ret, const char *expr, char *error, size_t error_size)
{
	return compile(ret, expr, false, error, error_size);
}

int filter_new_promptly(struct filter **ret, const char *expr, char *error, size_t error_size)
{
	return compile(ret, expr, true, error, error_size);
}

bool filter_is_costly(const struct filter *f)
{
	return f->line != NULL;
}

void filter_fields(const struct filter *f, uint64_t ret_mask[EXEUNT_PRESENT_WORDS])
{
	memset(ret_mask, 0, EXEUNT_PRESENT_WORDS * sizeof(*ret_mask));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->nodes[i].op >= FILTER_EXISTS)
			field_add(ret_mask, f->nodes[i].field);
}
