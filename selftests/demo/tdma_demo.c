// SPDX-License-Identifier: GPL-2.0
/*
 * tensordma demo: a photograph through the DMA engine.
 *
 * usage: tdma_demo PHOTO.ppm [DIRECTORY]
 *
 * Each picture operation is one descriptor. Results are compared with a plain
 * loop nest and written to the directory; then a larger job shows its progress
 * while it runs, and the curated rows of cases.tsv are replayed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "kselftest.h"
#include "demo/picture.h"
#include "tdma_ref.h"
#include "tdma_replay.h"

#define ZOOM		10
#define BAR_WIDTH	40
#define MAX_FAMILIES	16

struct demo {
	int fd;
	struct tdma_query caps;
	struct picture photo;		/* as loaded */
	struct tdma_buf pixels;		/* the photo, in pinned user memory */
	struct tdma_buf planes;		/* planar, in device memory */
	struct tdma_buf out;		/* any result, in pinned user memory */
	const char *directory;
	unsigned int failed;
};

/* One operation: which descriptor, and what its result looks like. */
struct operation {
	const char *title;
	const char *file;
	void (*describe)(const struct demo *demo, struct tdma_desc *d,
			 struct picture *result);
};

static void die(const char *what, int error)
{
	fprintf(stderr, "tdma_demo: %s: %s\n", what, strerror(error));
	exit(KSFT_FAIL);
}

/*
 * The operations. W and H are the photo's, dimension 0 is the innermost, the
 * arguments of tdma_dim() are steps, source stride and destination stride.
 */

static void to_planar(const struct demo *demo, struct tdma_desc *d,
		      struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = tdma_desc_copy(demo->pixels.handle, demo->planes.handle, 1);
	tdma_dim(d, w, 3, 1);
	tdma_dim(d, h, 3 * w, w);
	tdma_dim(d, 3, 1, w * h);
	/* Three grey pictures, one below the other */
	result->channels = 1;
	result->height = 3 * h;
}

static void to_interleaved(const struct demo *demo, struct tdma_desc *d,
			   struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = tdma_desc_copy(demo->planes.handle, demo->out.handle, 1);
	tdma_dim(d, 3, w * h, 1);
	tdma_dim(d, w, 1, 3);
	tdma_dim(d, h, w, 3 * w);
}

static struct tdma_desc of_pixels(const struct demo *demo, __u32 elem_bytes)
{
	return tdma_desc_copy(demo->pixels.handle, demo->out.handle,
			      elem_bytes);
}

static void transpose(const struct demo *demo, struct tdma_desc *d,
		      struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = of_pixels(demo, 3);
	tdma_dim(d, h, 3 * w, 3);
	tdma_dim(d, w, 3, 3 * h);
	result->width = h;
	result->height = w;
}

/* A transpose that reads the rows from the last to the first */
static void rotate(const struct demo *demo, struct tdma_desc *d,
		   struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	transpose(demo, d, result);
	d->src_offset = 3 * w * (h - 1);
	d->src_stride[0] = -3 * w;
}

static void mirror(const struct demo *demo, struct tdma_desc *d,
		   struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = of_pixels(demo, 3);
	d->src_offset = 3 * (w - 1);
	tdma_dim(d, w, -3, 3);
	tdma_dim(d, h, 3 * w, 3 * w);
}

/* Whole rows are the elements */
static void upside_down(const struct demo *demo, struct tdma_desc *d,
			struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = of_pixels(demo, 3 * w);
	d->src_offset = 3 * w * (h - 1);
	tdma_dim(d, h, -3 * w, 3 * w);
}

static void crop(const struct demo *demo, struct tdma_desc *d,
		 struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;

	*d = of_pixels(demo, 3);
	d->src_offset = h / 4 * 3 * w + w / 4 * 3;
	tdma_dim(d, w / 2, 3, 3);
	tdma_dim(d, h / 2, 3 * w, w / 2 * 3);
	result->width = w / 2;
	result->height = h / 2;
}

