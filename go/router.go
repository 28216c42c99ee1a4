//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"
)

// NoShard stands in a batch where there is no other shard.
const NoShard = math.MaxUint32

// RouteState is what a [Route] means.
type RouteState uint32

// The states of a route.
const (
	RouteSettled   RouteState = C.IDGEN_ROUTE_SETTLED    // the shard owns the node
	RouteOldFirst  RouteState = C.IDGEN_ROUTE_OLD_FIRST  // in cut-over, and this id has not moved
	RouteNewFirst  RouteState = C.IDGEN_ROUTE_NEW_FIRST  // in cut-over, and this id has moved
	RouteIDDecides RouteState = C.IDGEN_ROUTE_ID_DECIDES // in cut-over, and no id was given: Shard is the old one
)

// String returns the state's name, as in other languages.
func (s RouteState) String() string {
	switch s {
	case RouteSettled:
		return "settled"
	case RouteOldFirst:
		return "old_first"
	case RouteNewFirst:
		return "new_first"
	case RouteIDDecides:
		return "id_decides"
	}
	return "unknown"
}

// Route is where an id belongs. Write to Shard; read from Shard, and what is not found there from Second.
type Route struct {
	Shard   string
	Second  string // "" unless the node is in cut-over
	State   RouteState
	Node    uint32
	Version uint64 // of the table that said so
}

// RouterOptions say what a router is made with. The zero value makes one that routes nodes and owners only.
type RouterOptions struct {
	Layout     *Layout       // of ids up to 64 bits
	WideLayout *Layout       // of ids of 16 bytes
	Gene       GeneRule      // for RouteOwner
	Reload     time.Duration // OpenRouter: how often to look at the file; 0: every second; below: only on Reload
}

// Router holds the table of routes in force: which shard an id belongs to. Safe for use by any number of goroutines; a
// lookup takes no lock.
type Router struct {
	handle   C.uintptr_t
	lifetime *lifetime
	names    atomic.Pointer[[]string] // what is in it never changes; replaced by a longer one when a shard is new
	path     string                   // "": made from a table
	stop     chan struct{}            // closed by Close
	once     sync.Once

	mutex sync.Mutex // guards what follows
	seen  os.FileInfo
	file  fileStats
}

type fileStats struct {
	failures    uint64
	lastFailure time.Time
	lastError   error
}

// NewRouter makes a router of a table; only Swap changes it. Errors: ErrValue for a layout without a gene, or with one
// that is narrower than the ring.
func NewRouter(table *RouteTable, options RouterOptions) (*Router, error) {
	created := C.idgen_go_router_create(table.pointer(), options.Layout.pointer(), options.WideLayout.pointer(),
		C.int32_t(options.Gene))
	runtime.KeepAlive(table)
	runtime.KeepAlive(options)
	if err := failed(created.failure); err != nil {
		return nil, err
	}
	life := newLifetime(created.handle, func(handle C.uintptr_t) { C.idgen_go_router_destroy(handle) })
	return &Router{handle: created.handle, lifetime: life, stop: make(chan struct{})}, nil
}

// OpenRouter makes a router of a TOML file, which it watches until Close, or until it is garbage. A file that is
// missing, half written, malformed or older leaves the table in force: Stats says so. Errors: ErrConfigFile, and those
// of NewRouter.
func OpenRouter(path string, options RouterOptions) (*Router, error) {
	table, err := ReadRouteTable(path)
	if err != nil {
		return nil, err
	}
	r, err := NewRouter(table, options)
	if err != nil {
		return nil, err
	}
	r.path = path
	every := options.Reload
	if every == 0 {
		every = time.Second
	}
	if every > 0 {
		go watch(weak.Make(r), r.stop, every)
	}
	return r, nil
}

// watch holds the router only while it looks, so that it does not keep it alive.
func watch(router weak.Pointer[Router], stop <-chan struct{}, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case <-ticker.C:
		}
		r := router.Value()
		if r == nil {
			return
		}
		_ = r.look(false) // noted
	}
}

