/*
 * The statuses of idgen.h: what a call returns. Included by idgen.h; include that.
 * Made by scripts/statuses from core/include/idgen/statuses.def. Do not edit.
 *
 * The numbers never change. New ones are added within the families below, so a program that gets a number it
 * does not know can still act on its family. idgen_status_is_retryable says which are retryable.
 */
#ifndef IDGEN_STATUS_H
#define IDGEN_STATUS_H

#include <stdint.h>

typedef int32_t idgen_status_t; /* 0 = OK; fixed width, not a C enum */

#define IDGEN_OK 0

/* 1..19: the call or the configuration is wrong. Retrying cannot help. */
#define IDGEN_E_ARGUMENT 1     /* a NULL pointer, an invalid struct_size or number */
#define IDGEN_E_HANDLE 2       /* NULL or a handle of another type */
#define IDGEN_E_BUFFER 3       /* the buffer is too small; the size needed was written back */
#define IDGEN_E_UNKNOWN_KEY 4  /* no property has this name; the message names the nearest */
#define IDGEN_E_VALUE 5        /* the value is not of the property's type or out of its range */
#define IDGEN_E_LAYOUT 6       /* the layout does not parse or does not add up */
#define IDGEN_E_LIFETIME 7     /* epoch in the future, time field already over, or fewer years left than lifetime_min */
#define IDGEN_E_CONFIG_FILE 8  /* the TOML or key file is missing, unreadable or malformed, or has no such table */
#define IDGEN_E_TEXT 9         /* text that is not an id in this encoding; the message has the position */
#define IDGEN_E_UNSUPPORTED 10 /* known, but not for this kind of generator, layout or build */

/* 20..39: the state of the generator forbids the call. */
#define IDGEN_E_CLOSED 20      /* idgen_close was called on this handle */
#define IDGEN_E_FORKED 21      /* this is a child process, which cannot reacquire what its parent holds */
#define IDGEN_E_WOULD_BLOCK 22 /* no id without waiting; call the function that may wait. Retryable */
#define IDGEN_E_WORKER_BUSY 23 /* another live generator owns this worker; the message says which process. Retryable */
#define IDGEN_E_EXHAUSTED 24   /* the layout has no ids left: its time or its segment field is used up */
#define IDGEN_E_CANCELLED 25   /* the cancelled() callback of an idgen_*_wait asked to stop */
#define IDGEN_E_OVERLOADED 26  /* waited wait_max for the next tick of the clock. Retryable */
#define IDGEN_E_STALE 27       /* a table of routes: another version is in force than the caller expected */

/* 40..59: the clock is wrong. */
#define IDGEN_E_CLOCK_BACK 40         /* the clock is behind the last id, by more than the policy allows. Retryable */
#define IDGEN_E_CLOCK_BEFORE_EPOCH 41 /* the clock is before the layout's epoch */
#define IDGEN_E_CLOCK_LEAP 42         /* the clock leapt far ahead; nothing is reserved until it stays so. Retryable */

/* 60..79: the store did not do what was asked. */
#define IDGEN_E_STORE_UNAVAILABLE 60 /* the store is busy, unreachable or slow; nothing reserved is left. Retryable */
#define IDGEN_E_STORE_MISSING 61     /* the store does not exist, and store_create is off */
#define IDGEN_E_STORE_PERMISSION 62  /* the store is not readable or not writable */
#define IDGEN_E_STORE_FULL 63        /* no space is left on the store's device. Retryable */
#define IDGEN_E_STORE_DAMAGED 64     /* not a database, not one of idgen, or corrupt */
#define IDGEN_E_STORE_VERSION 65     /* the store was made by another version of idgen; the message says what to do */
#define IDGEN_E_TAG_UNKNOWN 66       /* the segment tag was not created */
#define IDGEN_E_TAG_EXISTS 67        /* the segment tag already exists */
#define IDGEN_E_STORE_REGRESSED 68   /* the store granted numbers again: it lost a commit. Issuing has stopped */
#define IDGEN_E_FORMAT_MISMATCH 69   /* the namespace is in use with another layout, epoch, stride, pattern or key */
#define IDGEN_E_STORE_UNSAFE 70      /* a setting or file system of the store can lose a commit */

/* 80..99: resources and defects. */
#define IDGEN_E_NO_MEMORY 80 /* out of memory */
#define IDGEN_E_INTERNAL 90  /* a defect in idgen: please report the message */

/* 1000 and above: a status of the host's own store, passed through. */
#define IDGEN_E_HOST 1000 /* this and above: the statuses of a host's own store */

#endif
