//go:build cgo

package idgen

// #include "idgen_go_callbacks.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/cgo"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
	"unsafe"
)

// Store is a store of the program's own, for [WithHostStore] with kind = segment. [SQLStore] is one for databases. With
// workers too it is a [WorkerStore].
//
// Each call is one atomic, durable step, and returns when its commit is acknowledged, not before. It may come from any
// thread, the library's own included, and from several at once, but never from the fast path. It must not use the
// generator.
//
// The context ends after store_timeout, or with the context of the running New or Close. A store that does not listen
// to it has no time limit but its own.
//
// An error means that the outcome is unknown: the numbers in question are then never issued by anyone. An *[Error] or a
// [Status] is passed on as it is. Any other error, and a panic, becomes ErrHost, which is retried.
type Store interface {
	// SegmentTake does max_id += count for the tag, and returns the first number of the grant, the old max_id + 1.
	SegmentTake(ctx context.Context, namespace, tag string, count int64) (first int64, err error)
	// SegmentReturn: if max_id == last, max_id = last - unused. Otherwise it does nothing, because another process has
	// drawn since.
	SegmentReturn(ctx context.Context, namespace, tag string, last, unused int64) error
}

// AboveStore is a store that serials with a date (kind = serial) can be drawn from.
type AboveStore interface {
	Store
	// SegmentTakeAbove does max_id = max(max_id, above) + count for the tag, and returns the first number of the grant.
	SegmentTakeAbove(ctx context.Context, namespace, tag string, count, above int64) (first int64, err error)
}

// WorkerStore is a store of the program's own that keeps a row for each worker, with a lease, for kind = snowflake. All
// else is as for [Store].
//
// The library decides, by the rules of its own stores, what a row becomes. The store only reads rows, and changes one
// if it is still what was read: so no worker's time is granted twice. Its clock is one that all clients share.
type WorkerStore interface {
	Store
	// NamespaceFormat returns the format of the namespace, "" if it has none. If it has none and format is not "", it
	// gets that one first, unless somebody else is faster.
	NamespaceFormat(ctx context.Context, namespace, format string) (found string, err error)
	// WorkerRead returns the worker's row, with the store's clock of the same moment. A worker without a row has the
	// fence 0.
	WorkerRead(ctx context.Context, namespace string, worker int64) (WorkerRow, error)
	// WorkerList returns all workers of the namespace that have a row.
	WorkerList(ctx context.Context, namespace string) ([]WorkerRow, error)
	// WorkerReplace changes the row if it is as change says that it was seen; true if it did. Compare and set: one
	// step.
	WorkerReplace(ctx context.Context, namespace string, change WorkerChange) (changed bool, err error)
}

// WorkerRow is a worker of a namespace as a [WorkerStore] keeps it. Times are Unix ms or ms.
type WorkerRow struct {
	Worker       int64  // the number of all node fields together
	Fence        int64  // of the latest grant; 0: there is no row, and of the rest only StoreNowMs counts
	Owner        string // 32 hexadecimal digits; "": the worker was given up
	HwMs         int64  // the end of the latest window, exclusive
	LeaseLeftMs  int64  // how long the owner's lease lasts by the store's clock; 0 or below: it has ended
	ClockAheadMs int64  // the owner's clock minus the store's, as of the latest window
	StoreNowMs   int64  // the store's clock as the row was read
	Holder       string // who had the latest window, "process 4711 on db-3"
}

// WorkerChange is how a [WorkerStore] is to change a worker's row: compare and set.
type WorkerChange struct {
	Worker    int64
	SeenFence int64 // the row must still have these three; 0: there must be no row yet, and one is made
	SeenOwner string
	SeenHwMs  int64
	Fence     int64  // what the row has afterwards
	Owner     string // "": given up. The lease then ends now, ClockAheadMs stays, and the last three are 0
	HwMs      int64
	Holder    string
	LeaseMs   int64 // the lease ends this long after the store's clock
	NowMs     int64 // this program's clock: ClockAheadMs becomes NowMs minus the store's clock ...
	MaxLeadMs int64 // ... and if it is above this, the row is not changed
}

// WithHostStore sets a store of the program's own, in place of one that the library opens ([WithStore]): an [SQLStore]
// or a [Store]. A [WorkerStore] serves kind = snowflake too, as an SQLStore does.
func WithHostStore(store any) Option { return storeOption{store, nil} }

type storeOption struct {
	store any
	ctx   context.Context // of a call that makes no generator
}