// Close ends the watch of the file. Lookups go on.
func (r *Router) Close() { r.once.Do(func() { close(r.stop) }) }

func (r *Router) pointer() C.uintptr_t {
	if r == nil {
		return 0
	}
	return r.handle
}

// Route says where an id belongs. Errors: ErrValue for bits outside the layout, ErrUnsupported without a layout for
// such ids.
func (r *Router) Route(id int64) (Route, error) {
	result := C.idgen_go_router_route(r.pointer(), C.uint64_t(id))
	return r.routeOf(result)
}

// RouteWide is Route for an id of 8 or of 16 bytes.
func (r *Router) RouteWide(id WideID) (Route, error) {
	result := C.idgen_go_router_route_wide(r.pointer(), (*C.uint8_t)(unsafe.Pointer(&id.bytes)), C.size_t(id.size))
	return r.routeOf(result)
}

// RouteNode says where a node belongs: the low bits of a gene. Errors: ErrValue for one beyond the ring.
func (r *Router) RouteNode(node uint32) (Route, error) {
	return r.routeOf(C.idgen_go_router_route_node(r.pointer(), C.uint32_t(node)))
}

// RouteOwner says where an owner's ids belong. Errors: ErrValue for an owner without bytes, or, with GeneMod, for one
// that is no integer.
func (r *Router) RouteOwner(owner Owner) (Route, error) {
	text := owner.text
	if owner.isInt {
		text = strconv.FormatInt(owner.number, 10)
	}
	return r.routeOf(C.idgen_go_router_route_owner(r.pointer(), unsafe.Pointer(unsafe.StringData(text)),
		C.size_t(len(text))))
}

// RouteBatch writes the shards of many ids, all by one table, as indexes of Shards: where to write and look first, and
// where to look next, or NoShard. seconds may be nil. Errors: those of Route, naming the position; ErrArgument if
// shards or seconds are shorter than ids.
func (r *Router) RouteBatch(ids []int64, shards, seconds []uint32) error {
	if err := checkLengths(len(ids), shards, seconds); err != nil {
		return err
	}
	defer runtime.KeepAlive(r)
	return failed(C.idgen_go_router_route_batch(r.pointer(), (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(ids))),
		C.size_t(len(ids)), numbers(shards), numbers(seconds)))
}

// RouteNodeBatch is RouteBatch for nodes.
func (r *Router) RouteNodeBatch(nodes, shards, seconds []uint32) error {
	if err := checkLengths(len(nodes), shards, seconds); err != nil {
		return err
	}
	defer runtime.KeepAlive(r)
	return failed(C.idgen_go_router_route_node_batch(r.pointer(), numbers(nodes), C.size_t(len(nodes)),
		numbers(shards), numbers(seconds)))
}

func checkLengths(wanted int, shards, seconds []uint32) error {
	if len(shards) >= wanted && (seconds == nil || len(seconds) >= wanted) {
		return nil
	}
	message := fmt.Sprintf("there are %d ids; the slices of results are shorter", wanted)
	return &Error{Status: ErrArgument, Message: message}
}

// Shards returns the names of all shards that the router has ever known. An index keeps its meaning as long as the
// router lives.
func (r *Router) Shards() []string {
	result := C.idgen_go_router_stats_of(r.pointer())
	if failed(result.failure) != nil {
		return nil
	}
	return r.shardsUpTo(int(result.stats.shard_count))
}

// Table returns a copy of the table in force.
func (r *Router) Table() (*RouteTable, error) {
	defer runtime.KeepAlive(r)
	return newRouteTable(C.idgen_go_router_table(r.pointer()))
}

// Swap puts a table into force if the one in force has the version expected. Errors: ErrStale naming both versions if
// it has not; ErrValue if the table cannot follow.
func (r *Router) Swap(table *RouteTable, expected uint64) error {
	defer runtime.KeepAlive(r)
	defer runtime.KeepAlive(table)
	return failed(C.idgen_go_router_swap(r.pointer(), table.pointer(), C.uint64_t(expected)))
}

