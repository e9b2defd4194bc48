/* SPDX-License-Identifier: GPL-2.0 */
/* tdma: names of the numbers in descriptors, records and trace entries. */
#ifndef TDMA_NAMES_H
#define TDMA_NAMES_H

/* NULL at the end of each; a hole is "" */
extern const char *const opcode_names[];
extern const char *const type_names[];
extern const char *const request_names[];
extern const char *const stall_names[];

/* "?" for what has no name */
const char *name_of(const char *const *names, unsigned int number);
/* -1: no such name */
int number_of(const char *const *names, const char *name);
const char *status_name(unsigned int status);

#endif /* TDMA_NAMES_H */