func (o storeOption) apply(c *config) error {
	set := func(handle C.uintptr_t) (failure C.idgen_go_failure) {
		return C.idgen_go_config_set_sql_store(c.handle, handle)
	}
	switch store := o.store.(type) {
	case nil:
		return &Error{Status: ErrArgument,
			Message: "the store is nil; leave WithHostStore out to use the property store"}
	case *SQLStore:
		if store == nil || store.db == nil || store.dialect < MySQL || store.dialect > SQLite {
			return &Error{Status: ErrArgument,
				Message: "NewSQLStore needs a *sql.DB and one of MySQL, Postgres, SQLite"}
		}
	case Store:
		hasWorkers := C.int(0)
		if _, has := store.(WorkerStore); has {
			hasWorkers = 1
		}
		set = func(handle C.uintptr_t) (failure C.idgen_go_failure) {
			return C.idgen_go_config_set_store(c.handle, handle, hasWorkers)
		}
	default:
		return &Error{Status: ErrArgument,
			Message: fmt.Sprintf("WithHostStore needs a Store or an *SQLStore; %T is neither", store)}
	}
	c.store = &storeSink{}
	c.store.store.Store(&o.store)
	if o.ctx != nil {
		c.store.caller.Store(&o.ctx)
	}
	handle := cgo.NewHandle(c.store)
	err := keepOrDelete(handle, set(C.uintptr_t(handle)))
	if err == nil {
		sinks.Store(c.store, nil)
	}
	return err
}

// storeSink is what the core refers to. The store is separate, so that it can be released before the core's memory.
type storeSink struct {
	store   atomic.Pointer[any]
	caller  atomic.Pointer[context.Context] // of a New, a Close or the like that is running; else nil
	timeout time.Duration                   // store_timeout

	// The store's latest two errors, by the number that the core returns with the errors of the calls that fail for it.
	// A map, because the store answers on another thread or later. Two, because a call may still carry one while the
	// next attempt fails.
	mutex    sync.Mutex
	returned [2]failedAttempt
}

type failedAttempt struct {
	number uint64
	err    error
}

// The sinks of all stores, until the core releases them.
var (
	sinks    sync.Map // of *storeSink to nothing
	attempts atomic.Uint64
)

func (s *storeSink) keep(failed ...failedAttempt) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(failed) == 0 {
		s.returned = [2]failedAttempt{}
		return
	}
	s.returned = [2]failedAttempt{failed[0], s.returned[0]}
}

// failed keeps an error, and returns the number that it has.
func (s *storeSink) failed(err error) (number C.uint64_t) {
	attempt := failedAttempt{attempts.Add(1), err}
	s.keep(attempt)
	return C.uint64_t(attempt.number)
}

// forget lets the store go, and what it returned.
func (s *storeSink) forget() {
	s.store.Store(nil)
	s.keep()
}

// causeOf finds what a store returned by its number; nil if newer errors have replaced it.
func causeOf(number uint64) (causes []error) {
	if number == 0 {
		return nil
	}
	sinks.Range(func(key, _ any) bool {
		sink := key.(*storeSink)
		sink.mutex.Lock()
		defer sink.mutex.Unlock()
		for _, attempt := range sink.returned {
			if attempt.number == number {
				causes = []error{attempt.err}
			}
		}
		return causes == nil
	})
	return causes
}

// asksFor makes the store's calls end with ctx, until the function that it returns is called.
func (s *storeSink) asksFor(ctx context.Context) (done func()) {
	if s == nil {
		return func() {}
	}
	s.caller.Store(&ctx)
	return func() { s.caller.CompareAndSwap(&ctx, nil) }
}

// context is the context of one call to the store.
func (s *storeSink) context() (context.Context, context.CancelFunc) {
	ctx := context.Background()
	if caller := s.caller.Load(); caller != nil {
		ctx = *caller
	}
	return context.WithTimeout(ctx, s.timeout)
}

//export idgenGoSegmentTake
func idgenGoSegmentTake(sink C.uintptr_t, namespace, tag *C.char, count, above C.uint64_t, first *C.uint64_t,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) (err error) {
		var granted int64
		// Without it, the core sees that the grant does not begin above, and says so.
		if numbers, has := store.(AboveStore); has && above > 0 {
			granted, err = numbers.SegmentTakeAbove(ctx, C.GoString(namespace), C.GoString(tag), int64(count),
				int64(above))
		} else {
			granted, err = store.SegmentTake(ctx, C.GoString(namespace), C.GoString(tag), int64(count))
		}
		*first = C.uint64_t(max(granted, 0)) // the core refuses 0
		return err
	})
}

//export idgenGoSegmentReturn
func idgenGoSegmentReturn(sink C.uintptr_t, namespace, tag *C.char, last, unused C.uint64_t,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) error {
		return store.SegmentReturn(ctx, C.GoString(namespace), C.GoString(tag), int64(last), int64(unused))
	})
}

//export idgenGoNamespaceFormat
func idgenGoNamespaceFormat(sink C.uintptr_t, namespace, format, found *C.char, size C.size_t,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) error {
		text, err := store.(WorkerStore).NamespaceFormat(ctx, C.GoString(namespace), C.GoString(format))
		copyText(unsafe.Slice(found, int(size)), text)
		return err
	})
}

//export idgenGoWorkerRead
func idgenGoWorkerRead(sink C.uintptr_t, namespace *C.char, worker C.uint64_t, row *C.idgen_worker_row_t,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) error {
		found, err := store.(WorkerStore).WorkerRead(ctx, C.GoString(namespace), int64(worker))
		found.fill(row)
		return err
	})
}

