package idgen_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func TestTheHostsClockIsTheTimeInTheId(t *testing.T) {
	clock := newFakeClock()
	g := newSnowflake(t, idgen.WithClock(clock))
	clock.Step(1234 * time.Millisecond)
	parts := need(g.Decode(mustNext(t, g)))(t)
	if !parts.Timestamp().Equal(clock.Now()) {
		t.Errorf("got %s, want %s", parts.Timestamp(), clock.Now())
	}
}

func TestTheLogHearsOfAClockSetBack(t *testing.T) {
	clock := newFakeClock()
	var mu sync.Mutex
	var heard []string
	g := newSnowflake(t, idgen.WithClock(clock), idgen.WithOnClockBack("continue"),
		idgen.WithLog(func(level idgen.LogLevel, message string) {
			mu.Lock()
			defer mu.Unlock()
			if level >= idgen.LogWarning {
				heard = append(heard, message)
			}
		}))
	mustNext(t, g)
	clock.Step(-time.Second)
	mustNext(t, g)
	mu.Lock()
	defer mu.Unlock()
	if len(heard) == 0 || !strings.Contains(strings.Join(heard, "\n"), "clock") {
		t.Errorf("heard %q", heard)
	}
}

func TestANilCallbackIsRefused(t *testing.T) {
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.WithClock(nil))), idgen.ErrArgument)
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.WithLog(nil))), idgen.ErrArgument)
}
