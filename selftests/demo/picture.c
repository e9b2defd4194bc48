// SPDX-License-Identifier: GPL-2.0
/* tensordma demo: binary PPM (P6) and PGM (P5) files. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "demo/picture.h"

#define MAX_SIDE	4096

static int read_pixels(struct picture *picture, FILE *file)
{
	size_t bytes;

	if (fscanf(file, "P6 %u %u 255%*c", &picture->width,
		   &picture->height) != 2 ||
	    !picture->width || picture->width > MAX_SIDE ||
	    !picture->height || picture->height > MAX_SIDE) {
		errno = EINVAL;
		return -1;
	}
	picture->channels = 3;
	bytes = 3UL * picture->width * picture->height;
	picture->bytes = malloc(bytes);
	if (!picture->bytes)
		return -1;
	if (fread(picture->bytes, 1, bytes, file) != bytes) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

int picture_load(struct picture *picture, const char *path)
{
	FILE *file = fopen(path, "r");
	int ret;

	if (!file)
		return -1;
	ret = read_pixels(picture, file);
	fclose(file);
	return ret;
}

int picture_save(const struct picture *picture, const char *directory,
		 const char *name)
{
	size_t bytes = (size_t)picture->width * picture->height *
		       picture->channels;
	char path[PATH_MAX];
	FILE *file;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/%s.%s", directory, name,
		 picture->channels == 3 ? "ppm" : "pgm");
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "P%d\n%u %u\n255\n", picture->channels == 3 ? 6 : 5,
		picture->width, picture->height);
	if (fwrite(picture->bytes, 1, bytes, file) != bytes)
		ret = -1;
	if (fclose(file))
		ret = -1;
	return ret;
}
