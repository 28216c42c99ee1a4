// What Go's kit has of its own. What the kits of all languages do is in tests/vectors/kits.tsv, for ../kits_test.go.
package idgentest_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
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

func wantStatus(t *testing.T, err error, want idgen.Status) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want.Name())
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

func TestEveryStatusIsToldWithItsOwnMessage(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	for _, status := range idgen.Statuses()[1:] {
		ids.FailNext(1, status)
		if _, err := ids.NextText(); !errors.Is(err, status) || err.Error() != status.Error() {
			t.Errorf("got %v, want %s", err, status.Name())
		}
	}
	wantNext(t, ids, 1)
}

func TestATellingOfNoStatusPanics(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "no status") {
			t.Errorf("%q does not say so", said)
		}
		wantNext(t, ids, 1)
	}()
	ids.FailNext(1, idgen.Status(19))
}

func TestAnEndedContextComesBeforeAToldFailure(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailNext(1, idgen.ErrStoreFull)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := ids.NextContext(ended)
	wantStatus(t, err, idgen.ErrCancelled)
	_, err = ids.FillContext(ended, make([]int64, 3))
	wantStatus(t, err, idgen.ErrCancelled)
	_, err = ids.Next()
	wantStatus(t, err, idgen.ErrStoreFull)
}

func TestALazyGeneratorAndAGeneratorAreSourcesToo(t *testing.T) {
	lazy := idgen.NewLazy(idgen.WithKind("segment"), idgen.WithStore("memory:"+t.Name()), idgen.WithStoreCreate(true))
	sources := []idgen.IDSource{idgentest.Segment(t, 1), idgentest.Segment(t, 1).Get(), lazy}
	for _, source := range sources {
		wantNext(t, source, 1)
		if text, err := source.NextText(); text != "2" || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
		if err := source.Close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err := source.Next()
		wantStatus(t, err, idgen.ErrClosed)
	}
}

// refused is a testing.TB that notes why the test was ended.
type refused struct {
	testing.TB
	why string
}

func (r *refused) Helper() {}
func (r *refused) Fatalf(format string, arguments ...any) {
	r.why = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

func TestASetupThatContradictsItselfEndsTheTestAndSaysWhy(t *testing.T) {
	test := &refused{}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		idgentest.New(test, idgentest.Setup{At: at, Clock: idgentest.NewManualClock(at)}, idgen.WithWorker(1))
	}()
	<-ended
	if !strings.Contains(test.why, "At and Clock") {
		t.Errorf("%q does not say why", test.why)
	}
}
