/* SPDX-License-Identifier: MIT */
/*
 * Feeds the files of the folders named on the command line to a fuzz harness, one call a file, so that the corpus
 * runs as an ordinary test with any compiler. A folder without a file is a failure: an empty corpus tests nothing.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "fuzz/fuzz.h"

/* Exactly as large as the input, so that a sanitizer sees a read past its end. */
static void replay_file(const char *path)
{
	_cleanup_file_
	FILE *f = fopen(path, "rb");
	_cleanup_free_
	uint8_t *data = NULL;
	size_t size;
	long end;

	if (!f)
		err(1, "%s", path);
	if (fseek(f, 0, SEEK_END) < 0 || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) < 0)
		err(1, "%s", path);
	size = (size_t)end;
	data = malloc(size ? size : 1);
	if (!data)
		err(1, "%s", path);
	if (fread(data, 1, size, f) != size)
		errx(1, "%s: cannot read all of it", path);
	/* Before the call: if it does not return, this is the last line. */
	printf("%s (%zu bytes)\n", path, size);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, size);
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static unsigned int replay_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, is_input, alphasort);

	if (n < 0)
		err(1, "%s", folder);
	for (int i = 0; i < n; i++) {
		_cleanup_free_
		char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			err(1, "%s", folder);
		replay_file(path);
		free(entries[i]);
	}
	free(entries);
	return (unsigned int)n;
}

int main(int argc, char **argv)
{
	unsigned int total = 0;

	if (argc < 2)
		errx(2, "usage: %s FOLDER...", argv[0]);
	for (int i = 1; i < argc; i++) {
		unsigned int n = replay_folder(argv[i]);

		if (!n)
			errx(1, "%s: no input in this folder", argv[i]);
		total += n;
	}
	printf("%u inputs\n", total);
	return 0;
}
