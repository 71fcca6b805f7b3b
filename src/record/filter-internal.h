/* SPDX-License-Identifier: MIT */
/*
 * What the files of the filter language share: tokens, the compiled nodes, the parser's state. Nobody else includes
 * this. filter-lex.c cuts the text into tokens, filter.c has the grammar, filter-value.c turns a value into what its
 * field is compared with, filter-names.c looks accounts up, filter-pattern.c has regular expressions, filter-error.c the
 * messages, filter-match.c the evaluation.
 */
#ifndef RECORD_FILTER_INTERNAL_H
#define RECORD_FILTER_INTERNAL_H

#include "base/util.h"
#include "record/fields.h"
#include "record/filter.h"

enum filter_token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_OPEN,
	TOKEN_CLOSE,
	TOKEN_COMMA,
	TOKEN_COMPARE, /* == != < <= > >= */
	TOKEN_MATCH,   /* ~ !~ */
	TOKEN_AND,
	TOKEN_OR,
	TOKEN_NOT,
	TOKEN_IN,
	TOKEN_EXISTS
};

/* Which outcomes of a comparison are wanted, as a set. */
enum { COMPARE_LESS = 1, COMPARE_EQUAL = 2, COMPARE_GREATER = 4 };
#define COMPARE_EQ COMPARE_EQUAL
#define COMPARE_NE (COMPARE_LESS | COMPARE_GREATER)

struct filter_token {
	enum filter_token_kind kind;
	uint8_t compare; /* of _COMPARE: a set of outcomes; of _MATCH: _EQ for ~ and _NE for !~ */
	size_t at;	 /* offset in the expression */
	size_t len;
};

enum filter_op {
	FILTER_AND, /* of all children */
	FILTER_OR,
	FILTER_NOT, /* of the one child */
	FILTER_EXISTS,
	FILTER_I32, /* a number of this width against `number` */
	FILTER_I64,
	FILTER_U32,
	FILTER_U64,
	FILTER_BOOL,
	FILTER_TEXT,	 /* bytes equal to `text` */
	FILTER_ACCOUNT,	 /* the same, or its id where the record has no name */
	FILTER_ARGUMENT, /* one of the arguments equal to `text` */
	FILTER_SOURCE,	 /* bit `number` of a mask of sources */
	FILTER_PATH,	 /* bit `number` of presence words */
	FILTER_PATTERN,	 /* bytes that `pattern` finds something in */
	FILTER_LINE	 /* the same for the arguments as one line */
};

#define FILTER_NONE UINT32_MAX

/* Signed numbers are kept and compared with this added, so that one unsigned comparison serves both. */
#define FILTER_SIGN_BIAS (UINT64_C(1) << 63)

struct filter_pattern;

struct filter_text {
	char *data;
	size_t len;
};

struct filter_node {
	uint8_t op;
	uint8_t compare;
	uint8_t field;
	bool has_id;
	uint32_t child; /* the first, or FILTER_NONE */
	uint32_t next;	/* the next child of the same parent, or FILTER_NONE */
	uint32_t id;	/* _ACCOUNT: the uid or gid of the name on this host, if has_id */
	union {
		uint64_t number;
		struct filter_text text;
		struct filter_pattern *pattern;
	};
};

_Static_assert(EXEUNT_F_COUNT <= UINT8_MAX, "a field must fit into a node");

/* What a regular expression is given at most; the kernel cuts names and paths far below that. */
#define FILTER_LINE_SIZE (256 * 1024)

struct filter {
	struct filter_node *nodes;
	uint32_t n_nodes;
	uint32_t size;
	uint32_t root;
	char *line; /* FILTER_LINE_SIZE bytes and a NUL, if a node needs it: what is searched, in one piece */
};

struct filter_parser {
	const char *expr;
	size_t len;
	struct filter_token token; /* the next one */
	unsigned int depth;
	bool prompt; /* see filter_new_promptly() */
	unsigned int looked_up;
	struct filter *filter;
	char *error;
	size_t error_size;
};

/* Moves on to the next token. -EINVAL if there is none that the language knows. */
int filter_next(struct filter_parser *p);

/* The bytes of a string token without quotes and escapes, with a NUL behind that does not count. To be freed. */
int filter_unquote(const struct filter_parser *p, const struct filter_token *t,
		   struct filter_text *ret);

/* True if the token's text is `word`, in any case. */
bool filter_is_word(const struct filter_parser *p, const struct filter_token *t, const char *word);

/*
 * Fills op, compare and operand of `n`, whose field and compare are set, from a value. `match`: the operator was ~.
 * What it allocated belongs to the node, also when it fails.
 */
int filter_value(struct filter_parser *p, struct filter_node *n, bool match,
		 const struct filter_token *op, const struct filter_token *value);

/* A value for a field of numbers or times: sets n->number, and may have to change n->compare. */
int filter_number(struct filter_parser *p, struct filter_node *n, const struct filter_token *value);
int filter_time(struct filter_parser *p, struct filter_node *n, const struct filter_token *value);

/* The number of that account on this host; false if there is none. */
bool filter_user_id(struct filter_parser *p, const char *name, uint32_t *ret);
bool filter_group_id(struct filter_parser *p, const char *name, uint32_t *ret);

/* The word of the schema for an enum exeunt_cause; NULL for any other number. */
const char *filter_cause_name(unsigned int cause);

/* `text` has a NUL behind; it is not kept. On -EINVAL `why` says what is wrong. */
int filter_pattern_new(struct filter_pattern **ret, const char *text, size_t len, char *why,
		       size_t why_size);
void filter_pattern_free(struct filter_pattern *p);
bool filter_pattern_is_plain(const struct filter_pattern *p);

/* `scratch` has room for FILTER_LINE_SIZE bytes and a NUL; a plain pattern does without. */
bool filter_pattern_match(const struct filter_pattern *p, const char *data, size_t len,
			  char *scratch);

/* Writes the message with place and caret. Returns -EINVAL, always. */
int filter_fail(struct filter_parser *p, size_t at, const char *format, ...) PRINTF(3, 4);

/* The same for a word that is not known: `name(i)` for i = 0, 1 ... has those that are, until it returns NULL. */
int filter_fail_word(struct filter_parser *p, const struct filter_token *t, const char *what,
		     const char *(*name)(unsigned int i));

/* The same for a name that no field has, or several have. */
int filter_fail_field(struct filter_parser *p, const char *name, size_t len, size_t at);

#endif
