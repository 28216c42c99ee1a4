//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"runtime"

	"github.com/idgen/idgen/go/internal/kit"
)

type testOption struct {
	start, sequence int64
	clock           func(firstUnixMs int64) any
}

func (o testOption) apply(c *config) error {
	began := C.idgen_go_test_begin(c.handle, C.int64_t(o.start), C.int64_t(o.sequence))
	if err := failed(began.failure); err != nil {
		return err
	}
	c.store = nil // the generator has its own
	return WithClock(o.clock(int64(began.value)).(Clock)).apply(c)
}

func init() {
	kit.Begin = func(start, sequence int64, clock func(int64) any) any { return testOption{start, sequence, clock} }
	kit.FailNext = func(generator any, calls int64, status int32) error {
		defer runtime.KeepAlive(generator)
		return failed(C.idgen_go_test_fail_next(generator.(*Generator).handle, C.int64_t(calls), C.int32_t(status)))
	}
	kit.FailAfter = func(generator any, ids int64, status int32) error {
		defer runtime.KeepAlive(generator)
		return failed(C.idgen_go_test_fail_after(generator.(*Generator).handle, C.int64_t(ids), C.int32_t(status)))
	}
	kit.Recover = func(generator any) error {
		defer runtime.KeepAlive(generator)
		return failed(C.idgen_go_test_recover(generator.(*Generator).handle))
	}
}