/* Every second pixel, and a stride of zero to have it four times */
static void tile(const struct demo *demo, struct tdma_desc *d,
		 struct picture *result)
{
	__s64 w = demo->photo.width, h = demo->photo.height;
	__s64 row = w / 2 * 3;

	*d = of_pixels(demo, 3);
	tdma_dim(d, w / 2, 6, 3);
	tdma_dim(d, 2, 0, row);
	tdma_dim(d, h / 2, 6 * w, 2 * row);
	tdma_dim(d, 2, 0, h / 2 * 2 * row);
	result->width = w / 2 * 2;
	result->height = h / 2 * 2;
}

/* Bytes backwards within each pixel: red and blue change places */
static void swap_colours(const struct demo *demo, struct tdma_desc *d,
			 struct picture *result)
{
	__s64 pixels = demo->photo.width * demo->photo.height;

	*d = of_pixels(demo, 1);
	d->src_offset = 2;
	tdma_dim(d, 3, -1, 1);
	tdma_dim(d, pixels, 3, 3);
}

static const struct operation operations[] = {
	{ "interleaved to planar", "planar", to_planar },
	{ "planar to interleaved", "interleaved", to_interleaved },
	{ "transpose", "transpose", transpose },
	{ "rotate by 90 degrees", "rotate", rotate },
	{ "mirror left to right", "mirror", mirror },
	{ "upside down, by rows", "upside-down", upside_down },
	{ "crop the middle", "crop", crop },
	{ "shrink and tile 2 x 2", "tile", tile },
	{ "swap red and blue", "swap", swap_colours },
};

static struct tdma_buf *buffer_of(struct demo *demo, __u32 handle)
{
	if (handle == demo->pixels.handle)
		return &demo->pixels;
	return handle == demo->planes.handle ? &demo->planes : &demo->out;
}

/* Run on the device and on the images; true if all of memory agrees. */
static bool run_and_compare(struct demo *demo, const struct tdma_desc *d,
			    struct tdma_record *rec)
{
	union tdma_slot slot = { .desc = *d };
	struct tdma_buf *src = buffer_of(demo, d->src_segment);
	struct tdma_buf *dst = buffer_of(demo, d->dst_segment);
	int ret = tdma_run(demo->fd, &slot, rec);

	if (ret)
		die("job", -ret);
	tdma_ref_run(d, NULL, src->image, dst->image);
	return rec->status == TDMA_STATUS_OK &&
	       tdma_buf_diff(src) == src->len &&
	       tdma_buf_diff(dst) == dst->len;
}

static void print_shape(const struct tdma_desc *d)
{
	char text[64] = "";
	size_t at = 0;

	for (int i = d->ndims - 1; i >= 0; i--)
		at += snprintf(text + at, sizeof(text) - at, "%u%s",
			       d->steps[i], i ? " x " : "");
	printf("%-22s %5u B", text, d->elem_bytes);
}

static void run_operation(struct demo *demo, const struct operation *op)
{
	struct picture result = demo->photo;
	struct tdma_record rec;
	struct tdma_desc d;
	__u64 elements, bytes;
	bool good;

	op->describe(demo, &d, &result);
	good = run_and_compare(demo, &d, &rec);
	elements = tdma_ref_elements(&d);
	bytes = elements * d.elem_bytes;
	printf("%-22s ", op->title);
	print_shape(&d);
	printf("%9llu %8llu %8llu %6.2f  %s\n", elements, bytes, rec.cycles,
	       rec.cycles ? (double)bytes / rec.cycles : 0.0,
	       good ? "equal" : "WRONG");
	demo->failed += !good;
	result.bytes = buffer_of(demo, d.dst_segment)->mem;
	if (demo->directory && picture_save(&result, demo->directory, op->file))
		die(op->file, errno);
}

static void run_operations(struct demo *demo)
{
	printf("\n%-22s %-22s %7s %8s %8s %8s %6s  %s\n", "job",
	       "steps, outermost first", "element", "elements", "bytes",
	       "cycles", "B/cyc", "result");
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		run_operation(demo, &operations[i]);
}