// Reload looks at the file now. On failure the table in force stays. Errors: ErrConfigFile, ErrStale if the file's
// version is not above and its content is another, ErrUnsupported if the router is not of a file.
func (r *Router) Reload() error {
	if r.path == "" {
		return &Error{
			Status:  ErrUnsupported,
			Message: "this router was made from data, not from a file; give it a table with swap",
		}
	}
	return r.look(true)
}

// RouterStats is what a router has in force, and how its latest look at its file went.
type RouterStats struct {
	Version     uint64 // of the table in force
	Bits        uint32 // the ring has 2^Bits nodes
	Swaps       uint64 // tables that came into force after the first
	Failures    uint64 // looks at the file that found something wrong
	LastFailure time.Time
	LastError   error // of the latest look at the file
}

// Stats returns what is in force.
func (r *Router) Stats() (RouterStats, error) {
	defer runtime.KeepAlive(r)
	result := C.idgen_go_router_stats_of(r.pointer())
	if err := failed(result.failure); err != nil {
		return RouterStats{}, err
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return RouterStats{
		Version: uint64(result.stats.version), Bits: uint32(result.stats.bits), Swaps: uint64(result.stats.swaps),
		Failures: r.file.failures, LastFailure: r.file.lastFailure, LastError: r.file.lastError,
	}, nil
}

// look takes a table from the file if it has a higher version, and notes how that went.
func (r *Router) look(always bool) error {
	info, err := os.Stat(r.path)
	r.mutex.Lock()
	if err == nil && !always && r.seen != nil && os.SameFile(r.seen, info) && r.seen.Size() == info.Size() &&
		r.seen.ModTime().Equal(info.ModTime()) {
		r.mutex.Unlock()
		return nil
	}
	r.seen = nil
	// A file that was just written may be written again within the same tick of its clock, and look the same.
	if err == nil && time.Since(info.ModTime()) > 2*time.Second {
		r.seen = info
	}
	r.mutex.Unlock()
	err = r.takeFile()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.file.lastError = err
	if err != nil {
		r.file.failures++
		r.file.lastFailure = time.Now()
	}
	return err
}

func (r *Router) takeFile() error {
	next, err := ReadRouteTable(r.path)
	if err != nil {
		return err
	}
	for {
		current, err := r.Table()
		if err != nil {
			return err
		}
		if next.String() == current.String() {
			return nil
		}
		if next.Version() <= current.Version() {
			in := fmt.Sprintf(", and version %d", current.Version())
			if next.Version() == current.Version() {
				in = " with another content, and that version"
			}
			message := fmt.Sprintf("%s: the file has version %d%s is in force; give the file a higher version",
				r.path, next.Version(), in)
			return &Error{Status: ErrStale, Message: message}
		}
		err = r.Swap(next, current.Version())
		if failure, ok := err.(*Error); ok && failure.Status == ErrStale {
			continue // a swap came between
		}
		return err
	}
}

func (r *Router) routeOf(result C.idgen_go_route) (Route, error) {
	defer runtime.KeepAlive(r)
	if err := failed(result.failure); err != nil {
		return Route{}, err
	}
	return Route{
		Shard: r.name(uint32(result.route.shard)), Second: r.name(uint32(result.route.second)),
		State: RouteState(result.route.state), Node: uint32(result.route.node), Version: uint64(result.route.version),
	}, nil
}

func (r *Router) name(index uint32) string {
	if index == NoShard {
		return ""
	}
	if known := r.names.Load(); known != nil && int(index) < len(*known) {
		return (*known)[index]
	}
	return r.shardsUpTo(int(index) + 1)[index]
}

func (r *Router) shardsUpTo(count int) []string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	var all []string
	if known := r.names.Load(); known != nil {
		all = *known
	}
	if len(all) >= count {
		return all
	}
	longer := append(make([]string, 0, count), all...)
	for len(longer) < count {
		name := C.idgen_go_router_shard_at(r.pointer(), C.size_t(len(longer)))
		longer = append(longer, C.GoString(&name.name[0]))
		_ = failed(name.failure) // frees it: an index below the count has a name
	}
	r.names.Store(&longer)
	return longer
}
