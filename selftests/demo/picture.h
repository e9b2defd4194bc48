/* SPDX-License-Identifier: GPL-2.0 */
/* tensordma demo: binary PPM (P6) and PGM (P5) files. */
#ifndef DEMO_PICTURE_H
#define DEMO_PICTURE_H

struct picture {
	unsigned int width;
	unsigned int height;
	unsigned int channels;		/* 3: P6, 1: P5 */
	unsigned char *bytes;
};

/* Both return 0, or -1 with errno set. */
int picture_load(struct picture *picture, const char *path);
int picture_save(const struct picture *picture, const char *directory,
		 const char *name);

#endif /* DEMO_PICTURE_H */
