// SPDX-License-Identifier: GPL-2.0
/* Transpose a 4 x 3 matrix of bytes: the example of the README. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <linux/tensordma.h>

int main(void)
{
	char in[13] = "abcdefghijkl", out[13] = "";
	int fd = open("/dev/tensordma0", O_RDWR);
	struct tdma_buf_pin src = { .size = sizeof(src), .flags = TDMA_BUF_READ,
		.addr = (unsigned long)in, .length = 12 };
	struct tdma_buf_pin dst = { .size = sizeof(dst),
		.flags = TDMA_BUF_WRITE, .addr = (unsigned long)out,
		.length = 12 };
	if (ioctl(fd, TDMA_IOC_BUF_PIN, &src) ||
	    ioctl(fd, TDMA_IOC_BUF_PIN, &dst))
		return perror("pin"), 1;

	struct tdma_desc desc = { .version = TDMA_DESC_VERSION,
		.opcode = TDMA_OP_COPY, .ndims = 2, .elem_bytes = 1,
		.src_segment = src.handle, .dst_segment = dst.handle,
		.steps = { 3, 4 },		/* innermost first */
		.src_stride = { 4, 1 },		/* bytes: down a column of in */
		.dst_stride = { 1, 3 } };	/* along a row of out */
	struct tdma_submit submit = { .size = sizeof(submit), .count = 1,
		.descs = (unsigned long)&desc, .stride = sizeof(desc) };
	if (ioctl(fd, TDMA_IOC_SUBMIT, &submit))
		return perror("submit"), 1;

	struct tdma_wait wait = { .size = sizeof(wait), .job = submit.first_job,
		.deadline_ns = TDMA_WAIT_FOREVER };
	if (ioctl(fd, TDMA_IOC_WAIT, &wait))
		return perror("wait"), 1;
	printf("status %u, %llu elements: %s -> %s\n", wait.record.status,
	       (unsigned long long)wait.record.dst_done, in, out);
	return wait.record.status != TDMA_STATUS_OK;
}
