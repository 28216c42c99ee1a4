//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// LazyGenerator is a generator that is opened by its first use. Made by [Lazy] or [NewLazy]; safe for use by any number
// of goroutines. A copy would open another generator: pass the pointer.
type LazyGenerator struct {
	options   []Option
	wait      time.Duration
	subject   string
	generator atomic.Pointer[Generator] // stays when it is closed, and says so

	mutex    sync.Mutex
	opening  *opening // nil: nobody opens
	isClosed bool
}

// opening is one opening, by one goroutine. The others wait for it, and share its failure.
type opening struct {
	cancel context.CancelFunc
	isOver chan struct{}
	err    error // nil: it is open, or the context of the goroutine that opened has ended
}

// Between two attempts to open: twice as long each time.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 2 * time.Second
)

// Lazy makes a handle for a package variable. It takes what [Open] takes, but opens nothing, reads nothing and cannot
// fail.
//
//	var orders = idgen.Lazy("idgen.toml", "orders")
//
// The first use opens the generator, once, however many goroutines want it at the same moment: the others wait. What is
// wrong with the configuration is the error of that call. If opening fails, all who waited for it get the error, and
// the next call tries again. An error that is retryable is tried again before, for [WithOpenWait]: the store is down,
// or the worker is still held by the process that this one replaces.
func Lazy(path, name string, options ...Option) *LazyGenerator {
	l := NewLazy(append([]Option{file{path, name}}, options...)...)
	l.subject = fmt.Sprintf("%q of %q", name, path)
	return l
}

// NewLazy is [Lazy] with options alone, as [New] takes them.
func NewLazy(options ...Option) *LazyGenerator {
	l := &LazyGenerator{wait: time.Minute}
	named := map[string]string{}
	for _, option := range options {
		switch o := option.(type) {
		case openWait:
			l.wait = time.Duration(o)
			continue
		case setting:
			named[o.key] = o.value
		case Options:
			for key, value := range o {
				named[key] = value
			}
		}
		l.options = append(l.options, option)
	}
	for _, key := range []string{"name", "kind", "tag"} { // not all: a store's URL may hold a password
		if value, has := named[key]; has {
			l.subject = strings.TrimSpace(fmt.Sprintf("%s %s=%q", l.subject, key, value))
		}
	}
	return l
}

// WithOpenWait sets how long a [LazyGenerator] tries again to open after an error that is retryable; by default one
// minute, and not at all with 0. The last attempt may take wait_max longer. [New] and [Open] refuse it.
func WithOpenWait(wait time.Duration) Option { return openWait(wait) }

type openWait time.Duration

func (w openWait) apply(*config) error {
	return &Error{Status: ErrUnsupported,
		Message: "WithOpenWait is for Lazy and NewLazy; New and Open wait for wait_max and worker_wait"}
}

// Get returns the generator, and opens it if it is not open yet: for all that a LazyGenerator has no method for. May
// block, up to WithOpenWait; ctx ends the wait, also that for another goroutine which opens.
//
// Errors: those of [New] and [Open]; ErrClosed after Close; ErrUnsupported if a clock, a store or a log of the
// program's own asks for the generator while it is being opened.
func (l *LazyGenerator) Get(ctx context.Context) (*Generator, error) {
	for {
		if g := l.generator.Load(); g != nil {
			return g, nil
		}
		if ctx.Err() != nil {
			return nil, cancelled(ctx, ErrCancelled.Error())
		}
		opens, stop := context.WithCancel(ctx)
		mine := &opening{cancel: stop, isOver: make(chan struct{})}
		current, err := l.begin(mine)
		if current == mine {
			return l.open(opens, ctx, mine)
		}
		stop()
		if err != nil {
			return nil, err
		}
		if current == nil {
			continue
		}
		// Of the opening itself or of another generator's: neither may wait for a goroutine that may wait for it.
		if C.idgen_go_is_callback() != 0 {
			return nil, l.failure(ErrUnsupported, "is used by a clock, a store or a log that its opening "+
				"waits for; use another generator there")
		}
		select {
		case <-ctx.Done():
		case <-current.isOver:
			if current.err != nil {
				return nil, current.err
			}
		}
	}
}