/* Each pixel ZOOM x ZOOM times: strides of zero on the source side */
static struct tdma_desc zoom_desc(const struct demo *demo, __u32 dst)
{
	__s64 w = demo->photo.width, h = demo->photo.height;
	__s64 row = w * ZOOM * 3;
	struct tdma_desc d = tdma_desc_copy(demo->pixels.handle, dst, 3);

	tdma_dim(&d, ZOOM, 0, 3);
	tdma_dim(&d, w, 3, 3 * ZOOM);
	tdma_dim(&d, ZOOM, 0, row);
	tdma_dim(&d, h, 3 * w, row * ZOOM);
	d.flags = TDMA_DESC_DST_PER_MILLE;
	d.dst_sync_interval = 100;
	return d;
}

/* What a consumer may do with a part that is ready: its mean brightness */
static unsigned int brightness(const unsigned char *bytes, __u64 len)
{
	__u64 sum = 0, count = 0;

	for (__u64 i = 0; i < len; i += 61) {
		sum += bytes[i];
		count++;
	}
	return count ? sum / count : 0;
}

static void print_bar(unsigned int percent)
{
	putchar('[');
	for (unsigned int i = 0; i < BAR_WIDTH; i++)
		putchar(i * 100 < percent * BAR_WIDTH ? '#' : '.');
	printf("] %3u %%", percent);
}

/* Use each tenth of the result as soon as it is in memory (A39). */
static unsigned int consume(struct demo *demo, __u64 job, __u64 elements,
			    const unsigned char *mem)
{
	struct tdma_wait wait = { .size = sizeof(wait), .job = job };
	__u64 seen = 0;
	__s64 start = tdma_now();
	unsigned int early = 0;

	while (seen < elements) {
		bool last = seen + elements / 10 >= elements;

		wait.min_dst_done = last ? 0 : seen + elements / 10;
		wait.deadline_ns = tdma_patience();
		if (ioctl(demo->fd, TDMA_IOC_WAIT, &wait))
			die("wait", errno);
		print_bar(wait.record.dst_done * 100 / elements);
		printf(" %8llu pixels at %6.1f ms, mean of new part %3u%s\n",
		       wait.record.dst_done, (tdma_now() - start) / 1e6,
		       brightness(mem + 3 * seen,
				  3 * (wait.record.dst_done - seen)),
		       wait.record.status ? "" : ", engine at work");
		early += !wait.record.status;
		seen = wait.record.dst_done;
		if (wait.record.status)
			break;
	}
	return seen == elements && wait.record.status == TDMA_STATUS_OK ?
	       early : -1U;
}

static void run_progress(struct demo *demo)
{
	__u64 pixels = (__u64)demo->photo.width * demo->photo.height *
		       ZOOM * ZOOM;
	struct tdma_submit report;
	struct tdma_desc d;
	struct tdma_buf big;
	unsigned int early;
	int ret = tdma_buf_create(&big, demo->fd, TDMA_MEM_USER, 3 * pixels);

	if (ret)
		die("memory for the zoom", -ret);
	d = zoom_desc(demo, big.handle);
	printf("\nzoom by %d, %llu bytes, each part used once it is there:\n",
	       ZOOM, 3 * pixels);
	ret = tdma_submit(demo->fd, &d, 1, &report);
	if (ret)
		die("zoom", -ret);
	early = consume(demo, report.first_job, pixels, big.mem);
	tdma_ref_run(&d, NULL, demo->pixels.image, big.image);
	if (early == -1U || tdma_buf_diff(&big) != big.len) {
		printf("zoom: WRONG\n");
		demo->failed++;
	} else {
		printf("zoom: equal; %u parts used while others were moving\n",
		       early);
	}
	tdma_buf_destroy(&big, demo->fd);
}

struct family {
	char name[16];
	unsigned int passed;
	unsigned int skipped;
	unsigned int failed;
	__u64 bytes;
	__u64 cycles;
};

static struct family *find_family(struct family *list, const char *name)
{
	int i = 0;

	while (i < MAX_FAMILIES - 1 && *list[i].name &&
	       strcmp(list[i].name, name))
		i++;
	snprintf(list[i].name, sizeof(list[i].name), "%s", name);
	return &list[i];
}

