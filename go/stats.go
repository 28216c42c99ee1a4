//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"runtime"
	"time"
	"unsafe"
)

// Stats holds counts of this process, over all handles that share a generator's state.
type Stats struct {
	Handles         uint32        // that share this state
	Granted         uint64        // numbers (segment) or ms of time (snowflake) that the store has committed to us
	Remaining       uint64        // of those, not yet issued
	Refills         uint64        // grants taken
	RefillFailures  uint64        // store calls that failed
	RefillMax       time.Duration // the slowest store call
	Waits           uint64        // calls that had to wait: for the clock or the store
	Waited          time.Duration // time spent in these waits
	StoreWaits      uint64        // of Waits, those for the store: rises only after a pause or in an outage
	ClockBackEvents uint64        // times the clock was found behind ids already issued
	Forks           uint64        // times this state was started over in a child process
	Lead            time.Duration // how far the last id's time is ahead of the clock; 0 when not ahead, or without time
	Issued          uint64        // numbers or ms given out: Granted - Remaining; once closed, less what was given back
	Rate            uint64        // ids per second, as the refills measured it; 0 is unknown; always 0 for a snowflake
	StockSeconds    float64       // how long Remaining lasts; +Inf when nothing is drawn or the rate is unknown
	BreakerRedis    uint32        // of store = "buffer": 0 closed, 1 half-open, 2 open: Redis is left alone for a while
	BreakerDatabase uint32        // the same for the database; both 0 for other stores
	BufferStock     uint64        // numbers left in Redis when it was last seen

	Stopped          error     // nil, or what calls get instead of ids: compare it by errors.Is
	LastError        error     // the store's latest failure, whether or not it is over; nil: none so far
	LastFailureAt    time.Time // when that was
	RedisFailures    uint64    // of store = "buffer": calls of Redis that failed
	DatabaseFailures uint64    // the same for the database; both 0 for other stores

	// Numbers (segment) or ms of time (snowflake) that the layout still holds, above our latest grant; MaxUint64 is
	// unknown.
	LayoutLeft uint64
	TagLeft    uint64 // numbers below 2^63 that the tag still holds; MaxUint64 is unknown, as for a snowflake
	IssuedIDs  uint64 // ids given out, also those of a snowflake, where Issued is time
}

// Stats returns what the generator has done. Does not wait for the store.
func (g *Generator) Stats() (Stats, error) {
	result := C.idgen_go_stats_of(g.pointer())
	runtime.KeepAlive(g)
	if err := failed(result.failure); err != nil {
		return Stats{}, err
	}
	s := result.stats
	var lastError error
	var lastFailureAt time.Time
	if s.last_failure != C.IDGEN_OK {
		lastError = &Error{Status: Status(s.last_failure), Message: C.GoString(&s.last_error[0])}
		lastFailureAt = time.UnixMilli(int64(s.last_failure_unix_ms))
	}
	return Stats{
		Handles: uint32(s.handles), Granted: uint64(s.granted), Remaining: uint64(s.remaining),
		Refills:        uint64(s.refills),
		RefillFailures: uint64(s.refill_failures), RefillMax: time.Duration(s.refill_ns_max), Waits: uint64(s.waits),
		Waited: time.Duration(s.wait_ns), StoreWaits: uint64(s.store_waits),
		ClockBackEvents: uint64(s.clock_back_events), Forks: uint64(s.forks),
		Lead:   time.Duration(s.lead_ms) * time.Millisecond,
		Issued: uint64(s.issued), Rate: uint64(s.rate), StockSeconds: float64(s.stock_seconds),
		BreakerRedis: uint32(s.breaker_redis), BreakerDatabase: uint32(s.breaker_database),
		BufferStock: uint64(s.buffer_stock),
		Stopped:     failedStatus(s.stopped), LastError: lastError, LastFailureAt: lastFailureAt,
		RedisFailures: uint64(s.redis_failures), DatabaseFailures: uint64(s.database_failures),
		LayoutLeft: uint64(s.layout_left), TagLeft: uint64(s.tag_left),
		IssuedIDs: uint64(s.issued_ids),
	}, nil
}

// Metrics returns the figures of the generators, closed ones too, in the Prometheus text format 0.0.4: metrics idgen_*
// with the labels name, namespace, kind and process. Generators that share a worker's state count once; different ones
// with the same labels become one sample. Serve it as "text/plain; version=0.0.4". Errors: ErrHandle for a nil
// generator.
func Metrics(generators ...*Generator) (string, error) {
	if err := checkABI(); err != nil {
		return "", err
	}
	handles := make([]C.uintptr_t, len(generators))
	for i, g := range generators {
		handles[i] = g.pointer()
	}
	result := C.idgen_go_metrics(unsafe.SliceData(handles), C.size_t(len(handles)))
	runtime.KeepAlive(generators)
	if err := failed(result.failure); err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(result.text))
	return C.GoString(result.text), nil
}
