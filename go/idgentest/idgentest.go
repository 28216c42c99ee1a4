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
	"iter"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
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

// Generator is a generator that a test tells what to do. It draws from a real one. Safe for use by any number of
// goroutines.
type Generator struct {
	generator *idgen.Generator
	clock     *ManualClock
	script    script
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

// lastStart leaves room for a step behind it. A tag that ends is told by FailAfter.
const lastStart = 1 << 62

// own is what a table of a file may have that reaches beyond the process, or is for stores of other kinds.
var own = idgen.Options{
	"worker_source": "store", "worker_url": "", "worker_cache": "",
	"segment.schema": "idgen", "segment.grant_log": "0", "witness": "",
}

func made(t testing.TB, setup Setup,
	open func(context.Context, ...idgen.Option) (*idgen.Generator, error)) *Generator {
	t.Helper()
	if setup.Start < 0 || setup.Start > lastStart {
		t.Fatalf("idgentest: Start is %d; allowed: 1 to %d", setup.Start, int64(lastStart))
	}
	clock := setup.Clock
	if clock != nil && !setup.At.IsZero() {
		t.Fatalf("idgentest: Setup has both At and Clock; allowed: one of them. Clock.Set sets a shared clock")
	}
	if clock == nil {
		at := setup.At
		if at.IsZero() {
			at = FirstMoment
		}
		clock = NewManualClock(at)
	}
	settings := []idgen.Option{own}
	if setup.Sequence != 0 {
		settings = append(settings, idgen.WithSequenceStart("carry")) // a random one could not be told
	}
	openWith := func(clock *ManualClock) (*idgen.Generator, error) {
		store := newFreshStore(max(setup.Start, 1), clock)
		// Not t.Context(), which has ended by the time of the cleanup.
		return open(context.Background(), append(settings, idgen.WithClock(clock), idgen.WithHostStore(store))...)
	}
	generator, err := openWith(clock)
	if errors.Is(err, idgen.ErrLifetime) && setup.Clock == nil && setup.At.IsZero() {
		// The epoch is later than the first moment, if the generator can be made today: no clock stands before it.
		var epoch time.Time
		if epoch, err = epochOf(openWith(NewManualClock(time.Now()))); err == nil {
			clock = NewManualClock(epoch)
			generator, err = openWith(clock)
		}
	}
	if err != nil {
		t.Fatalf("idgentest: %v", err)
	}
	t.Cleanup(func() { _ = generator.Close(context.Background()) })
	if err := begin(generator, setup); err != nil {
		t.Fatalf("idgentest: %v", err)
	}
	return &Generator{generator: generator, clock: clock}
}

// epochOf is that of a generator that was made only to be asked.
func epochOf(generator *idgen.Generator, err error) (time.Time, error) {
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = generator.Close(context.Background()) }()
	layout, err := generator.Layout()
	if err != nil {
		return time.Time{}, err
	}
	info, err := layout.Info()
	return time.UnixMilli(info.EpochUnixMs).UTC(), err
}

// begin drops what is below the sequence that the first id is to have.
func begin(generator *idgen.Generator, setup Setup) error {
	layout, err := generator.Layout()
	if err != nil {
		return err
	}
	info, err := layout.Info()
	if err != nil {
		return err
	}
	isSnowflake := info.Tick != 0
	if isSnowflake && setup.Start != 0 {
		return errors.New("Setup.Start is for numbers; where a snowflake starts is told by At and Sequence")
	}
	if setup.Sequence == 0 {
		return nil
	}
	if !isSnowflake {
		return errors.New("Setup.Sequence is for snowflakes; where numbers start is told by Start")
	}
	if setup.Sequence < 0 || uint64(setup.Sequence) >= info.IDsPerTick {
		return fmt.Errorf("Setup.Sequence is %d; allowed: 0 to %d, with the layout %s", setup.Sequence,
			info.IDsPerTick-1, info.Text)
	}
	_, err = generator.Fill(make([]int64, setup.Sequence))
	return err
}

// Clock is the generator's clock, which stands still until the test moves it.
func (g *Generator) Clock() *ManualClock { return g.clock }

// Get returns the real generator, which fails by itself alone: for all that Generator has no method for.
func (g *Generator) Get() *idgen.Generator { return g.generator }

// FailNext makes the next n calls that draw ids return an error of this status, with the message that the status has in
// every language; then all is as before. TryNext returns ErrWouldBlock where the status is retryable, as always.
// Nothing is drawn, and nothing waits. Replaces what was told before. Panics if n is below 1, and for a number that is
// no status.
func (g *Generator) FailNext(n int, status idgen.Status) {
	if n < 1 {
		panic(fmt.Sprintf("idgentest: FailNext: n is %d; allowed: 1 and above", n))
	}
	g.script.tell(0, n, status)
}

