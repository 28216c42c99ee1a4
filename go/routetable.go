//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"
)

// RouteRange is a part of a ring: its nodes up to Upto, inclusive, from the end of the range before, and the shard that
// owns them.
type RouteRange struct {
	Upto  uint32
	Shard string
}

// RouteMove is a part of a ring in cut-over: nodes First to Last move to a shard.
type RouteMove struct {
	First, Last uint32
	To          string
	Share       uint32 // how much of each node has moved, in ten-thousandths
}

// RouteData is a table of routes as data.
type RouteData struct {
	Version uint64       // 1 to 2^63 - 1, each table's above the one before
	Bits    uint32       // 1 to 23: the ring has 2^Bits nodes
	Shards  []string     // the names of all shards
	Ranges  []RouteRange // in ascending order; the last one ends at node 2^Bits - 1
	Moves   []RouteMove  // nodes in cut-over, in any order
}

// RouteTable says which shard has which nodes of a ring. Immutable; safe for use by any number of goroutines.
type RouteTable struct {
	handle   C.uintptr_t
	lifetime *lifetime
}

// NewRouteTable makes a table. Errors: ErrValue for a gap, a wrong order, overlapping moves and the like: the message
// says where.
func NewRouteTable(data RouteData) (*RouteTable, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	var names strings.Builder
	index := make(map[string]uint32, len(data.Shards))
	for i, name := range data.Shards {
		if strings.Contains(name, "\x00") {
			return nil, &Error{Status: ErrValue, Message: "the name of a shard has a NUL character"}
		}
		names.WriteString(name + "\x00")
		if _, known := index[name]; !known {
			index[name] = uint32(i)
		}
	}
	find := func(name string) (uint32, error) {
		if i, known := index[name]; known {
			return i, nil
		}
		return 0, &Error{Status: ErrValue, Message: fmt.Sprintf("'%s' is not one of the table's shards", name)}
	}
	var upto, owners, first, last, to, share []uint32
	for _, r := range data.Ranges {
		i, err := find(r.Shard)
		if err != nil {
			return nil, err
		}
		upto, owners = append(upto, r.Upto), append(owners, i)
	}
	for _, m := range data.Moves {
		i, err := find(m.To)
		if err != nil {
			return nil, err
		}
		first, last = append(first, m.First), append(last, m.Last)
		to, share = append(to, i), append(share, m.Share)
	}
	text := C.CString("")
	defer func() { C.free(unsafe.Pointer(text)) }()
	if names.Len() > 0 {
		C.free(unsafe.Pointer(text))
		text = (*C.char)(C.CBytes([]byte(names.String())))
	}
	return newRouteTable(C.idgen_go_route_table_create(C.uint64_t(data.Version), C.uint32_t(data.Bits),
		text, C.size_t(len(data.Shards)), numbers(upto), numbers(owners), C.size_t(len(upto)),
		numbers(first), numbers(last), numbers(to), numbers(share), C.size_t(len(first))))
}

func numbers(slice []uint32) *C.uint32_t {
	return (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(slice)))
}

func newRouteTable(created C.idgen_go_handle) (*RouteTable, error) {
	if err := failed(created.failure); err != nil {
		return nil, err
	}
	life := newLifetime(created.handle, func(handle C.uintptr_t) { C.idgen_go_route_table_destroy(handle) })
	return &RouteTable{created.handle, life}, nil
}

// ReadRouteTable reads a table from a TOML file. Errors: ErrConfigFile for a file that is missing, unreadable,
// malformed, half written, or no valid table.
func ReadRouteTable(path string) (*RouteTable, error) { return readRouteTable(path) }

func (t *RouteTable) pointer() C.uintptr_t {
	if t == nil {
		return 0
	}
	return t.handle
}

// Version returns the table's version; 0 for a nil table.
func (t *RouteTable) Version() uint64 {
	defer runtime.KeepAlive(t)
	result := C.idgen_go_route_table_info(t.pointer())
	if failed(result.failure) != nil {
		return 0
	}
	return uint64(result.info.version)
}

// Data returns the table as data.
func (t *RouteTable) Data() (RouteData, error) {
	defer runtime.KeepAlive(t)
	result := C.idgen_go_route_table_info(t.pointer())
	if err := failed(result.failure); err != nil {
		return RouteData{}, err
	}
	data := RouteData{Version: uint64(result.info.version), Bits: uint32(result.info.bits)}
	for i := range uint64(result.info.shard_count) {
		name := C.idgen_go_route_table_shard_at(t.pointer(), C.size_t(i))
		if err := failed(name.failure); err != nil {
			return RouteData{}, err
		}
		data.Shards = append(data.Shards, C.GoString(&name.name[0]))
	}
	for i := range uint64(result.info.range_count) {
		at := C.idgen_go_route_table_range_at(t.pointer(), C.size_t(i))
		if err := failed(at.failure); err != nil {
			return RouteData{}, err
		}
		data.Ranges = append(data.Ranges, RouteRange{uint32(at._range.upto), data.Shards[at._range.shard]})
	}
	for i := range uint64(result.info.move_count) {
		at := C.idgen_go_route_table_move_at(t.pointer(), C.size_t(i))
		if err := failed(at.failure); err != nil {
			return RouteData{}, err
		}
		data.Moves = append(data.Moves, RouteMove{
			uint32(at.move.first), uint32(at.move.last), data.Shards[at.move.to], uint32(at.move.share),
		})
	}
	return data, nil
}

// String returns the content of the table's file; "" for a nil table.
func (t *RouteTable) String() string {
	defer runtime.KeepAlive(t)
	result := C.idgen_go_route_table_text(t.pointer())
	defer C.free(unsafe.Pointer(result.text))
	if failed(result.failure) != nil {
		return ""
	}
	return C.GoString(result.text)
}

// routeNames joins the names of shards for a message.
func routeNames(shards []string) string {
	if len(shards) > 10 {
		return strings.Join(slices.Concat(shards[:10], []string{"..."}), ", ")
	}
	return strings.Join(shards, ", ")
}
