package idgen_test

import (
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/internal/floor"
)

// Read these as ratios to BenchmarkEmptyCall of the same run: go test -bench . -count 7 ./go

var sink uint64

func BenchmarkEmptyCall(b *testing.B) {
	for b.Loop() {
		sink += floor.Call(1)
	}
}

// The raw cost of a call: a 22-bit sequence, which a caller does not use up.
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

func BenchmarkNextContextSegment(b *testing.B) {
	g := newSegment(b, idgen.WithSegmentStep(10_000_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := g.NextContext(b.Context()); err != nil {
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

func BenchmarkBlocksSegmentParallel(b *testing.B) {
	blocks := newSegment(b, idgen.WithSegmentStep(10_000_000)).Blocks(100_000)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := blocks.Next(); err != nil {
				b.Error(err)
				return
			}
		}
	})
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
