package idgen_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func TestTheHostsClockIsTheTimeInTheIdAndItsLogHearsOfAClockSetBack(t *testing.T) {
	clock := newFakeClock()
	var mutex sync.Mutex
	var heard []string
	g := newSnowflake(t, idgen.WithClock(clock), idgen.WithOnClockBack("continue"),
		idgen.WithLog(func(level idgen.LogLevel, message string) {
			mutex.Lock()
			defer mutex.Unlock()
			if level >= idgen.LogWarning {
				heard = append(heard, message)
			}
		}))
	clock.Advance(1234 * time.Millisecond)
	if parts := need(g.Decode(mustNext(t, g)))(t); !parts.Timestamp().Equal(clock.Now()) {
		t.Errorf("got %s, want %s", parts.Timestamp(), clock.Now())
	}
	clock.SetBack(time.Second)
	mustNext(t, g)
	mutex.Lock()
	defer mutex.Unlock()
	if !strings.Contains(strings.Join(heard, "\n"), "clock") {
		t.Errorf("heard %q", heard)
	}
}

func TestANilCallbackIsRefused(t *testing.T) {
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.WithClock(nil))), idgen.ErrArgument)
	wantStatus(t, errorOf(idgen.New(t.Context(), idgen.WithLog(nil))), idgen.ErrArgument)
}
