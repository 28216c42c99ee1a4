//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import "runtime"

// owner determines how long a handle of the C side lives. All copies of a Generator or Layout refer to the same owner.
type owner struct {
	// Of a generator. Being pointers they also keep the owner from being allocated together with other small objects,
	// whose cleanups may never run.
	log   *logSink
	store *storeSink
}

func newOwner(handle C.uintptr_t, destroy func(C.uintptr_t)) *owner {
	o := &owner{}
	runtime.AddCleanup(o, destroy, handle)
	return o
}
