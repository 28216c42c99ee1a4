//go:build cgo

package idgen

// #include "idgen_go_callbacks.h"
import "C"

import (
	"runtime/cgo"
	"sync/atomic"
	"time"
)

// Clock replaces the system's clock: for tests, and for hosts that discipline their own. Now is called for every
// snowflake id, from any goroutine or thread, several at once. Neither method may panic or call the same generator. The
// clock must not refer to the generator: that would keep both in memory for ever.
type Clock interface {
	Now() time.Time
	// Sleep waits for the clock to move on by about d.
	Sleep(d time.Duration)
}

// LogLevel of a message.
type LogLevel int32

// The levels of messages.
const (
	LogInfo    LogLevel = C.IDGEN_LOG_INFO
	LogWarning LogLevel = C.IDGEN_LOG_WARNING
	LogError   LogLevel = C.IDGEN_LOG_ERROR
)

// WithClock sets a clock. It costs a call back into Go for each snowflake id.
func WithClock(clock Clock) Option { return clockOption{clock} }

// WithLog sets a log for what an operator wants to know: a clock set back, a store that fails and comes back. Never
// called on the fast path; may be called by any thread, several at once. It must not panic or call the same generator.
// A function that refers to the generator (say, a method of the struct that contains it) keeps it in memory until Close
// is called, even if nothing else uses it.
func WithLog(log func(level LogLevel, message string)) Option { return logOption{log} }

type clockOption struct{ clock Clock }

func (o clockOption) apply(c *config) error {
	if o.clock == nil {
		return &Error{Status: ErrArgument, Message: "the clock is nil; leave WithClock out to use the system's clock"}
	}
	handle := cgo.NewHandle(o.clock)
	return keepOrDelete(handle, C.idgen_go_config_set_clock(c.handle, C.uintptr_t(handle)))
}

type logOption struct{ log func(LogLevel, string) }

func (o logOption) apply(c *config) error {
	if o.log == nil {
		return &Error{Status: ErrArgument, Message: "the log function is nil; leave WithLog out to log nothing"}
	}
	c.log = &logSink{}
	c.log.call.Store(&o.log)
	handle := cgo.NewHandle(c.log)
	return keepOrDelete(handle, C.idgen_go_config_set_log(c.handle, C.uintptr_t(handle)))
}

// logSink is what the core refers to. The function is separate, so that it can be released before the core's memory.
type logSink struct {
	call atomic.Pointer[func(LogLevel, string)]
}

// forgetHost releases a closed generator's log and store: if they refer to the generator, the collector would never
// find it unreachable. Another generator on the same worker has its own log.
func (g *Generator) forgetHost() {
	if g == nil || g.lifetime == nil {
		return
	}
	if g.lifetime.log != nil {
		g.lifetime.log.call.Store(nil)
	}
	if g.lifetime.store != nil {
		g.lifetime.store.forget()
	}
}

// keepOrDelete: on success the core owns the handle and gives it back by idgenGoRelease; on failure it does not.
func keepOrDelete(handle cgo.Handle, failure C.idgen_go_failure) error {
	err := failed(failure)
	if err != nil {
		handle.Delete()
	}
	return err
}

//export idgenGoNow
func idgenGoNow(ctx C.uintptr_t) C.int64_t {
	return C.int64_t(cgo.Handle(ctx).Value().(Clock).Now().UnixNano())
}

//export idgenGoSleep
func idgenGoSleep(ctx C.uintptr_t, ns C.uint64_t) {
	cgo.Handle(ctx).Value().(Clock).Sleep(time.Duration(min(uint64(ns), 1<<63-1)))
}

//export idgenGoLog
func idgenGoLog(ctx C.uintptr_t, level C.int32_t, message *C.char) {
	if log := cgo.Handle(ctx).Value().(*logSink).call.Load(); log != nil {
		(*log)(LogLevel(level), C.GoString(message))
	}
}

//export idgenGoRelease
func idgenGoRelease(ctx C.uintptr_t) {
	if sink, ok := cgo.Handle(ctx).Value().(*storeSink); ok {
		sinks.Delete(sink)
	}
	cgo.Handle(ctx).Delete()
}
