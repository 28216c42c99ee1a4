//go:build cgo

package idgen

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

var errNobodyLends = errors.New("the pool gave no connection within the bound")

// lender borrows connections from a pool, and waits for the pool no longer than a bound.
//
// A context could end the wait too, but we would lose our place in the pool's queue: transactions that empty the pool
// and then wait for us would empty it again before we return. So a goroutine keeps waiting, and a connection that comes
// too late is offered to the next caller for as long as the bound.
type lender struct {
	mutex   sync.Mutex
	offers  chan offer
	overdue int // seekers whose caller has given up; a caller waits for every other seeker
}

type offer struct {
	connection *sql.Conn
	err        error
}

// borrow returns errNobodyLends, the pool's error, or why ctx ended.
func (l *lender) borrow(ctx context.Context, db *sql.DB, bound time.Duration) (*sql.Conn, error) {
	offers, adopted := l.adopt()
	if !adopted {
		go l.seek(db, bound, offers)
	}
	select {
	case found := <-offers:
		return found.connection, found.err
	case <-ctx.Done():
		l.giveUp()
		return nil, ctx.Err()
	case <-time.After(bound):
		l.giveUp()
		return nil, errNobodyLends
	}
}

func (l *lender) giveUp() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.overdue++
}

func (l *lender) adopt() (offers chan offer, adopted bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.offers == nil {
		l.offers = make(chan offer)
	}
	if l.overdue == 0 {
		return l.offers, false
	}
	l.overdue--
	return l.offers, true
}

func (l *lender) seek(db *sql.DB, bound time.Duration, offers chan offer) {
	connection, err := db.Conn(context.Background())
	linger := bound
	if err != nil {
		linger = 0 // why the server was down then is of no use to a later caller
	}
	for {
		select {
		case offers <- offer{connection, err}:
			return
		case <-time.After(linger):
		}
		if _, adopted := l.adopt(); adopted { // nobody has claimed it
			if connection != nil {
				_ = connection.Close()
			}
			return
		}
		linger = bound // every other seeker has a caller: ours is about to ask
	}
}
