/* SPDX-License-Identifier: MIT */
/* See since-last.h. */
#include "cmd/since-last.h"

#include <sys/stat.h>

#include "cmd/cmd.h"
#include "store/cursor.h"

int since_last_recall(char **paths, int n, const char *name, int64_t *ret_position)
{
	struct stat st;
	int r;

	if (!name)
		return -1;
	if (n != 1 || stat(paths[0], &st) || !S_ISDIR(st.st_mode))
		return cmd_usage_error("report ",
				       "--since-last goes with the directory of one store");
	if (!store_cursor_is_name(name))
		return cmd_usage_error(
			"report ",
			"--since-last=%s: expected a name of letters, digits, '-', '_' and '.'",
			name);
	r = store_cursor_read(paths[0], name, ret_position);
	if (r >= 0)
		return -1;
	cmd_error("the position '%s/cursor-%s' cannot be read: %s; remove it to begin anew",
		  paths[0], name, strerror(-r));
	return CMD_FAILED;
}

int since_last_remember(const char *dir, const char *name, int64_t position)
{
	int r = position ? store_cursor_write(dir, name, position) : 0;

	if (r >= 0)
		return CMD_DONE;
	cmd_error(
		"the position in '%s' cannot be remembered: %s; the next report will tell of this again",
		dir, strerror(-r));
	return CMD_FAILED;
}
