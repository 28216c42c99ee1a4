package idgentest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
	"github.com/idgen/idgen/go/idgentest"
)

var at = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

func mustNext(t *testing.T, source idgen.IDSource) int64 {
	t.Helper()
	id, err := source.Next()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func wantNext(t *testing.T, source idgen.IDSource, want int64) {
	t.Helper()
	if id := mustNext(t, source); id != want {
		t.Fatalf("got %d, want %d", id, want)
	}
}

func wantStatus(t *testing.T, err error, want idgen.Status) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got %v, want %s", err, want.Name())
	}
}

func TestASegmentStartsWhereItIsToldEachTimeAnew(t *testing.T) {
	for range 2 { // the same tag and namespace, but nothing is left of the first
		ids := idgentest.Segment(t, 1000, idgen.WithTag("orders"))
		wantNext(t, ids, 1000)
		wantNext(t, ids, 1001)
		ids.Close(t.Context())
	}
	wantNext(t, idgentest.Segment(t, 1), 1)
	wantNext(t, idgentest.New(t, idgentest.Setup{}, idgen.WithKind("segment")), 1)
}

func TestASnowflakeStartsAtTheTimeAndTheSequenceThatItIsTold(t *testing.T) {
	ids := idgentest.Snowflake(t, at, 5)
	parts, err := ids.Decode(mustNext(t, ids))
	if err != nil || !parts.Timestamp().Equal(at) || parts.Sequence != 5 || parts.Worker != 1 {
		t.Fatalf("got %+v, %v", parts, err)
	}
	again := mustNext(t, idgentest.Snowflake(t, at, 0))
	wantNext(t, idgentest.Snowflake(t, at, 0), again)
}

func TestTheClockMovesAsItIsToldAndDaysAreNoLeap(t *testing.T) {
	ids := idgentest.Snowflake(t, at, 0)
	for _, by := range []time.Duration{time.Millisecond, time.Hour, 400 * 24 * time.Hour} {
		ids.Clock().Advance(by)
		parts, err := ids.Decode(mustNext(t, ids))
		if err != nil || !parts.Timestamp().Equal(ids.Clock().Now()) {
			t.Fatalf("got %s, %v; the clock stands at %s", parts.Timestamp(), err, ids.Clock().Now())
		}
	}
}

func TestAClockSetBackIsWhatThePolicySays(t *testing.T) {
	fails := idgentest.Snowflake(t, at, 0, idgen.WithOnClockBack("fail"))
	mustNext(t, fails)
	fails.Clock().SetBack(time.Second)
	_, err := fails.Next()
	wantStatus(t, err, idgen.ErrClockBack)

	waits := idgentest.Snowflake(t, at, 0, idgen.WithWaitMax(time.Hour))
	first := mustNext(t, waits)
	waits.Clock().SetBack(59 * time.Minute) // which no test would outlast, if it were waited for
	if next := mustNext(t, waits); next <= first {
		t.Errorf("DUPLICATE or out of order: %d after %d", next, first)
	}
	waits.Clock().Set(at.Add(-2 * time.Hour))
	_, err = waits.Next()
	wantStatus(t, err, idgen.ErrClockBack)
}

func TestATickThatIsUsedUpMovesTheClock(t *testing.T) {
	ids := idgentest.Snowflake(t, at, 4095)
	mustNext(t, ids)
	parts, err := ids.Decode(mustNext(t, ids))
	if err != nil || parts.Timestamp().Sub(at) != time.Millisecond || parts.Sequence != 0 {
		t.Fatalf("got %+v, %v", parts, err)
	}
}

func TestGeneratorsMayShareAClock(t *testing.T) {
	clock := idgentest.NewManualClock(at)
	first := idgentest.New(t, idgentest.Setup{Clock: clock}, idgen.WithWorker(1))
	second := idgentest.New(t, idgentest.Setup{Clock: clock}, idgen.WithWorker(2))
	clock.Advance(time.Minute)
	for _, ids := range []*idgentest.Generator{first, second} {
		if ids.Clock() != clock {
			t.Error("the clock is another one")
		}
		if parts, err := ids.Decode(mustNext(t, ids)); err != nil || !parts.Timestamp().Equal(at.Add(time.Minute)) {
			t.Errorf("got %+v, %v", parts, err)
		}
	}
}

func TestTheNextCallsFailWithTheErrorOfTheStatus(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailNext(2, idgen.ErrStoreUnavailable)
	for range 2 {
		_, err := ids.NextContext(t.Context())
		wantStatus(t, err, idgen.ErrStoreUnavailable)
		var failure *idgen.Error
		if !errors.As(err, &failure) || !failure.Retryable() || failure.Message != idgen.ErrStoreUnavailable.Error() {
			t.Errorf("got %#v", err)
		}
	}
	wantNext(t, ids, 1)
}

