//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"math"
	"runtime"
	"time"
	"unsafe"
)

// FieldKind is what a field of an id means. Values can be combined with |, as in [Parts].Fields.
type FieldKind uint32

// The kinds of fields.
const (
	FieldTime       FieldKind = C.IDGEN_FIELD_TIME
	FieldDatacenter FieldKind = C.IDGEN_FIELD_DATACENTER
	FieldWorker     FieldKind = C.IDGEN_FIELD_WORKER
	FieldProcess    FieldKind = C.IDGEN_FIELD_PROCESS
	FieldShard      FieldKind = C.IDGEN_FIELD_SHARD
	FieldSequence   FieldKind = C.IDGEN_FIELD_SEQUENCE
	FieldGene       FieldKind = C.IDGEN_FIELD_GENE
	FieldVersion    FieldKind = C.IDGEN_FIELD_VERSION
	FieldSegment    FieldKind = C.IDGEN_FIELD_SEGMENT
	FieldFixed      FieldKind = C.IDGEN_FIELD_FIXED
)

// Has reports whether k contains all kinds of other.
func (k FieldKind) Has(other FieldKind) bool { return k&other == other }

// Parts holds the fields of an id. Those that the layout lacks are 0.
type Parts struct {
	Fields     FieldKind // which of the members below have a meaning
	UnixMs     int64     // start of the id's tick, ms since 1970-01-01 UTC; set by decoding, not read by encoding
	Time       uint64    // ticks since the layout's epoch
	Datacenter uint64
	Worker     uint64
	Process    uint64
	Shard      uint64
	Sequence   uint64
	Gene       uint64
	Version    uint64
	Segment    uint64 // its low 64 bits
	Fixed      uint64

	SegmentHigh uint64 // high bits of the segment; 0 but in ids of 16 bytes
}

// Timestamp is UnixMs as a time in UTC. Meaningful only if Fields has FieldTime.
func (p Parts) Timestamp() time.Time { return time.UnixMilli(p.UnixMs).UTC() }

func partsFromC(p C.idgen_parts_t) Parts {
	return Parts{
		Fields: FieldKind(p.fields), UnixMs: int64(p.unix_ms), Time: uint64(p.time), Datacenter: uint64(p.datacenter),
		Worker: uint64(p.worker), Process: uint64(p.process), Shard: uint64(p.shard), Sequence: uint64(p.sequence),
		Gene: uint64(p.gene), Version: uint64(p.version), Segment: uint64(p.segment), Fixed: uint64(p.fixed),
		SegmentHigh: uint64(p.segment_high),
	}
}

// toC leaves out what encoding does not read.
func (p Parts) toC() C.idgen_parts_t {
	return C.idgen_parts_t{
		time: C.uint64_t(p.Time), datacenter: C.uint64_t(p.Datacenter), worker: C.uint64_t(p.Worker),
		process: C.uint64_t(p.Process), shard: C.uint64_t(p.Shard),
		sequence: C.uint64_t(p.Sequence), gene: C.uint64_t(p.Gene),
		version: C.uint64_t(p.Version), segment: C.uint64_t(p.Segment), fixed: C.uint64_t(p.Fixed),
		segment_high: C.uint64_t(p.SegmentHigh),
	}
}

// Decode splits an id by the generator's own layout; works on a closed generator too. A plain segment has one field,
// Segment. Errors: ErrValue for an id that another layout made: bits outside this one, or another constant.
func (g *Generator) Decode(id int64) (Parts, error) {
	result := C.idgen_go_decode(g.pointer(), C.uint64_t(id))
	runtime.KeepAlive(g)
	if err := failed(result.failure); err != nil {
		return Parts{}, err
	}
	return partsFromC(result.parts), nil
}

// Layout returns the generator's own layout.
func (g *Generator) Layout() (*Layout, error) {
	result := C.idgen_go_layout_of(g.pointer())
	runtime.KeepAlive(g)
	return newLayout(result)
}

// Layout says which bits of an id mean what, without a generator. Immutable; safe for use by any number of goroutines.
type Layout struct {
	handle   C.uintptr_t
	lifetime *lifetime // as in Generator
}

// ParseLayout takes a preset's name ("default", "twitter", …) or a layout in full ("time:41ms worker:10 sequence:12",
// most significant field first). epoch is RFC 3339 or Unix ms; "" = the preset's own, 2025-01-01 for a layout in full.
// Layouts whose time is over can be parsed too. Errors: ErrLayout, ErrValue (epoch).
func ParseLayout(layout, epoch string) (*Layout, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	layoutC, err := newCString("the layout", layout)
	if err != nil {
		return nil, err
	}
	defer layoutC.free()
	epochC, err := newCString("the epoch", epoch)
	if err != nil {
		return nil, err
	}
	defer epochC.free()
	return newLayout(C.idgen_go_layout_create(layoutC.text, epochC.text))
}

func newLayout(created C.idgen_go_handle) (*Layout, error) {
	if err := failed(created.failure); err != nil {
		return nil, err
	}
	life := newLifetime(created.handle, func(handle C.uintptr_t) { C.idgen_go_layout_destroy(handle) })
	return &Layout{created.handle, life}, nil
}