static void replay_core(struct tdma_replay *r, struct family *list)
{
	struct tdma_verdict v;
	struct tdma_row row;
	FILE *file = tdma_table_open();

	if (!file)
		die("cases.tsv", errno);
	while (tdma_table_next(file, &row) > 0) {
		struct family *family = find_family(list, row.family);

		if (!strcmp(row.tier, "core")) {
			tdma_replay_row(r, &row, &v);
			family->passed += v.result == KSFT_PASS;
			family->skipped += v.result == KSFT_SKIP;
			family->failed += v.result == KSFT_FAIL;
			family->bytes += v.bytes;
			family->cycles += v.cycles;
			if (v.result == KSFT_FAIL)
				printf("%s: WRONG: %s\n", row.name, v.why);
		}
		tdma_row_free(&row);
	}
	fclose(file);
}

static void run_cases(struct demo *demo)
{
	struct family list[MAX_FAMILIES] = {};
	struct tdma_replay r = {};
	int ret = tdma_replay_open(&r);

	if (ret)
		die("cases", -ret);
	printf("\n%-12s %6s %7s %6s %10s %10s   curated rows of cases.tsv\n",
	       "family", "equal", "not yet", "wrong", "bytes", "cycles");
	replay_core(&r, list);
	demo->failed += !tdma_replay_clean(&r);
	for (int i = 0; i < MAX_FAMILIES; i++) {
		const struct family *f = &list[i];

		if (!(f->passed + f->skipped + f->failed))
			continue;
		printf("%-12s %6u %7u %6u %10llu %10llu\n", f->name, f->passed,
		       f->skipped, f->failed, f->bytes, f->cycles);
		demo->failed += f->failed;
	}
	printf("not yet: gathers, scatters, sorts and scans need the tiles\n");
}

static void set_up(struct demo *demo, const char *path)
{
	size_t bytes;
	int ret;

	if (picture_load(&demo->photo, path))
		die(path, errno);
	bytes = 3UL * demo->photo.width * demo->photo.height;
	demo->fd = tdma_open(0);
	if (demo->fd < 0)
		die(tdma_path(), -demo->fd);
	ret = tdma_query(demo->fd, &demo->caps);
	if (!ret)
		ret = tdma_buf_create(&demo->pixels, demo->fd, TDMA_MEM_USER,
				      bytes);
	if (!ret)
		ret = tdma_buf_create(&demo->planes, demo->fd, TDMA_MEM_HBM,
				      bytes);
	if (!ret)
		ret = tdma_buf_create(&demo->out, demo->fd, TDMA_MEM_USER,
				      bytes);
	if (ret)
		die("set-up", -ret);
	memcpy(demo->pixels.mem, demo->photo.bytes, bytes);
	memcpy(demo->pixels.image, demo->photo.bytes, bytes);
}

static void print_header(const struct demo *demo, const char *path)
{
	const struct tdma_query *caps = &demo->caps;

	printf("%s: %u DMA threads, %u addresses per cycle and side,\n",
	       tdma_path(), caps->threads, caps->lanes);
	printf("\t%u request IDs, %llu MiB of device memory, %s fidelity\n",
	       caps->request_ids, caps->hbm_bytes >> 20,
	       caps->features & TDMA_FEATURE_CYCLE ? "cycle" : "fast");
	printf("%s: %u x %u pixels of 3 bytes\n", path, demo->photo.width,
	       demo->photo.height);
}

int main(int argc, char **argv)
{
	struct demo demo = {};

	if (argc < 2) {
		fprintf(stderr, "usage: tdma_demo PHOTO.ppm [DIRECTORY]\n");
		return KSFT_FAIL;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	demo.directory = argc > 2 ? argv[2] : NULL;
	set_up(&demo, argv[1]);
	print_header(&demo, argv[1]);
	run_operations(&demo);
	run_progress(&demo);
	run_cases(&demo);
	printf("\n%s\n", demo.failed ? "FAILED" : "everything is equal");
	return demo.failed ? KSFT_FAIL : KSFT_PASS;
}
