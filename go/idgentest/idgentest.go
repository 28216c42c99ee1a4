// Package idgentest makes generators for the tests of programs that draw ids.
//
//	func TestOrders(t *testing.T) {
//		ids := idgentest.Segment(t, 1000)
//		shop := NewShop(ids) // takes an idgen.IDSource
//		…
//	}
//
// What is here is the library itself, over a store of its own in memory and a clock that the test sets: ids, decoding
// and errors are those of production. Each generator starts afresh, is closed with its test, and leaves nothing behind.
// docs/testing.md shows all of it, in three languages.
package idgentest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/internal/kit"
)

// Setup says where a generator begins.
type Setup struct {
	// Start is the first number, of the kinds segment and business; of a serial, the first of each period. 0 is 1.
	Start int64
	// At is where the generator's clock stands, and the time of a snowflake's first id; the zero time is [FirstMoment],
	// or the layout's epoch if that is later.
	At time.Time
	// Clock is a clock that others share, in place of At. Nil: the generator has one of its own.
	Clock *ManualClock
	// Sequence is that of a snowflake's first id: 0 to what the layout holds in a tick. Those below are drawn and
	// dropped.
	Sequence int
}

// Generator is a generator that a test tells what to do: a real one, with all its methods. Safe for use by any number
// of goroutines.
type Generator struct {
	*idgen.Generator
	clock *ManualClock
}

var _ idgen.IDSource = (*Generator)(nil)

// Segment makes a generator of consecutive numbers, the first of which is start. It fails the test if it cannot be
// made, and is closed with the test.
func Segment(t testing.TB, start int64, options ...idgen.Option) *Generator {
	t.Helper()
	return New(t, Setup{Start: start}, append([]idgen.Option{idgen.WithKind("segment")}, options...)...)
}

// Snowflake makes a snowflake generator, worker 1, whose first id has this time and this sequence. The clock stands
// still there: see [Generator.Clock]. For layouts without a worker use [New]. It fails the test if it cannot be made,
// and is closed with the test.
func Snowflake(t testing.TB, at time.Time, sequence int, options ...idgen.Option) *Generator {
	t.Helper()
	return New(t, Setup{At: at, Sequence: sequence}, append([]idgen.Option{idgen.WithWorker(1)}, options...)...)
}

// New makes a generator of any kind, as [idgen.New] does. A store, a host's store or a clock among the options has no
// effect. It fails the test if it cannot be made, and is closed with the test.
func New(t testing.TB, setup Setup, options ...idgen.Option) *Generator {
	t.Helper()
	return made(t, setup, func(ctx context.Context, own ...idgen.Option) (*idgen.Generator, error) {
		return idgen.New(ctx, append(options[:len(options):len(options)], own...)...)
	})
}

// Open makes a generator as the table [name] of a TOML file describes it, in place of [idgen.Open]: with its layout,
// pattern and policies, but never with its store, its worker_source or its witness. Otherwise as [New].
func Open(t testing.TB, path, name string, setup Setup, options ...idgen.Option) *Generator {
	t.Helper()
	return made(t, setup, func(ctx context.Context, own ...idgen.Option) (*idgen.Generator, error) {
		return idgen.Open(ctx, path, name, append(options[:len(options):len(options)], own...)...)
	})
}

func made(t testing.TB, setup Setup,
	open func(context.Context, ...idgen.Option) (*idgen.Generator, error)) *Generator {
	t.Helper()
	clock := setup.Clock
	if clock != nil && !setup.At.IsZero() {
		t.Fatalf("idgentest: Setup has both At and Clock; allowed: one of them. Clock.Set sets a shared clock")
	}
	if !setup.At.IsZero() {
		clock = NewManualClock(setup.At)
	}
	start := setup.Start
	if start == 0 {
		start = kit.Unset
	}
	begin := kit.Begin(start, int64(setup.Sequence), func(firstUnixMs int64) any {
		if clock == nil {
			clock = NewManualClock(time.UnixMilli(firstUnixMs).UTC())
		}
		return clock
	})
	generator, err := open(context.Background(), begin.(idgen.Option)) // t.Context() has ended by the cleanup
	if err != nil {
		t.Fatalf("idgentest: %v", err)
	}
	t.Cleanup(func() { _ = generator.Close(context.Background()) })
	return &Generator{generator, clock}
}

// Clock is the generator's clock, which stands still until the test moves it.
func (g *Generator) Clock() *ManualClock { return g.clock }

// Get returns the generator that it draws from, which fails as it is told: for what takes an [idgen.Generator].
func (g *Generator) Get() *idgen.Generator { return g.Generator }

// FailNext makes the next n calls that draw ids return an error of this status, with the message that the status has in
// every language; then all is as before. TryNext returns ErrWouldBlock where the status is retryable, as always.
// Nothing is drawn, and nothing waits. Replaces what was told before. Panics if n is below 1, and for a number that is
// no status.
func (g *Generator) FailNext(n int, status idgen.Status) {
	refuse(kit.FailNext(g.Generator, int64(n), int32(status)))
}

// FailAfter makes each call that draws ids return an error of this status after that many more ids, until Recover. A
// Fill that needs more returns how many it has written. Only ids that a call has got count. Replaces what was told
// before. Panics if ids is negative, and for a number that is no status.
func (g *Generator) FailAfter(ids int, status idgen.Status) {
	refuse(kit.FailAfter(g.Generator, int64(ids), int32(status)))
}

// Recover ends what FailNext and FailAfter have begun.
func (g *Generator) Recover() { refuse(kit.Recover(g.Generator)) }

func refuse(err error) {
	if err != nil {
		panic(fmt.Sprintf("idgentest: %v", err))
	}
}

// TryNext is [idgen.Generator.TryNext].
func (g *Generator) TryNext() (int64, error) {
	id, err := g.Generator.TryNext()
	var failure *idgen.Error
	if errors.As(err, &failure) && failure.Retryable() {
		return 0, &idgen.Error{Status: idgen.ErrWouldBlock, Message: idgen.ErrWouldBlock.Error()}
	}
	return id, err
}
