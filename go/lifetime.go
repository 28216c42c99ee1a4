//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import "runtime"

// lifetime determines how long a handle of the C side lives. All copies of a Generator or Layout refer to the same one.
type lifetime struct {
	// Of a generator. Being pointers they also keep this from being allocated together with other small objects,
	// whose cleanups may never run.
	log   *logSink
	store *storeSink

	waiters waiters
	gate    gate
}

func newLifetime(handle C.uintptr_t, destroy func(C.uintptr_t)) *lifetime {
	l := &lifetime{}
	runtime.AddCleanup(l, destroy, handle)
	return l
}