// FailAfter makes each call that draws ids return an error of this status after that many more ids, until Recover. A
// Fill that needs more returns how many it has written. Only ids that a call has got count. Replaces what was told
// before. Panics if ids is negative, and for a number that is no status.
func (g *Generator) FailAfter(ids int, status idgen.Status) {
	if ids < 0 {
		panic(fmt.Sprintf("idgentest: FailAfter: ids is %d; allowed: 0 and above", ids))
	}
	g.script.tell(ids, 0, status)
}

// Recover ends what FailNext and FailAfter have begun.
func (g *Generator) Recover() { g.script.recover() }

func drawn[T any](ctx context.Context, g *Generator, draw func() (T, error)) (T, error) {
	if ctx.Err() != nil {
		return draw() // which says so
	}
	may := g.script.take(1)
	if may.failure != nil {
		var none T
		return none, may.failure
	}
	id, err := draw()
	if err != nil {
		g.script.putBack(may, 1)
	}
	return id, err
}

func filled(ctx context.Context, g *Generator, ids []int64, fill func([]int64) (int, error)) (int, error) {
	if ctx.Err() != nil {
		return fill(ids)
	}
	may := g.script.take(len(ids))
	if may.ids == 0 && may.failure != nil {
		return 0, may.failure
	}
	written, err := fill(ids[:may.ids])
	if err != nil {
		g.script.putBack(may, may.ids-written)
		return written, err
	}
	return written, may.failure
}

// Next is [idgen.Generator.Next].
func (g *Generator) Next() (int64, error) { return drawn(context.Background(), g, g.generator.Next) }

// NextContext is [idgen.Generator.NextContext].
func (g *Generator) NextContext(ctx context.Context) (int64, error) {
	return drawn(ctx, g, func() (int64, error) { return g.generator.NextContext(ctx) })
}

// TryNext is [idgen.Generator.TryNext].
func (g *Generator) TryNext() (int64, error) {
	id, err := drawn(context.Background(), g, g.generator.TryNext)
	var failure *idgen.Error
	if errors.As(err, &failure) && failure.Retryable() {
		return 0, &idgen.Error{Status: idgen.ErrWouldBlock, Message: idgen.ErrWouldBlock.Error()}
	}
	return id, err
}

// NextText is [idgen.Generator.NextText].
func (g *Generator) NextText() (string, error) {
	return drawn(context.Background(), g, g.generator.NextText)
}

// NextTextContext is [idgen.Generator.NextTextContext].
func (g *Generator) NextTextContext(ctx context.Context) (string, error) {
	return drawn(ctx, g, func() (string, error) { return g.generator.NextTextContext(ctx) })
}

// Fill is [idgen.Generator.Fill].
func (g *Generator) Fill(ids []int64) (int, error) {
	return filled(context.Background(), g, ids, g.generator.Fill)
}

// FillContext is [idgen.Generator.FillContext].
func (g *Generator) FillContext(ctx context.Context, ids []int64) (int, error) {
	return filled(ctx, g, ids, func(part []int64) (int, error) { return g.generator.FillContext(ctx, part) })
}

// All is [idgen.Generator.All].
func (g *Generator) All() iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for {
			id, err := g.Next()
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// NextFor is [idgen.Generator.NextFor].
func (g *Generator) NextFor(owner idgen.Owner) (int64, error) {
	return g.NextForContext(context.Background(), owner)
}

// NextForContext is [idgen.Generator.NextForContext].
func (g *Generator) NextForContext(ctx context.Context, owner idgen.Owner) (int64, error) {
	return drawn(ctx, g, func() (int64, error) { return g.generator.NextForContext(ctx, owner) })
}

// FillFor is [idgen.Generator.FillFor].
func (g *Generator) FillFor(owner idgen.Owner, ids []int64) (int, error) {
	return g.FillForContext(context.Background(), owner, ids)
}

// FillForContext is [idgen.Generator.FillForContext].
func (g *Generator) FillForContext(ctx context.Context, owner idgen.Owner, ids []int64) (int, error) {
	return filled(ctx, g, ids, func(part []int64) (int, error) { return g.generator.FillForContext(ctx, owner, part) })
}

// Decode is [idgen.Generator.Decode].
func (g *Generator) Decode(id int64) (idgen.Parts, error) { return g.generator.Decode(id) }

// Close is [idgen.Generator.Close]. The test's end closes a generator that is still open.
func (g *Generator) Close(ctx context.Context) error { return g.generator.Close(ctx) }