func TestEveryStatusCanBeTold(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	for _, status := range idgen.Statuses() {
		if status == 0 {
			continue
		}
		ids.FailNext(1, status)
		_, err := ids.NextText()
		wantStatus(t, err, status)
	}
	wantNext(t, ids, 1)
}

func TestAFillFailsHalfwayAndSaysWhatItHasWritten(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailAfter(5, idgen.ErrExhausted)
	wantNext(t, ids, 1)
	column := make([]int64, 10)
	written, err := ids.Fill(column)
	wantStatus(t, err, idgen.ErrExhausted)
	if written != 4 || column[3] != 5 || column[4] != 0 {
		t.Errorf("wrote %d: %v", written, column)
	}
	_, err = ids.Next()
	wantStatus(t, err, idgen.ErrExhausted)
	ids.Recover()
	wantNext(t, ids, 6)
}

func TestTryNextAnswersAsTheRealOne(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailNext(1, idgen.ErrStoreUnavailable)
	_, err := ids.TryNext()
	wantStatus(t, err, idgen.ErrWouldBlock)
	ids.FailNext(1, idgen.ErrExhausted)
	_, err = ids.TryNext()
	wantStatus(t, err, idgen.ErrExhausted)
	if id, err := ids.TryNext(); id != 1 || err != nil {
		t.Errorf("got %d, %v", id, err)
	}
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

func TestIdsWithAnOwnerAndAllFailToo(t *testing.T) {
	ids := idgentest.New(t, idgentest.Setup{Start: 7}, idgen.WithKind("business"))
	owner := idgen.OwnerInt(42)
	id, err := ids.NextFor(owner)
	if err != nil {
		t.Fatal(err)
	}
	if parts, err := ids.Decode(id); err != nil || parts.Segment != 7 {
		t.Errorf("got %+v, %v", parts, err)
	}
	ids.FailAfter(1, idgen.ErrForked)
	written, err := ids.FillFor(owner, make([]int64, 2))
	wantStatus(t, err, idgen.ErrForked)
	if written != 1 {
		t.Errorf("wrote %d", written)
	}
	_, err = ids.NextFor(owner)
	wantStatus(t, err, idgen.ErrForked)

	numbers := idgentest.Segment(t, 1)
	numbers.FailAfter(2, idgen.ErrExhausted)
	var seen []int64
	for id, err := range numbers.All() {
		if err != nil {
			wantStatus(t, err, idgen.ErrExhausted)
			break
		}
		seen = append(seen, id)
	}
	if len(seen) != 2 {
		t.Errorf("saw %v", seen)
	}
}

func TestATableOfAFileIsUsedButNotItsStore(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "idgen.toml")
	table := "[orders]\nkind = \"segment\"\nstore = \"sqlite:ids.db\"\npattern = \"SO-{000000}\"\n" +
		"segment.grant_log = 100\nwitness = \"seen\"\n" +
		"[events]\nworker = \"auto\"\nworker_source = \"cosid\"\nworker_url = \"mysql://app@db.invalid/ids\"\n" +
		"sequence_start = \"random\"\nstore = \"postgres://app@db.invalid/ids\"\n" +
		"[bills]\nkind = \"serial\"\npattern = \"{yyyyMMdd}{0000}\"\nstore = \"sqlite:ids.db\"\n"
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	orders := idgentest.Open(t, path, "orders", idgentest.Setup{Start: 41})
	if text, err := orders.NextTextContext(t.Context()); text != "SO-000041" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	events := idgentest.Open(t, path, "events", idgentest.Setup{At: at})
	if parts, err := events.Decode(mustNext(t, events)); err != nil || !parts.Timestamp().Equal(at) {
		t.Errorf("got %+v, %v", parts, err)
	}
	bills := idgentest.Open(t, path, "bills", idgentest.Setup{At: at, Start: 7})
	for _, want := range []string{"202611210007", "202611210008"} {
		if text, err := bills.NextText(); text != want || err != nil {
			t.Errorf("got %q, %v, want %s", text, err, want)
		}
	}
	bills.Clock().Advance(24 * time.Hour)
	if text, err := bills.NextText(); text != "202611220007" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	if made, err := filepath.Glob(filepath.Join(folder, "ids.db*")); len(made) != 0 || err != nil {
		t.Errorf("%v was made", made)
	}
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

func (r *refused) Helper()        {}
func (r *refused) Cleanup(func()) {}
func (r *refused) Fatalf(format string, arguments ...any) {
	r.why = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

func TestASetupThatDoesNotApplyEndsTheTestAndSaysWhy(t *testing.T) {
	for want, setup := range map[string]func(t testing.TB){
		"numbers": func(t testing.TB) { idgentest.New(t, idgentest.Setup{Start: 5}, idgen.WithWorker(1)) },
		"snowflakes": func(t testing.TB) {
			idgentest.New(t, idgentest.Setup{Sequence: 5}, idgen.WithKind("segment"))
		},
		"0 to 4095": func(t testing.TB) { idgentest.Snowflake(t, at, 4096) },
		"At and Clock": func(t testing.TB) {
			idgentest.New(t, idgentest.Setup{At: at, Clock: idgentest.NewManualClock(at)}, idgen.WithWorker(1))
		},
		"2026-11-21T08": func(t testing.TB) { idgentest.Snowflake(t, at.Add(-time.Hour), 0, idgen.WithEpoch(at)) },
		"segment.stp":   func(t testing.TB) { idgentest.Segment(t, 1, idgen.With("segment.stp", 1)) },
	} {
		test := &refused{}
		var ended sync.WaitGroup
		ended.Add(1)
		go func() {
			defer ended.Done()
			setup(test)
		}()
		ended.Wait()
		if !strings.Contains(test.why, want) {
			t.Errorf("%q does not say %q", test.why, want)
		}
	}
}

func TestAnInvalidTellingPanicsWithWhatIsAllowed(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	for want, tell := range map[string]func(){
		"1 and above": func() { ids.FailNext(0, idgen.ErrClosed) },
		"0 and above": func() { ids.FailAfter(-1, idgen.ErrClosed) },
		"no status":   func() { ids.FailNext(1, idgen.Status(19)) },
		"SetBack":     func() { ids.Clock().Advance(-1) },
		"use Advance": func() { ids.Clock().SetBack(-1) },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, want) {
					t.Errorf("%q does not say %q", said, want)
				}
			}()
			tell()
		}()
	}
	wantNext(t, ids, 1)
}

