//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import "time"

// SegmentInfo is the state of a tag in the store.
type SegmentInfo struct {
	MaxID   int64     // highest number granted so far; the next id is above it
	Grants  uint64    // how often a range was granted, or the counter advanced
	Updated time.Time // when the row last changed, by the clock of whoever changed it
}

// CreateSegment makes the tag that the options name, at 0 (the first id is 1), and the store if it is missing. Reads the options store,
// namespace, tag and directory. May block on the store. Errors: ErrTagExists, those of the store.
func CreateSegment(options ...Option) error {
	c, err := newConfig(options)
	if err != nil {
		return err
	}
	defer c.destroy()
	return failed(C.idgen_go_segment_create(c.handle))
}

// ShowSegment reads the state of a tag; options as for CreateSegment. Errors: ErrStoreMissing, ErrTagUnknown, those of the store.
func ShowSegment(options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_show(c.handle))
}

// AdvanceSegment lifts MaxID to to, or by 1 if it is there already, and never lowers it: no later grant holds a number up to to. What a
// running generator has reserved before it still issues. Returns the state after it; options and errors as for ShowSegment.
func AdvanceSegment(to int64, options ...Option) (SegmentInfo, error) {
	c, err := newConfig(options)
	if err != nil {
		return SegmentInfo{}, err
	}
	defer c.destroy()
	return segmentInfo(C.idgen_go_segment_advance(c.handle, C.uint64_t(to)))
}

func segmentInfo(result C.idgen_go_segment) (SegmentInfo, error) {
	if err := failed(result.failure); err != nil {
		return SegmentInfo{}, err
	}
	return SegmentInfo{
		MaxID:   int64(result.info.max_id),
		Grants:  uint64(result.info.grants),
		Updated: time.UnixMilli(int64(result.info.updated_unix_ms)).UTC(),
	}, nil
}
