package idgen_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/internal/floor"
)

// Read these as ratios within one run: go test -bench . -count 7 ./go (UUIDs: bench/peers)
//
// Next draws in Go: compare a segment's with BenchmarkAtomicAdd, a snowflake's with that and BenchmarkSince, since it
// reads a clock as well. What calls into C is compared with BenchmarkEmptyCall.

var sink uint64

func BenchmarkEmptyCall(b *testing.B) {
	for b.Loop() {
		sink += floor.Call(1)
	}
}

// On a cache line of its own, like the counter of a generator.
var floorOfNext struct {
	_     [64]byte
	count int64
	_     [64]byte
}

func BenchmarkAtomicAdd(b *testing.B) {
	for b.Loop() {
		sink += uint64(atomic.AddInt64(&floorOfNext.count, 1))
	}
}

func BenchmarkSince(b *testing.B) {
	start := time.Now()
	for b.Loop() {
		sink += uint64(time.Since(start))
	}
}

// A 22-bit sequence, which a caller does not use up.
func BenchmarkNextSnowflake(b *testing.B) {
	benchmarkNext(b, newSnowflake(b, idgen.WithLayout("time:41ms sequence:22"), idgen.Options{"worker": ""}))
}

func BenchmarkNextSegment(b *testing.B) {
	benchmarkNext(b, newSegment(b, idgen.WithSegmentStep(10_000_000)))
}

func benchmarkNext(b *testing.B, g *idgen.Generator) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNextForString(b *testing.B) {
	benchmarkNextFor(b, idgen.OwnerString("customer-0012345")) // 16 bytes
}

func BenchmarkNextForInt(b *testing.B) { benchmarkNextFor(b, idgen.OwnerInt(1_234_567_890_123_456)) }

func benchmarkNextFor(b *testing.B, owner idgen.Owner) {
	g := newBusiness(b, idgen.WithSegmentStep(10_000_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.NextFor(owner); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkCall is for calls into C, beside which the one through call is little. Each makes or takes so many ids.
func benchmarkCall(b *testing.B, ids int, call func() error) {
	b.ReportAllocs()
	for b.Loop() {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	if ids > 1 {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ids), "ns/id")
	}
}

// businessIDs are ids of 1024 owners.
func businessIDs(b *testing.B) (g *idgen.Generator, owners idgen.Owners, ids []int64) {
	ids, g = make([]int64, 1024), newBusiness(b, idgen.WithSegmentStep(10_000_000))
	numbers := make([]int64, len(ids))
	for i := range numbers {
		numbers[i] = 1_234_567_890_000_000 + int64(i)
	}
	owners = idgen.OwnersInt(numbers)
	gives(g.FillForEach(owners, ids))(b, len(ids))
	return g, owners, ids
}

func BenchmarkFillForEach1024Int(b *testing.B) {
	g, owners, ids := businessIDs(b)
	benchmarkCall(b, len(ids), func() error { return errorOf(g.FillForEach(owners, ids)) })
}

// A ring of 64 ranges, each of a shard of its own.
func benchRouter(b *testing.B) *idgen.Router {
	data := idgen.RouteData{Version: 1, Bits: 16}
	for n := range uint32(64) {
		name := fmt.Sprintf("db%d", n)
		data.Shards = append(data.Shards, name)
		data.Ranges = append(data.Ranges, idgen.RouteRange{Upto: 1024*n + 1023, Shard: name})
	}
	options := idgen.RouterOptions{Layout: mustLayout(b, "business64", "")}
	return need(idgen.NewRouter(mustTable(b, data), options))(b)
}

func BenchmarkRoute(b *testing.B) {
	_, _, ids := businessIDs(b)
	router := benchRouter(b)
	benchmarkCall(b, 1, func() error { return errorOf(router.Route(ids[0])) })
}

func BenchmarkRouteBatch1024(b *testing.B) {
	_, _, ids := businessIDs(b)
	router, shards, seconds := benchRouter(b), make([]uint32, len(ids)), make([]uint32, len(ids))
	benchmarkCall(b, len(ids), func() error { return router.RouteBatch(ids, shards, seconds) })
}

func BenchmarkHide(b *testing.B) {
	_, _, ids := businessIDs(b)
	cipher := mustCipher(b, hiding(b)...)
	benchmarkCall(b, 1, func() error { return errorOf(cipher.Hide(ids[0])) })
}

func BenchmarkHideAll1024(b *testing.B) {
	_, _, plain := businessIDs(b)
	cipher, ids := mustCipher(b, hiding(b)...), make([]int64, len(plain))
	benchmarkCall(b, len(ids), func() error {
		copy(ids, plain)
		return cipher.HideAll(ids)
	})
}

func BenchmarkFill1024Segment(b *testing.B) {
	g, ids := newSegment(b, idgen.WithSegmentStep(100_000_000)), make([]int64, 1024)
	benchmarkCall(b, len(ids), func() error { return errorOf(g.Fill(ids)) })
}

func BenchmarkBlocksSegment(b *testing.B) {
	blocks := newSegment(b, idgen.WithSegmentStep(10_000_000)).Blocks(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := blocks.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

// The most that 41/10/12 allows is 4096 ids in each millisecond. The share is what one goroutine gets of that.
func BenchmarkShareOfTheCap(b *testing.B) {
	benchmarkCap(b, func(g *idgen.Generator, n int) error {
		for range n {
			if _, err := g.Next(); err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkShareOfTheCapByFill(b *testing.B) {
	ids := make([]int64, 1024)
	benchmarkCap(b, func(g *idgen.Generator, n int) error {
		for ; n > 0; n -= len(ids) {
			if _, err := g.Fill(ids); err != nil {
				return err
			}
		}
		return nil
	})
}

func benchmarkCap(b *testing.B, draw func(g *idgen.Generator, n int) error) {
	const inASecond = 4096 * 1000
	g := newSnowflake(b, idgen.WithLayout("time:41ms worker:10 sequence:12"))
	var drawing time.Duration
	seconds := 0
	for b.Loop() {
		start := time.Now()
		if err := draw(g, inASecond); err != nil {
			b.Fatal(err)
		}
		drawing += time.Since(start)
		seconds++
	}
	b.ReportMetric(100*float64(seconds)/drawing.Seconds(), "%-of-cap")
	b.ReportMetric(float64(drawing.Nanoseconds())/float64(seconds)/inASecond, "ns/id")
}
