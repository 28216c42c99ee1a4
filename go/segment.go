//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"time"
	"unsafe"
)

// SegmentInfo is the state of a tag in the store.
type SegmentInfo struct {
	MaxID   int64     // highest number granted so far; the next id is above it
	Grants  uint64    // how often a range was granted, or the counter advanced
	Updated time.Time // when the row last changed, by the clock of the machine that changed it
	Step    uint64    // numbers per grant, as set by the operator; 0: each generator uses its own segment.step
	Rate    uint64    // ids per second that the holder drew when it took the latest grant; 0 is unknown
	Holder  string    // who took the latest grant, "process 4711 on db-3"; "" is unknown
}

// SegmentRow is a tag in the list of a store's tags.
type SegmentRow struct {
	Namespace string
	Tag       string
	SegmentInfo
}

// CreateStore makes the store if it is missing, without a tag: all that snowflakes need. An existing store is left as
// it is. On a server it makes the tables of segments and workers. Call it once, at setup, and leave the
// option store_create off: a lost store is then an error. Reads the options store, directory and store_timeout. May
// block on the store. Errors: ErrStoreMissing (the store is lost: its lock file exists without the database),
// ErrStoreRegressed (an older copy replaced it), ErrUnsupported (a buffer, which is made with its first tag; a store
// of the program's own), those of the store.
func CreateStore(options ...Option) error {
	c, err := newConfig(options)
	if err != nil {
		return err
	}
	defer c.destroy()
	return failed(C.idgen_go_store_create(c.handle))
}

// CreateSegment makes the tag that the options name, at 0 (the first id is 1), and the store if it is missing. Reads
// the options store, namespace, tag and directory. May block on the store. Errors: ErrTagExists, those of the store.
func CreateSegment(options ...Option) error { return CreateSegmentAbove(0, options...) }

// CreateSegmentAbove is CreateSegment with the first id above above, in one step: a tag that takes over ids which are
// in use can at no moment issue a lower one. Errors: ErrValue for an above over 2^63 - 1, too; ErrUnsupported for
// serials in rows of other programs, unless it is 0.
func CreateSegmentAbove(above uint64, options ...Option) error {
	c, err := newConfig(options)
	if err != nil {
		return err
	}
	defer c.destroy()
	return failed(C.idgen_go_segment_create_above(c.handle, C.uint64_t(above)))
}

// ShowSegment reads the state of a tag; options as for CreateSegment. Errors: ErrStoreMissing, ErrTagUnknown, those of
// the store.
func ShowSegment(options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_show(c.handle))
}

// ListSegments reads the state of all tags of all namespaces of a store, in the order of their names. Reads the options
// store and directory. May block on the store. Errors: ErrStoreMissing, those of the store.
func ListSegments(options ...Option) ([]SegmentRow, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	defer c.destroy()
	result := C.idgen_go_segment_list(c.handle)
	defer C.idgen_go_segment_rows_free(result.rows, result.count)
	if err := failed(result.failure); err != nil {
		return nil, err
	}
	rows := make([]SegmentRow, 0, int(result.count))
	for _, row := range unsafe.Slice(result.rows, int(result.count)) {
		rows = append(rows, SegmentRow{C.GoString(row.name_space), C.GoString(row.tag), stateOf(row.info)})
	}
	return rows, nil
}

// AdvanceSegment raises MaxID to to, or by 1 if it is already there, and never lowers it. All later grants are above
// to. Running generators still issue what they reserved before. Returns the new state; options and errors as for
// ShowSegment.
func AdvanceSegment(to int64, options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_advance(c.handle, C.uint64_t(to)))
}

// RetireSegment ends a tag: it takes all numbers that are left, so that nobody draws from it again. Returns the state
// before: all that was ever granted is at most its MaxID, and a tag that goes on elsewhere begins above that. Running
// generators still issue what they reserved before, then get ErrExhausted. Cannot be undone. Tries for wait_max while
// others draw. Options and errors as for ShowSegment, and ErrExhausted if none is left; ErrStoreUnavailable if others
// drew without a pause, and it goes on.
func RetireSegment(options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_retire(c.handle))
}

// SetSegmentStep sets how many numbers all generators of a tag reserve at once, from their next range on; 0 leaves it
// to each generator's segment.step. Returns the new state; options and errors as for ShowSegment, and ErrValue above
// 1000000000.
func SetSegmentStep(step int64, options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_set_step(c.handle, C.uint64_t(step)))
}

// SegmentMaxOf returns the largest number that may be in use of a column of any table in the store's database, 0 to
// 2^63 - 1: in a row, or issued by its AUTO_INCREMENT or sequence to rows that are deleted. A tag that takes over from
// there begins above it. The table may be SCHEMA.TABLE.
// Reads the options store and module.path. May block on the store. Errors: ErrUnsupported (no SQL server), ErrValue
// (no such table or column, or its largest number is out of range), those of the store.
func SegmentMaxOf(table, column string, options ...Option) (int64, error) {
	c, err := newConfig(options)
	if err != nil {
		return 0, err
	}
	defer c.destroy()
	tableC, err := newCString("the table", table)
	if err != nil {
		return 0, err
	}
	defer tableC.free()
	columnC, err := newCString("the column", column)
	if err != nil {
		return 0, err
	}
	defer columnC.free()
	result := C.idgen_go_segment_max_of(c.handle, tableC.text, columnC.text)
	return int64(result.value), failed(result.failure)
}

// SegmentStatements returns what CreateSegment would run, the table's statements included, as SQL or commands for a
// migration; "" if there is nothing to run. Options as for CreateSegment. Connects to no server, changes nothing, does
// not block. Errors: ErrUnsupported (a store of the program's own; the module is missing), ErrValue.
func SegmentStatements(options ...Option) (string, error) {
	c, err := newConfig(options)
	if err != nil {
		return "", err
	}
	defer c.destroy()
	result := C.idgen_go_segment_statements(c.handle)
	if err := failed(result.failure); err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(result.text))
	return C.GoString(result.text), nil
}

func segmentInfo(result C.idgen_go_segment) (SegmentInfo, error) {
	if err := failed(result.failure); err != nil {
		return SegmentInfo{}, err
	}
	return stateOf(result.info), nil
}

func stateOf(info C.idgen_segment_info_t) SegmentInfo {
	return SegmentInfo{
		MaxID:   int64(info.max_id),
		Grants:  uint64(info.grants),
		Updated: time.UnixMilli(int64(info.updated_unix_ms)).UTC(),
		Step:    uint64(info.step),
		Rate:    uint64(info.rate),
		Holder:  C.GoString(&info.holder[0]),
	}
}
