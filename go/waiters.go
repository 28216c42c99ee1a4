//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"time"
)

// waiters lets any number of goroutines wait for an id of one generator. A cgo call that waits holds a thread of the
// system, and thousands of them would end the program. So only one goroutine waits in the core, the leader. When it has
// its id, it draws for those behind it as long as there are ids at once; then the next one leads.
//
// They are served in their order. Each waits no longer than wait_max and gets its own outcome, since the core is told
// how long it has waited here.
type waiters struct {
	mutex  sync.Mutex
	queue  list.List // of *waiter: who has gone is not in it
	joined uint64    // how many ever did
	isLed  bool
}

type waiter struct {
	since  time.Time
	number uint64    // of those who joined
	turn   chan turn // of one: whoever serves does not wait
	place  *list.Element
}

// turn is an id, or the leadership.
type turn struct {
	id    int64
	leads bool
}

// servedAtOnce bounds how long a leader that has its own id already works for others.
const servedAtOnce = 256

// next waits for an id, until ctx ends.
func (w *waiters) next(ctx context.Context, g *Generator) (int64, error) {
	done := ctx.Done() // a context of somebody's own may panic: not with a place in the queue
	me := &waiter{since: time.Now()}
	if C.idgen_go_is_callback() != 0 {
		return w.wait(ctx, g, me) // on a thread of the library's, which the leader may be waiting for
	}
	if !w.join(me) {
		return w.lead(ctx, g, me)
	}
	tooLong := time.NewTimer(time.Duration(C.idgen_go_wait_max_ns(g.pointer())))
	defer tooLong.Stop()
	select {
	case mine := <-me.turn:
		return w.take(ctx, g, me, mine)
	case <-done:
		if w.leave(me) {
			return 0, cancelled(ctx, ErrCancelled.Error())
		}
	case <-tooLong.C:
		if w.leave(me) {
			return w.wait(ctx, g, me) // which is over: for the core to say what was waited for
		}
	}
	return w.take(ctx, g, me, <-me.turn)
}

// join returns false to the one that leads.
func (w *waiters) join(me *waiter) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if !w.isLed {
		w.isLed = true
		return false
	}
	w.joined++
	me.number, me.turn = w.joined, make(chan turn, 1)
	me.place = w.queue.PushBack(me)
	return true
}

// leave returns false if it is this one's turn already.
func (w *waiters) leave(me *waiter) bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if me.place == nil {
		return false
	}
	w.queue.Remove(me.place)
	me.place = nil
	return true
}

func (w *waiters) take(ctx context.Context, g *Generator, me *waiter, mine turn) (int64, error) {
	if mine.leads {
		return w.lead(ctx, g, me)
	}
	return mine.id, nil
}

func (w *waiters) lead(ctx context.Context, g *Generator, me *waiter) (int64, error) {
	defer w.serve(g) // whatever comes of this one's wait
	return w.wait(ctx, g, me)
}

// wait is in the core.
func (w *waiters) wait(ctx context.Context, g *Generator, me *waiter) (int64, error) {
	var result C.idgen_go_number
	err := withFlag(ctx, func(flag *C.int32_t) C.idgen_go_failure {
		result = C.idgen_go_next_waited(g.pointer(), C.uint64_t(time.Since(me.since)), flag)
		return result.failure
	})
	runtime.KeepAlive(g)
	return int64(result.value), err
}

// serve ends a lead.
func (w *waiters) serve(g *Generator) {
	for range servedAtOnce {
		last, some := w.last()
		if !some {
			return
		}
		id, err := g.TryNext()
		if err != nil {
			break // the next one waits, or finds out what is wrong
		}
		// If nobody of these waits any more, the id is lost: one who has come since may have a higher one.
		w.hand(turn{id: id}, last)
	}
	w.pass()
}

// last is the number of the latest one that has joined. False: nobody waits, and nobody leads.
func (w *waiters) last() (uint64, bool) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.isLed = w.queue.Len() > 0
	return w.joined, w.isLed
}

// hand gives it to the first one, if that had joined by then.
func (w *waiters) hand(what turn, last uint64) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if head := w.queue.Front(); head != nil && head.Value.(*waiter).number <= last {
		w.give(head, what)
	}
}

// pass makes the first one lead, if there is one.
func (w *waiters) pass() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if head := w.queue.Front(); head != nil {
		w.give(head, turn{leads: true})
	} else {
		w.isLed = false
	}
}

func (w *waiters) give(head *list.Element, what turn) {
	to := w.queue.Remove(head).(*waiter)
	to.place = nil
	to.turn <- what
}
