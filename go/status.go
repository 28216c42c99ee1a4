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