func TestOnlyIdsThatWereDrawnCountTowardsAFailure(t *testing.T) {
	// No second window: if it were requested just while the clock is set back, the next request would be seconds later.
	ids := idgentest.Snowflake(t, at, 0, idgen.WithLayout("time:30s worker:10 sequence:2"),
		idgen.WithSequenceStart("zero"), idgen.WithWaitMax(100*time.Millisecond),
		idgen.WithWindow(3*time.Minute), idgen.WithMaxAhead(3*time.Minute))
	next := func() error { _, err := ids.Next(); return err }
	fill := func(n, wantWritten int) func() error {
		return func() error {
			written, err := ids.Fill(make([]int64, n))
			if written != wantWritten {
				t.Errorf("a fill with %d wrote %d, want %d", n, written, wantWritten)
			}
			return err
		}
	}
	for name, call := range map[string]struct {
		draw   func() error
		back   time.Duration
		drawn  int
		status idgen.Status
	}{
		"next":    {next, time.Hour, 0, idgen.ErrClockBack},
		"text":    {func() error { _, err := ids.NextText(); return err }, time.Hour, 0, idgen.ErrClockBack},
		"try":     {func() error { _, err := ids.TryNext(); return err }, time.Hour, 0, idgen.ErrWouldBlock},
		"fill":    {fill(6, 0), time.Hour, 0, idgen.ErrClockBack},
		"part":    {fill(6, 4), 0, 4, idgen.ErrOverloaded}, // waits longer than it may for the next tick
		"halfway": {fill(9, 4), 0, 4, idgen.ErrOverloaded},
		"owner":   {func() error { _, err := ids.NextFor(idgen.OwnerInt(1)); return err }, 0, 0, idgen.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			ids.Clock().Advance(time.Second)
			mustNext(t, ids)
			ids.Clock().Advance(time.Second)
			now := ids.Clock().Now()
			ids.FailAfter(6, idgen.ErrStoreFull)
			ids.Clock().SetBack(call.back)
			wantStatus(t, call.draw(), call.status)
			ids.Clock().Set(now)
			for range 6 - call.drawn {
				ids.Clock().Advance(time.Second)
				mustNext(t, ids)
			}
			wantStatus(t, next(), idgen.ErrStoreFull)
			ids.Recover()
		})
	}
}

func TestATableWithANewEpochBeginsThere(t *testing.T) {
	epoch := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ids := idgentest.New(t, idgentest.Setup{Sequence: 3}, idgen.WithWorker(1), idgen.WithEpoch(epoch))
	parts, err := ids.Decode(mustNext(t, ids))
	if err != nil || !parts.Timestamp().Equal(epoch) || parts.Sequence != 3 || !ids.Clock().Now().Equal(epoch) {
		t.Errorf("got %+v, %v; the clock stands at %s", parts, err, ids.Clock().Now())
	}
}

func TestManyGoroutinesShareTheToldIds(t *testing.T) {
	ids := idgentest.Segment(t, 1)
	ids.FailAfter(100, idgen.ErrExhausted)
	var mutex sync.Mutex
	seen := map[int64]bool{}
	var running sync.WaitGroup
	for range 8 {
		running.Add(1)
		go func() {
			defer running.Done()
			for {
				id, err := ids.Next()
				if err != nil {
					return
				}
				mutex.Lock()
				seen[id] = true
				mutex.Unlock()
			}
		}()
	}
	running.Wait()
	if len(seen) != 100 || !seen[1] || !seen[100] {
		t.Errorf("%d ids", len(seen))
	}
}
