//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

// Quiesce prepares this process for being copied: by a checkpoint, a snapshot of its machine, or a clone. All
// generators give back what they have reserved, and their workers, and close their connections. Until Reset, calls for
// ids wait, up to wait_max, and return ErrStoreUnavailable. Other goroutines should draw no ids meanwhile: one that was
// drawn before and not yet returned is returned in each copy. A store that is copied too, such as a SQLite file on the
// machine's disk, grants the same numbers again in each copy: use one outside. May block on the stores.
func Quiesce() error {
	return failed(C.idgen_go_quiesce())
}

// Reset is called in each copy, and in the original: nothing that was reserved before is issued any more, and each
// generator starts over with its next call, as another owner. In a copy that was made without Quiesce nothing is given
// back, because it is also the original's, and a fixed worker is refused (ErrWorkerBusy) while the original lives. May
// block on the stores.
func Reset() error {
	return failed(C.idgen_go_reset())
}
