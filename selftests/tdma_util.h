/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tensordma selftests: the device file, one thin call per ioctl.
 *
 * Every call returns 0 (or what is documented) or a negative errno, so that a
 * test names the expected result in one place.
 */
#ifndef TDMA_UTIL_H
#define TDMA_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/tensordma.h>
#include <linux/tensordma_regs.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#endif

/* Longest time any single job of these tests may take under emulation. */
#define TDMA_PATIENCE_MS	20000

/* A ring slot as TDMA_IOC_SUBMIT takes it. */
union tdma_slot {
	struct tdma_desc desc;
	struct tdma_desc_ext ext;
};

/* Where the memory of a buffer comes from. */
enum tdma_mem {
	TDMA_MEM_USER,		/* anonymous memory, pinned */
	TDMA_MEM_HOST,		/* TDMA_ALLOC_HOST, mapped */
	TDMA_MEM_HBM,		/* TDMA_ALLOC_HBM, mapped */
};

/*
 * A buffer and what it must contain. The whole length is compared after each
 * job, so every byte that a job must not touch is a sentinel.
 */
struct tdma_buf {
	unsigned char *mem;
	unsigned char *image;
	size_t len;
	__u32 handle;
};

/* Device file under test: $TDMA_DEV, or /dev/tensordma0. */
const char *tdma_path(void);
int tdma_open(int flags);
/* Exit with KSFT_SKIP, and say why, if there is no such device. */
void tdma_require_device(void);
/* $name as a number, or @fallback. */
unsigned long tdma_env(const char *name, unsigned long fallback);
/* True on a machine too slow for the full stress loops. */
bool tdma_slow(void);
size_t tdma_page_size(void);

int tdma_query(int fd, struct tdma_query *query);
int tdma_pin(int fd, void *addr, __u64 length, __u32 flags, __u32 *handle);
int tdma_alloc(int fd, __u32 space, __u64 length, __u32 *handle,
	       __u64 *mmap_offset);
int tdma_free(int fd, __u32 handle);
/* Fills in @report (may be NULL) whatever the result. */
int tdma_submit(int fd, const void *slots, __u32 count,
		struct tdma_submit *report);
int tdma_wait(int fd, __u64 job, __s64 deadline_ns, struct tdma_record *rec);
/* Submit one job, with its extension block if it has one, and see it end. */
int tdma_run(int fd, const union tdma_slot *slots, struct tdma_record *rec);

/* Priority of the file, or a negative errno */
int tdma_get_priority(int fd);
int tdma_set_priority(int fd, __u32 priority);

__s64 tdma_now(void);
/* TDMA_PATIENCE_MS from now; more on a slow machine. */
__s64 tdma_patience(void);

int tdma_buf_create(struct tdma_buf *buf, int fd, enum tdma_mem kind,
		    size_t len);
void tdma_buf_destroy(struct tdma_buf *buf, int fd);
/* Offset of the first byte that differs from the image, or @len. */
size_t tdma_buf_diff(const struct tdma_buf *buf);

/* Pages pinned by the whole system: acquired minus released; -1 = unknown. */
long tdma_pins(void);
/* Wait until tdma_pins() is @wanted; the last value seen. */
long tdma_pins_settle(long wanted);

/* Building descriptors: start with the two sides, then add dimensions. */
struct tdma_desc tdma_desc_copy(__u32 src, __u32 dst, __u32 elem_bytes);
struct tdma_desc tdma_desc_memset(__u32 dst, __u32 elem_bytes,
				  const void *fill, __u8 fill_bytes);
/* The next dimension outwards. */
void tdma_dim(struct tdma_desc *d, __u32 steps, __s64 src_stride,
	      __s64 dst_stride);

#endif /* TDMA_UTIL_H */