//export idgenGoWorkerList
func idgenGoWorkerList(sink C.uintptr_t, namespace *C.char, each C.idgen_worker_row_fn, rows unsafe.Pointer,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) error {
		all, err := store.(WorkerStore).WorkerList(ctx, C.GoString(namespace))
		for i := range all {
			var row C.idgen_worker_row_t
			all[i].fill(&row)
			C.idgen_go_add_row(each, rows, &row)
		}
		return err
	})
}

//export idgenGoWorkerReplace
func idgenGoWorkerReplace(sink C.uintptr_t, change *C.idgen_worker_change_t, changed *C.uint32_t,
	failure *C.idgen_error_t) C.idgen_status_t {
	return askStore(sink, failure, func(ctx context.Context, store Store) error {
		done, err := store.(WorkerStore).WorkerReplace(ctx, C.GoString(change.name_space), WorkerChange{
			Worker:    int64(change.worker),
			SeenFence: int64(change.seen_fence),
			SeenOwner: C.GoString(change.seen_owner),
			SeenHwMs:  int64(change.seen_hw_ms),
			Fence:     int64(change.fence),
			Owner:     C.GoString(change.owner),
			HwMs:      int64(change.hw_ms),
			Holder:    C.GoString(change.holder),
			LeaseMs:   int64(change.lease_ms),
			NowMs:     int64(change.now_ms),
			MaxLeadMs: int64(change.max_lead_ms),
		})
		if done {
			*changed = 1
		}
		return err
	})
}

func (r WorkerRow) fill(row *C.idgen_worker_row_t) {
	row.struct_size = C.uint32_t(unsafe.Sizeof(*row))
	row.worker = C.uint64_t(r.Worker)
	row.fence = C.uint64_t(r.Fence) // the core refuses what is negative
	row.hw_ms = C.int64_t(r.HwMs)
	row.lease_left_ms = C.int64_t(r.LeaseLeftMs)
	row.clock_ahead_ms = C.int64_t(r.ClockAheadMs)
	row.store_now_ms = C.int64_t(r.StoreNowMs)
	copyText(row.owner[:], r.Owner)
	copyText(row.holder[:], r.Holder)
}

// copyText writes a C string, cut at a character if it is longer.
func copyText(to []C.char, text string) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&to[0])), len(to))
	text = strings.ReplaceAll(text, "\x00", " ")
	end := min(len(text), len(to)-1)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	bytes[copy(bytes, text[:end])] = 0
}

func askStore(handle C.uintptr_t, failure *C.idgen_error_t, ask func(context.Context, Store) error) C.idgen_status_t {
	sink := cgo.Handle(handle).Value().(*storeSink)
	err := sink.ask(func(ctx context.Context, store any) error { return ask(ctx, store.(Store)) })
	if err == nil {
		sink.keep()
	} else {
		failure.cause = sink.failed(err)
	}
	return tell(failure, err)
}

func (s *storeSink) ask(call func(ctx context.Context, store any) error) (err error) {
	defer recovered(&err)
	store := s.store.Load()
	if store == nil {
		return &Error{Status: ErrStoreUnavailable, Message: "the generator was closed, and its store let go"}
	}
	ctx, cancel := s.context()
	defer cancel()
	return call(ctx, *store)
}

// recovered makes a panic an error, because it must not unwind through the core.
func recovered(err *error) {
	if found := recover(); found != nil {
		*err = fmt.Errorf("panic: %v", found)
	}
}

// tell writes a store's error in the form that the core takes.
func tell(failure *C.idgen_error_t, err error) C.idgen_status_t {
	if err == nil {
		return C.IDGEN_OK
	}
	var known *Error
	var status Status
	message := ""
	switch {
	case errors.As(err, &known):
		status, message = known.Status, known.Message
		failure.retry_after_ns = C.uint64_t(max(known.RetryAfter, 0))
		if known.endsWaits {
			failure.retry_after_ns = C.IDGEN_ENDS_WAITS
		}
	case errors.As(err, &status):
		message = textOf(err)
	default:
		status, message = ErrHost, "the program's own store: "+textOf(err)
	}
	if status == C.IDGEN_OK {
		status = ErrHost
	}
	copyText(failure.message[:], message)
	return C.idgen_status_t(status)
}

// What connection strings and drivers' messages may hold. It is better to hide too much than too little.
var (
	passwordOfURL = regexp.MustCompile(`(://[^\s:/@]*):\S*@`)
	password      = regexp.MustCompile(`(?i)\b(\w*(?:password|passwd|pwd|secret|token))(['"]?\s*[=:]\s*)` +
		`('[^']*'|"[^"]*"|[^\s&;,)]+)`)
)

// textOf returns an error in words, without what looks like a password.
func textOf(err error) string {
	text := passwordOfURL.ReplaceAllString(strings.Join(strings.Fields(err.Error()), " "), "$1:***@")
	return password.ReplaceAllString(text, "$1$2***")
}
