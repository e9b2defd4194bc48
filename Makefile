# SPDX-License-Identifier: GPL-2.0
# Entry points for people. What kbuild needs is in Kbuild.
#
# Every target sets up what it lacks, so any of them may be the first.

# Silences "Entering directory" of the recursive calls.
MAKEFLAGS += --no-print-directory

TOOLS := tools

export ARGS TDMA_DIR

help: ## this list (the default)
	@echo "tensordma: an emulated tensor DMA engine, its Linux driver, their tests"
	@echo
	@awk -F ':.*## ' '/^[a-z_-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))
	@echo
	@echo "Variables:"
	@echo "  ARGS=...          tdma: the command's words, e.g. ARGS='copy a.npy b.npy --pad 1'"
	@echo "  T=NAME            check: only tests whose name contains NAME (make check T=list lists)"
	@echo "  TDMA_KERNELS=...  check-debug: debug (default), rt, kcsan, mainline"
	@echo "  DEVICE_OPTS=...   properties of the device, e.g. fidelity=cycle,lanes=8"
	@echo "  KDIR= KERNEL=     build tree and image of another guest kernel"
	@echo "  QEMU_SRC= QEMU=   another QEMU source tree, or a ready binary with the device"
	@echo "  TENSORDMA_CACHE=  where QEMU and kernel files are kept (~/.cache/tensordma)"
	@echo "  DRIVER_OPTS=...   module parameters, e.g. hang_timeout_ms=500"
	@echo "  GUEST_TIMEOUT=N   seconds a boot of the guest may take (600)"
	@echo "  JOBS=N            parallel compilations"
	@echo "  CHECK_JOBS=N      check: suites that run at the same time (2)"

setup: ## install what is missing, build QEMU with the device
	@$(TOOLS)/setup/setup.sh all

setup-base:
	@$(TOOLS)/setup/setup.sh base

guest: setup-base ## driver, selftests and initramfs
	@$(TOOLS)/guest/build.sh

modules: setup-base ## only tensordma.ko (and dmatest.ko)
	@$(TOOLS)/guest/build.sh modules

run: guest ## boot the guest, run a real tensor job, bring its image out
	@$(TOOLS)/guest/run.sh

shell: guest ## boot the guest to an interactive shell
	@$(TOOLS)/guest/boot.sh shell

tools: ## the tdma command, for the host (build/tools/tdma)
	@$(TOOLS)/setup/packages.sh base
	@$(TOOLS)/guest/build.sh tools

tdma: guest ## one line of the tdma command in a guest: ARGS=, files of TDMA_DIR=
	@eval "set -- $$ARGS"; $(TOOLS)/guest/tdma.sh "$$@"

report: ## pictures of traces that tdma wrote: ARGS='A.json [B.json] -o R.html'
	@$(TOOLS)/setup/packages.sh report
	@eval "set -- $$ARGS"; $(TOOLS)/report/report.py "$$@"

check: setup ## all tests; ends in "N passed, N failed"
	@$(TOOLS)/check/check.sh $(T)

check-debug: setup ## the guest's tests on a kernel with all its debugging on
	@$(TOOLS)/check/debug.sh $(T)

run_tests: check

lint: setup ## style and static checks
	@$(TOOLS)/lint/lint.sh

bench: ## speed of the device model against memcpy, NumPy and oneDNN
	@$(TOOLS)/setup/packages.sh all
	@$(TOOLS)/setup/packages.sh bench
	@$(MAKE) -C qemu-device/tests bench

bench-guest: ## latency and throughput in the guest against io_uring and memcpy
	@$(TOOLS)/setup/packages.sh bench
	@$(MAKE) guest
	@$(TOOLS)/guest/boot.sh bench

clean: ## remove build/
	rm -rf build

distclean: clean ## also remove the cache
	@. $(TOOLS)/lib.sh && echo "rm -rf $$TDMA_CACHE" && rm -rf "$$TDMA_CACHE"

distclean: SHELL := /bin/bash

.DEFAULT:
	@echo "tensordma: there is no target $@; make help lists them" >&2; exit 2

.PHONY: help setup setup-base guest modules run shell tools tdma report check \
	check-debug run_tests lint bench bench-guest clean distclean
