# SPDX-License-Identifier: GPL-2.0-or-later
# The smallest x86_64 machine that runs a guest with tensordma devices:
# configure --without-default-devices --with-devices-x86_64=tensordma
CONFIG_Q35=y
CONFIG_VTD=y
CONFIG_PCIE_PORT=y
CONFIG_VIRTIO_PCI=y
CONFIG_VIRTIO_IOMMU=y
CONFIG_VIRTIO_SERIAL=y
CONFIG_NVME_PCI=y
CONFIG_EDU=y
CONFIG_ISA_DEBUG=y
CONFIG_TENSORDMA=y
