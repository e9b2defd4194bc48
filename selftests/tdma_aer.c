// SPDX-License-Identifier: GPL-2.0
/* tensordma selftests: errors of the bus; see tdma_aer.h. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>
#include <linux/netlink.h>

#include "tdma_aer.h"
#include "tdma_util.h"

#define MALFORMED_TLP	0x40000		/* PCI_ERR_UNC_MALF_TLP, fatal */

/* What drivers/pci/pcie/aer_inject.c reads. */
struct aer_error_inj {
	__u8 bus;
	__u8 dev;
	__u8 fn;
	__u32 uncor_status;
	__u32 cor_status;
	__u32 header_log[4];
	__u32 domain;
};

int tdma_aer_inject(const struct tdma_sysfs *sysfs)
{
	struct aer_error_inj error = { .uncor_status = MALFORMED_TLP };
	unsigned int domain, bus, dev, fn;
	int fd, ret = 0;

	if (sscanf(sysfs->name, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4)
		return -EINVAL;
	error.domain = domain;
	error.bus = bus;
	error.dev = dev;
	error.fn = fn;
	fd = open(TDMA_AER_INJECT, O_WRONLY);
	if (fd < 0)
		return -errno;
	if (write(fd, &error, sizeof(error)) != sizeof(error))
		ret = -errno;
	close(fd);
	return ret;
}

int tdma_aer_listen(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = 1,		/* of the kernel, not of udev */
	};
	int fd, ret;

	fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
		    NETLINK_KOBJECT_UEVENT);
	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Does a message of strings, one behind the other, have this one? */
static bool has(const char *message, size_t length, const char *wanted)
{
	const char *end = message + length;

	for (; message < end; message += strlen(message) + 1)
		if (!strcmp(message, wanted))
			return true;
	return false;
}

static int verdict(const char *message, size_t length,
		   const struct tdma_sysfs *sysfs)
{
	char name[64];

	snprintf(name, sizeof(name), "PCI_SLOT_NAME=%s", sysfs->name);
	if (!has(message, length, name))
		return -EAGAIN;
	if (has(message, length, "ERROR_EVENT=FAILED_RECOVERY"))
		return 0;
	if (has(message, length, "ERROR_EVENT=SUCCESSFUL_RECOVERY"))
		return -EEXIST;
	return -EAGAIN;
}

int tdma_aer_failed(int socket, const struct tdma_sysfs *sysfs)
{
	struct pollfd pfd = { .fd = socket, .events = POLLIN };
	__s64 deadline = tdma_patience();
	char message[4096];
	ssize_t got;
	int ret;

	while (tdma_now() < deadline) {
		if (poll(&pfd, 1, 1000) != 1)
			continue;
		got = recv(socket, message, sizeof(message) - 1, 0);
		if (got < 0)
			return -errno;
		message[got] = '\0';
		ret = verdict(message, got, sysfs);
		if (ret != -EAGAIN)
			return ret;
	}
	return -ETIME;
}