func (l *Layout) pointer() C.uintptr_t {
	if l == nil {
		return 0
	}
	return l.handle
}

// Decode splits an id. Errors: ErrValue for an id that another layout made, ErrUnsupported for a layout of more than 64
// bits.
func (l *Layout) Decode(id int64) (Parts, error) {
	result := C.idgen_go_layout_decode(l.pointer(), C.uint64_t(id))
	runtime.KeepAlive(l)
	if err := failed(result.failure); err != nil {
		return Parts{}, err
	}
	return partsFromC(result.parts), nil
}

// Encode is the inverse of Decode; it reads the members that the layout has. The id is not unique: Encode is for tests
// and for range queries by time. Errors: ErrValue for a member too large for its field, ErrUnsupported for a layout of
// more than 64 bits.
func (l *Layout) Encode(p Parts) (int64, error) {
	result := C.idgen_go_layout_encode(l.pointer(), p.toC())
	runtime.KeepAlive(l)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	return int64(result.value), nil
}

// DecodeWide splits an id of as many bytes as the layout needs, 8 or 16. Errors: ErrValue for an id that
// another layout made.
func (l *Layout) DecodeWide(id WideID) (Parts, error) {
	result := C.idgen_go_layout_decode_wide(l.pointer(), id.toC())
	runtime.KeepAlive(l)
	if err := failed(result.failure); err != nil {
		return Parts{}, err
	}
	return partsFromC(result.parts), nil
}

// EncodeWide is the inverse of DecodeWide, as Encode is of Decode. Errors: ErrValue for a member too large for its
// field.
func (l *Layout) EncodeWide(p Parts) (WideID, error) {
	result := C.idgen_go_layout_encode_wide(l.pointer(), p.toC())
	runtime.KeepAlive(l)
	return wideResult(result)
}

// Field is a field of a layout.
type Field struct {
	Kind  FieldKind
	Name  string // "worker"
	Bits  uint32
	Shift uint32 // of its lowest bit
}

// LayoutInfo is what a layout can do.
type LayoutInfo struct {
	Text         string  // canonical: "time:41ms worker:10 sequence:12"
	Preset       string  // its name, "" for a layout in full
	Fields       []Field // from the most significant on
	Kinds        FieldKind
	Bits         uint32        // all fields together
	Unsigned     bool          // the top bit of 64 belongs to a field: read ids as uint64(id)
	JSSafe       bool          // never above 2^53 - 1
	EpochUnixMs  int64         // what time 0 means
	Tick         time.Duration // 0 without a time field
	FirstUnixMs  int64         // of the first tick
	LastUnixMs   int64         // of the last tick, its last ms; math.MaxInt64 if beyond, or without a time field
	YearsLeft    float64       // from now to LastUnixMs; negative: over
	IDsPerTick   uint64        // one generator
	IDsPerSecond float64       // one generator
	Workers      uint64        // generators that can run at the same time
}

// Info says what a layout can do. YearsLeft counts from the system's clock; InfoAt takes another time.
func (l *Layout) Info() (LayoutInfo, error) { return l.info(math.MinInt64) }

// InfoAt is Info with YearsLeft counted from now.
func (l *Layout) InfoAt(now time.Time) (LayoutInfo, error) { return l.info(now.UnixMilli()) }

func (l *Layout) info(nowUnixMs int64) (LayoutInfo, error) {
	defer runtime.KeepAlive(l)
	result := C.idgen_go_layout_describe(l.pointer(), C.int64_t(nowUnixMs))
	if err := failed(result.failure); err != nil {
		return LayoutInfo{}, err
	}
	i := &result.info
	info := LayoutInfo{
		Text: C.GoString(&i.text[0]), Preset: C.GoString(&i.preset[0]),
		Kinds: FieldKind(i.fields), Bits: uint32(i.bits),
		Unsigned: i.is_unsigned != 0, JSSafe: i.is_js_safe != 0, EpochUnixMs: int64(i.epoch_unix_ms),
		Tick:        time.Duration(i.tick_ms) * time.Millisecond,
		FirstUnixMs: int64(i.first_unix_ms), LastUnixMs: int64(i.last_unix_ms),
		YearsLeft: float64(i.years_left), IDsPerTick: uint64(i.ids_per_tick), IDsPerSecond: float64(i.ids_per_second),
		Workers: uint64(i.workers),
	}
	for index := range uint32(i.field_count) {
		at := C.idgen_go_layout_field_at(l.pointer(), C.size_t(index))
		if err := failedStatus(at.status); err != nil {
			return LayoutInfo{}, err
		}
		info.Fields = append(info.Fields, Field{
			Kind: FieldKind(at.field.kind), Name: C.GoString(at.field.name),
			Bits: uint32(at.field.bits), Shift: uint32(at.field.shift),
		})
	}
	return info, nil
}

// Presets returns the names of the layouts that ParseLayout and the property layout know.
func Presets() []string {
	names := make([]string, 0, int(C.idgen_layout_preset_count()))
	for i := range cap(names) {
		names = append(names, C.GoString(C.idgen_layout_preset_at(C.size_t(i))))
	}
	return names
}

// cString is a copy of a Go string in C's memory.
type cString struct{ text *C.char }

func (s cString) free() { C.free(unsafe.Pointer(s.text)) }
