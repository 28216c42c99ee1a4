// What Go's kit has of its own. What the kits of all languages do is in tests/vectors/kits.tsv, for ../kits_test.go.
package idgentest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/idgentest"
)

var at = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func wantNext(t *testing.T, source idgen.IDSource, want int64) {
	t.Helper()
	if id, err := source.Next(); id != want || err != nil {
		t.Fatalf("got %d, %v, want %d", id, err, want)
	}
}

func wantParts(t *testing.T, ids *idgentest.Generator, time time.Time, worker, sequence uint64) {
	t.Helper()
	id, err := ids.Next()
	parts, _ := ids.Decode(id)
	if err != nil || !parts.Timestamp().Equal(time) || parts.Worker != worker || parts.Sequence != sequence {
		t.Fatalf("got %+v, %v", parts, err)
	}
}

func TestTheShortFormsTakeOptionsToo(t *testing.T) {
	wantNext(t, idgentest.Segment(t, 1000, idgen.WithTag("orders")), 1000)
	wantParts(t, idgentest.Snowflake(t, at, 5, idgen.WithOnClockBack("fail")), at, 1, 5)
}

func TestGeneratorsMayShareAClock(t *testing.T) {
	clock := idgentest.NewManualClock(at)
	first := idgentest.New(t, idgentest.Setup{Clock: clock}, idgen.WithWorker(1))
	second := idgentest.New(t, idgentest.Setup{Clock: clock}, idgen.WithWorker(2))
	clock.Advance(time.Minute)
	if first.Clock() != clock || second.Clock() != clock {
		t.Error("the clock is another one")
	}
	wantParts(t, first, at.Add(time.Minute), 1, 0)
	wantParts(t, second, at.Add(time.Minute), 2, 0)
}

func TestAnEndedContextComesBeforeAToldFailure(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailNext(1, idgen.ErrStoreFull)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, next := ids.NextContext(ended)
	_, fill := ids.FillContext(ended, make([]int64, 3))
	_, told := ids.Get().Next()
	for _, got := range []struct {
		err  error
		want idgen.Status
	}{{next, idgen.ErrCancelled}, {fill, idgen.ErrCancelled}, {told, idgen.ErrStoreFull}} {
		if !errors.Is(got.err, got.want) {
			t.Errorf("got %v, want %s", got.err, got.want.Name())
		}
	}
}

// refused is a testing.TB that panics where it would end the test.
type refused struct{ testing.TB }

func (refused) Helper()                                {}
func (refused) Fatalf(format string, arguments ...any) { panic(fmt.Sprintf(format, arguments...)) }

func TestASetupThatContradictsItselfEndsTheTestAndOneOfNoStatusPanics(t *testing.T) {
	for why, call := range map[string]func(){
		"At and Clock": func() {
			setup := idgentest.Setup{At: at, Clock: idgentest.NewManualClock(at)}
			idgentest.New(refused{}, setup, idgen.WithWorker(1))
		},
		"no status": func() { idgentest.Segment(t, 1).FailNext(1, idgen.Status(19)) },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, why) {
					t.Errorf("%q does not say: %s", said, why)
				}
			}()
			call()
		}()
	}
}