// begin makes mine the opening that is under way, unless there is another. Nil: it is open by now.
func (l *LazyGenerator) begin(mine *opening) (current *opening, err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	switch {
	case l.generator.Load() != nil:
		return nil, nil
	case l.isClosed:
		return nil, l.failure(ErrClosed, "is closed; make another one")
	case l.opening == nil:
		l.opening = mine
	}
	return l.opening, nil
}

// open opens until opens ends: with the caller's ctx, or by Close.
func (l *LazyGenerator) open(opens, ctx context.Context, mine *opening) (g *Generator, err error) {
	defer mine.cancel()
	defer func() {
		l.mutex.Lock()
		isClosed := l.isClosed
		if isClosed && (err == nil || errors.Is(err, ErrCancelled)) {
			err = l.failure(ErrClosed, "is closed; make another one")
		} else if err == nil {
			l.generator.Store(g)
		}
		if ctx.Err() == nil { // else it is this caller's alone, and the next of those who wait opens
			mine.err = err
		}
		l.opening = nil
		close(mine.isOver)
		l.mutex.Unlock()
		if err != nil && g != nil {
			_ = g.Close(context.WithoutCancel(ctx))
			g = nil
		}
	}()
	deadline := time.Now().Add(l.wait)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		g, err = New(opens, l.options...)
		var failure *Error
		left := time.Until(deadline)
		if !errors.As(err, &failure) || !failure.Retryable() || left <= 0 {
			return g, err
		}
		tryAgain := time.NewTimer(min(max(pause, failure.RetryAfter), left))
		select {
		case <-tryAgain.C:
		case <-opens.Done():
			tryAgain.Stop()
			return nil, cancelled(opens, ErrCancelled.Error())
		}
	}
}

func (l *LazyGenerator) failure(status Status, message string) *Error {
	return &Error{Status: status, Message: strings.TrimSpace(l.subject + ": the lazy generator " + message)}
}

// IsOpen reports whether the generator is open. Opens nothing.
func (l *LazyGenerator) IsOpen() bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.generator.Load() != nil && !l.isClosed
}

// String says which generator this is, and whether it is open. Opens nothing.
func (l *LazyGenerator) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	state := "not open"
	if l.isClosed {
		state = "closed"
	} else if l.generator.Load() != nil {
		state = "open"
	}
	parts := slices.DeleteFunc([]string{"LazyGenerator", l.subject, "(" + state + ")"},
		func(part string) bool { return part == "" })
	return strings.Join(parts, " ")
}

// Next is [Generator.Next] of the generator, which the first call opens. Then it costs a read of a pointer more.
func (l *LazyGenerator) Next() (int64, error) {
	if g := l.generator.Load(); g != nil {
		return g.Next()
	}
	return l.NextContext(context.Background())
}

// NextContext is [Generator.NextContext]; ctx ends the wait for opening too.
func (l *LazyGenerator) NextContext(ctx context.Context) (int64, error) {
	g, err := l.Get(ctx)
	if err != nil {
		return 0, err
	}
	return g.NextContext(ctx)
}

// NextText is [Generator.NextText].
func (l *LazyGenerator) NextText() (string, error) { return l.NextTextContext(context.Background()) }

// NextTextContext is [Generator.NextTextContext]; ctx ends the wait for opening too.
func (l *LazyGenerator) NextTextContext(ctx context.Context) (string, error) {
	g, err := l.Get(ctx)
	if err != nil {
		return "", err
	}
	return g.NextTextContext(ctx)
}

// Fill is [Generator.Fill].
func (l *LazyGenerator) Fill(ids []int64) (int, error) {
	return l.FillContext(context.Background(), ids)
}

// FillContext is [Generator.FillContext]; ctx ends the wait for opening too.
func (l *LazyGenerator) FillContext(ctx context.Context, ids []int64) (int, error) {
	g, err := l.Get(ctx)
	if err != nil {
		return 0, err
	}
	return g.FillContext(ctx, ids)
}

// Close closes the handle for good, and its generator as [Generator.Close] does. Later uses return ErrClosed: nothing
// is opened again. An opening that is under way ends. May be called more than once. Errors: those of Generator.Close.
func (l *LazyGenerator) Close(ctx context.Context) error {
	l.mutex.Lock()
	l.isClosed = true
	if l.opening != nil {
		l.opening.cancel()
	}
	g := l.generator.Load()
	l.mutex.Unlock()
	if g == nil {
		return nil
	}
	return g.Close(ctx)
}
