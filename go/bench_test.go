package idgen_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/internal/floor"
)

// Read these as ratios within one run: go test -bench . -count 7 ./go
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

func BenchmarkFillForEach1024Int(b *testing.B) {
	owners := make([]int64, 1024)
	for i := range owners {
		owners[i] = 1_234_567_890_000_000 + int64(i)
	}
	g := newBusiness(b, idgen.WithSegmentStep(10_000_000))
	ids := make([]int64, len(owners))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.FillForEach(idgen.OwnersInt(owners), ids); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(ids)), "ns/id")
}

// A ring of 64 ranges, each of a shard of its own.
func benchRouter(b *testing.B) *idgen.Router {
	data := idgen.RouteData{Version: 1, Bits: 16}
	for n := range uint32(64) {
		name := fmt.Sprintf("db%d", n)
		data.Shards = append(data.Shards, name)
		data.Ranges = append(data.Ranges, idgen.RouteRange{Upto: 1024*n + 1023, Shard: name})
	}
	router, err := idgen.NewRouter(mustTable(b, data), idgen.RouterOptions{Layout: mustLayout(b, "business64", "")})
	if err != nil {
		b.Fatal(err)
	}
	return router
}

func businessIDs(b *testing.B, count int) []int64 {
	ids := make([]int64, count)
	owners := make([]int64, count)
	for i := range owners {
		owners[i] = int64(i)
	}
	if _, err := newBusiness(b).FillForEach(idgen.OwnersInt(owners), ids); err != nil {
		b.Fatal(err)
	}
	return ids
}

func BenchmarkRoute(b *testing.B) {
	router, id := benchRouter(b), businessIDs(b, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := router.Route(id); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRouteBatch1024(b *testing.B) {
	router, ids := benchRouter(b), businessIDs(b, 1024)
	shards, seconds := make([]uint32, len(ids)), make([]uint32, len(ids))
	for b.Loop() {
		if err := router.RouteBatch(ids, shards, seconds); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/id")
}

func BenchmarkHide(b *testing.B) {
	cipher, id := mustCipher(b, hiding(b)...), businessIDs(b, 1)[0]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := cipher.Hide(id); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHideAll1024(b *testing.B) {
	cipher, plain := mustCipher(b, hiding(b)...), businessIDs(b, 1024)
	ids := make([]int64, len(plain))
	for b.Loop() {
		copy(ids, plain)
		if err := cipher.HideAll(ids); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/id")
}

func BenchmarkNewUUID4(b *testing.B) { benchmarkStandard(b, idgen.NewUUID4) }

func BenchmarkNewUUID7(b *testing.B) { benchmarkStandard(b, idgen.NewUUID7) }

func benchmarkStandard(b *testing.B, make func() ([16]byte, error)) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := make(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFill1024Segment(b *testing.B) {
	g := newSegment(b, idgen.WithSegmentStep(100_000_000))
	ids := make([]int64, 1024)
	for b.Loop() {
		if _, err := g.Fill(ids); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/id")
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
