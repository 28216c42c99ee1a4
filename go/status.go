//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"time"
)

// Status says what went wrong. Its values are the sentinels to compare errors with: errors.Is(err, ErrClosed). They are
// the numbers of the C API, the same in all languages, and never change. Statuses from [ErrHost] on belong to a host's
// own store.
type Status int32

// The call or the configuration is wrong: retrying cannot help.
const (
	ErrArgument    Status = C.IDGEN_E_ARGUMENT    // an invalid number
	ErrHandle      Status = C.IDGEN_E_HANDLE      // a nil or zero Generator or Layout
	ErrBuffer      Status = C.IDGEN_E_BUFFER      // a buffer is too small
	ErrUnknownKey  Status = C.IDGEN_E_UNKNOWN_KEY // no property has this name; the message names the nearest
	ErrValue       Status = C.IDGEN_E_VALUE       // a value that is not of its type or out of its range
	ErrLayout      Status = C.IDGEN_E_LAYOUT      // the layout does not parse or does not add up
	ErrLifetime    Status = C.IDGEN_E_LIFETIME    // epoch in the future, or too few years left
	ErrConfigFile  Status = C.IDGEN_E_CONFIG_FILE // the file is missing, unreadable or malformed, or has no such table
	ErrText        Status = C.IDGEN_E_TEXT        // text that is not an id; the message has the position
	ErrUnsupported Status = C.IDGEN_E_UNSUPPORTED // known, but not for this kind of generator, layout or build
)

// The state of the generator.
const (
	ErrClosed     Status = C.IDGEN_E_CLOSED      // Close was called
	ErrForked     Status = C.IDGEN_E_FORKED      // a forked child; Go programs do not fork without exec
	ErrWouldBlock Status = C.IDGEN_E_WOULD_BLOCK // of calls that never wait: call the one that may
	ErrWorkerBusy Status = C.IDGEN_E_WORKER_BUSY // another live generator owns this worker
	ErrExhausted  Status = C.IDGEN_E_EXHAUSTED   // the layout has no ids left
	ErrCancelled  Status = C.IDGEN_E_CANCELLED   // the context ended while waiting
	ErrOverloaded Status = C.IDGEN_E_OVERLOADED  // waited wait_max for the next tick of the clock
	ErrStale      Status = C.IDGEN_E_STALE       // a table of routes: another version is in force than was expected
)

// The clock.
const (
	// Behind the ids already issued, by more than the policy allows.
	ErrClockBack        Status = C.IDGEN_E_CLOCK_BACK
	ErrClockBeforeEpoch Status = C.IDGEN_E_CLOCK_BEFORE_EPOCH // before the layout's epoch
	// Far ahead at once; nothing is reserved there until it stays so.
	ErrClockLeap Status = C.IDGEN_E_CLOCK_LEAP
)

// The store.
const (
	// Busy, unreachable or too slow, and nothing reserved is left.
	ErrStoreUnavailable Status = C.IDGEN_E_STORE_UNAVAILABLE
	ErrStoreMissing     Status = C.IDGEN_E_STORE_MISSING    // the store does not exist, and store_create is off
	ErrStorePermission  Status = C.IDGEN_E_STORE_PERMISSION // not readable, or not writable
	ErrStoreFull        Status = C.IDGEN_E_STORE_FULL       // no space left on the device
	ErrStoreDamaged     Status = C.IDGEN_E_STORE_DAMAGED    // not a database, not ours, or corrupt
	// Made by another version of idgen; the message says what to do.
	ErrStoreVersion   Status = C.IDGEN_E_STORE_VERSION
	ErrTagUnknown     Status = C.IDGEN_E_TAG_UNKNOWN     // the segment tag was not created
	ErrTagExists      Status = C.IDGEN_E_TAG_EXISTS      // CreateSegment: the tag already exists
	ErrStoreRegressed Status = C.IDGEN_E_STORE_REGRESSED // the store lost a commit; issuing stops
	ErrFormatMismatch Status = C.IDGEN_E_FORMAT_MISMATCH // the namespace is in use with another layout or epoch
	ErrStoreUnsafe    Status = C.IDGEN_E_STORE_UNSAFE    // a setting or file system that can lose a commit
)

// Resources, defects, and the host's own.
const (
	ErrNoMemory Status = C.IDGEN_E_NO_MEMORY
	ErrInternal Status = C.IDGEN_E_INTERNAL // a defect in idgen: please report the message
	ErrHost     Status = C.IDGEN_E_HOST     // this and above: the statuses of a host's own store
)

// Name is "CLOCK_BACK" for ErrClockBack, the same in all languages; "UNKNOWN" for a number that is no status.
func (s Status) Name() string { return C.GoString(C.idgen_status_name(C.idgen_status_t(s))) }

// Error is one sentence on what the status means in general. It makes a Status an error, so that it can be a sentinel.
func (s Status) Error() string { return C.GoString(C.idgen_status_message(C.idgen_status_t(s))) }

// Retryable reports whether the same call can succeed later without anyone changing anything.
func (s Status) Retryable() bool { return C.idgen_status_is_retryable(C.idgen_status_t(s)) != 0 }

// Statuses returns all statuses of this build, in the order of their numbers.
func Statuses() []Status {
	all := make([]Status, 0, int(C.idgen_status_count()))
	for i := range cap(all) {
		all = append(all, Status(C.idgen_status_at(C.size_t(i))))
	}
	return all
}

// Error is what every failed call of this package returns.
type Error struct {
	Status Status
	// What was asked, what was found, what is allowed, what to do; the same text in every language.
	Message    string
	RetryAfter time.Duration // when a retry can first succeed; 0 = unknown, or retrying cannot help

	// For a cancelled wait: why the context ended. For a failure of the program's own store: what it returned.
	causes []error
	// From a store: the caller may hold what the store waits for, so it must not wait any longer.
	endsWaits bool
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Name of the status: "CLOCK_BACK".
func (e *Error) Name() string { return e.Status.Name() }

// Retryable reports whether the same call can succeed later without anyone changing anything.
func (e *Error) Retryable() bool { return e.Status.Retryable() }

// Unwrap makes errors.Is and errors.As work with the status, with what ended the context of a cancelled wait, and with
// what the program's own store returned.
func (e *Error) Unwrap() []error { return append([]error{e.Status}, e.causes...) }

// failed turns a failure of the C side into an error, and frees it.
func failed(failure C.idgen_go_failure) error {
	if failure.status == C.IDGEN_OK {
		return nil
	}
	return newError(failure)
}

func newError(failure C.idgen_go_failure) *Error {
	e := &Error{Status: Status(failure.status)}
	if failure.error != nil {
		e.Message = C.GoString(&failure.error.message[0])
		e.RetryAfter = time.Duration(min(uint64(failure.error.retry_after_ns), 1<<63-1))
		e.causes = causeOf(uint64(failure.error.cause))
		C.idgen_go_error_free(failure.error)
	}
	if e.Message == "" {
		e.Message = e.Status.Error()
	}
	return e
}

// failedStatus is for calls that give no details.
func failedStatus(status C.idgen_status_t) error {
	if status == C.IDGEN_OK {
		return nil
	}
	return &Error{Status: Status(status), Message: Status(status).Error()}
}
