/* The counter on its page, and the supply that opens ranges on it: threads that draw, a loader, ranges that are given
 * back, a close, a fork at any moment. How to run it and what it shows: docs/models.md.
 *
 * Every load, store and locked instruction on the page is a step of its own. Spin's memory is sequentially consistent:
 * what weaker orders may do is not shown here.
 *
 *   here                   there
 *   draw                   Counter::draw(n) (core/src/reserve/counter.hpp): one number, step first
 *   draw_some              Counter::draw_between(): a batch, compare and set
 *   open()                 Counter::open()
 *   leave()                Counter::leave(); with park(), give_up(), seal() around it where they are used
 *   drawn_next()           Counter::next()
 *   open_range             Supply::open_range() (core/src/reserve/supply.cpp), of claim() and refill(); pass_mark(),
 *                          install()
 *   Lane                   Supply::load(), accept(), load_failed(); retire()
 *   close                  Supply::close(), give_back()
 *   lock, unlock           HotPage::mutex (core/src/reserve/hot_page.hpp)
 *   max_id                 a tag's row: Store::segment_grant(), segment_return()
 *   Other                  another process that draws from the tag: what it takes is between our ranges
 *   fork, alive            ForkPage, Generator::ensure_alive(), begin(), Supply::prime()
 *
 * A counter that is parked stands at kParked and above: here it stays at PARKED. Numbers are granted by STEP. The mark
 * of a range is behind its first number. */

#ifndef NUMBERS
#define NUMBERS 5 /* that the store can grant; the first one is 1 */
#endif
#ifndef DRAWERS
#define DRAWERS 2 /* threads of the parent that draw one by one */
#endif
#ifndef BATCHES
#define BATCHES 0 /* those that draw batches */
#endif
#ifndef RETIRES
#define RETIRES 1 /* segment.max_age: how often ranges may be given back while the generator is open */
#endif
#ifndef CLOSES
#define CLOSES 1
#endif
#ifndef FORKS
#define FORKS 0
#endif
#ifndef STEP
#define STEP 2 /* numbers in a grant: as many, or one */
#endif
#define WANT 2 /* numbers in a batch, at most */
#define PARKED 100

#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define BITS(from, to) (((1 << (to)) - 1) & ~((1 << (from)) - 1)) /* from, ..., to - 1 */

typedef Page { /* zero in a child */
  byte next;
  byte limit;
  byte first;
  byte resume;
  bool locked;
  bool beginning;
  bool alive
};

typedef Supply {
  byte first; /* RangeChain::current (core/src/reserve/range_chain.hpp) */
  byte end;
  byte ready_first; /* RangeChain::ready; ready_end 0: it is empty */
  byte ready_end;
  byte highest_end;
  bool loading;
  bool posted; /* the lane has not begun it */
  bool closed
};

Page page[2]; /* of a process and of its child */
Supply supply[2];
byte max_id;
short issued; /* bit N: the number N has been issued, here or by the other process */
#ifndef FAULT
short held[2]; /* bit N: N was granted to this image, and it has not given it back */
#endif
byte retires, closes, forks;

#define P page[i]
#define S supply[i]

/* States that must be reachable. */
#ifdef REACH_CLAIM_IN_A_LATER_RANGE
#define REACHED_BY_CLAIM (S.first > 1 && n == S.first)
#endif
#ifdef REACH_NUMBER_OF_SOMEBODY_ELSE
#define REACHED_BY_DRAW (n < l && n < P.first && (issued >> n & 1))
#endif
#ifdef REACH_GRANTED_AGAIN
short given_back;
#define REACHED_BY_ISSUE(number) (given_back >> (number) & 1)
#endif
#ifdef REACH_CHILD
#define REACHED_BY_ISSUE(number) (i == 1 && page[0].alive && (number) > STEP)
#endif
#ifdef REACH_BATCH_MEETS_OTHER_RANGE
#define REACHED_BY_MISS (end > n && P.first > n)
#endif
#ifndef REACHED_BY_CLAIM
#define REACHED_BY_CLAIM false
#endif
#ifndef REACHED_BY_DRAW
#define REACHED_BY_DRAW false
#endif
#ifndef REACHED_BY_MISS
#define REACHED_BY_MISS false
#endif
#ifndef REACHED_BY_ISSUE
#define REACHED_BY_ISSUE(number) false
#endif

inline issue(from, to) {
  assert(!REACHED_BY_ISSUE(from));
  assert((issued & BITS(from, to)) == 0); /* no number is issued twice */
  issued = issued | BITS(from, to);
#ifndef FAULT
  assert((BITS(from, to) & ~held[i]) == 0) /* I1: what is issued was granted, and is not given back */
#endif
}

#define NEXT (P.next < PARKED -> P.next : P.resume) /* Counter::next() */

inline lock() {
  atomic { !P.locked -> P.locked = true }
}
#define UNLOCK P.locked = false

/* One locked instruction, and what only the holder of the lock sees. */
inline leave() {
  assert(P.next >= P.resume || P.next >= PARKED);
  if
  :: P.next < PARKED -> P.resume = P.next; P.next = PARKED
  :: else
  fi
}

inline open(from, to) {
  assert(P.resume != PARKED && P.first <= from && P.limit <= from);
#ifdef LIMIT_BEFORE_NEXT
  P.limit = to;
#endif
#ifndef LIMIT_BEFORE_FIRST
  P.first = from;
#endif
#ifdef OPEN_RESETS_NEXT
  P.next = from;
#else
  seen = P.next;
  do
  :: atomic { seen < from && P.next == seen -> P.next = from }; break
  :: atomic { seen < from && P.next != seen -> seen = P.next }
  :: atomic { seen >= from -> break }
  od;
  if
#ifdef PARK_FORGETS_WHERE
  :: seen == PARKED -> P.next = from
#else
  :: seen == PARKED -> P.next = MAX(from, P.resume)
#endif
  :: else
  fi;
#endif
  P.limit = to;
#ifdef LIMIT_BEFORE_FIRST
  P.first = from;
#endif
  seen = 0
}

/* The store's steps, each of them atomic. */
inline grant(numbers) {
  max_id + numbers <= NUMBERS ->
  from = max_id + 1;
  to = from + numbers;
  max_id = max_id + numbers
#ifndef FAULT
  ;
  held[i] = held[i] | BITS(from, to)
#endif
}
inline take_back(from_, to_) {
  if
  :: to_ > from_ && max_id == to_ - 1 ->
     max_id = from_ - 1;
#ifdef REACH_GRANTED_AGAIN
     given_back = given_back | BITS(from_, to_)
#endif
  :: else
  fi
}
inline let_go(from_, to_) {
#ifndef FAULT
  held[i] = held[i] & ~(to_ > from_ -> BITS(from_, to_) : 0)
#else
  skip
#endif
}

inline accept() {
  assert(from >= S.highest_end); /* I7: no store that keeps its commits is taken for one that does not */
  S.highest_end = to;
  S.ready_first = from;
  S.ready_end = to
}

inline install() {
  d_step { S.first = S.ready_first; S.end = S.ready_end; S.ready_first = 0; S.ready_end = 0 };
  open(S.first, S.first + 1) /* the mark is after the first number */
}

inline start_loader() {
  if
  :: !S.loading && S.ready_end == 0 -> S.loading = true; S.posted = true
  :: else
  fi
}

/* A child finds that nothing is alive, and begins. */
inline ensure_alive() {
  if
  :: P.alive
  :: !P.alive ->
     lock();
     do
     :: P.beginning -> UNLOCK; !P.beginning; lock()
     :: !P.beginning -> break
     od;
     if
     :: P.alive -> UNLOCK
     :: !P.alive ->
        P.beginning = true;
        UNLOCK;
        if
        :: atomic { grant(1) }
        :: atomic { grant(STEP) }
        :: max_id == NUMBERS -> lock(); P.beginning = false; UNLOCK; goto over
        fi;
        lock();
        d_step { accept(); from = 0; to = 0 };
        install();
        UNLOCK;
        P.alive = true;
        lock();
        P.beginning = false;
        UNLOCK
     fi
  fi
}

/* claimed: for the number n, which was drawn. Leaves is_granted. */
inline open_range(claimed) {
  lock();
  do
  :: S.closed -> UNLOCK; goto over
  :: !S.closed ->
     need = (claimed -> n : NEXT);
     if
#ifndef CLAIM_IGNORES_FIRST
     :: claimed && need < S.first -> UNLOCK; is_granted = false; break
     :: !(claimed && need < S.first) && need < P.limit -> UNLOCK; is_granted = true; break
     :: !(claimed && need < S.first) && need >= P.limit && need < S.end ->
#else
     :: need < P.limit -> UNLOCK; is_granted = true; break
     :: need >= P.limit && need < S.end ->
#endif
        P.limit = S.end; /* pass_mark() */
        d_step { start_loader() };
        UNLOCK;
        is_granted = true;
        break
     :: need >= P.limit && need >= S.end && S.ready_end != 0 -> install()
     :: need >= P.limit && need >= S.end && S.ready_end == 0 ->
        P.limit = 0;
        d_step { leave(); start_loader() };
        if
        :: UNLOCK; (!S.loading || S.closed); lock() /* it waits */
        :: true -> /* it may not wait, and gives up what it drew */
           d_step {
             if
#ifdef PARK_GIVES_UP_ALWAYS
             :: claimed -> P.resume = need
#else
             :: claimed && P.resume == need + 1 -> P.resume = need
#endif
             :: else
             fi
           };
           UNLOCK;
           is_granted = false;
           break
        fi
     fi
  od;
  need = 0
}

proctype Drawer(byte i) {
  byte n, l, need, seen, from, to;
  bool is_granted;

  ensure_alive();
end:
  do
  :: atomic { /* the locked instruction */
       P.next <= NUMBERS + 1 || P.next == PARKED ->
       n = P.next;
       P.next = (P.next == PARKED -> PARKED : P.next + 1)
     };
     l = P.limit;
     if
#ifdef DROP_FIRST_CHECK
     :: d_step { n < l -> issue(n, n + 1) }
#else
     :: d_step { n < l && n >= P.first -> issue(n, n + 1) }
     :: n < l && n < P.first -> assert(!REACHED_BY_DRAW); goto claim
#endif
     :: n >= l ->
claim:
        ensure_alive();
        if
        :: n < PARKED ->
           open_range(true);
           if
           :: is_granted -> d_step { assert(!REACHED_BY_CLAIM); issue(n, n + 1) }
           :: else
           fi
        :: else -> open_range(false)
        fi
     fi;
     d_step { n = 0; l = 0; is_granted = false }
#if FORKS
  :: atomic {
       forks == 0 && i == 0 ->
       forks++;
#ifdef FORK_KEEPS_PAGE
       page[1].next = page[0].next; page[1].limit = page[0].limit; page[1].first = page[0].first;
       page[1].resume = page[0].resume; page[1].alive = page[0].alive;
#endif
#ifdef FORK_KEEPS_SUPPLY
       supply[1].first = supply[0].first; supply[1].end = supply[0].end; page[1].alive = page[0].alive;
#endif
       run Drawer(1);
       run Lane(1)
     }
#endif
  od;

over:
  skip
}

proctype Batch(byte i) {
  byte n, end, need, seen, from, to;
  bool is_granted;

  ensure_alive();
end_:
  do
  :: n = P.next;
again:
     end = P.limit;
     if
     :: n >= end -> ensure_alive(); open_range(false)
     :: d_step { n < end && P.next == n -> P.next = MIN(n + WANT, end); issue(n, P.next) }
     :: atomic { n < end && P.next != n -> assert(!REACHED_BY_MISS); n = P.next }; goto again
     fi;
     d_step { n = 0; end = 0; is_granted = false }
  od;

over:
  skip
}

/* Too old: what nobody drew is given back. */
inline retire() {
  lock();
  if
  :: S.closed || S.loading -> UNLOCK
  :: else ->
     retires++;
     if
     :: NEXT < S.end ->
#ifdef RETIRE_WITHOUT_LEAVING
        old_first = MAX(NEXT, S.first);
#else
        P.limit = 0;
        d_step {
          leave();
#ifndef GIVE_UP_BURNS_NOTHING
          P.resume++;
#endif
          old_first = MAX(P.resume, S.first)
        };
#endif
        d_step {
          old_end = S.end; S.first = 0; S.end = 0;
          let_go(old_first, old_end);
          if
          :: old_first >= old_end -> old_first = 0; old_end = 0 /* all of it is drawn */
          :: else
          fi
        }
     :: else
     fi;
     if
     :: NEXT >= S.end && S.ready_end != 0 ->
        if
        :: true -> install() /* that one is younger; what is below it is burned */
        :: d_step { /* that one is old too, and begins where the other one ends */
             old_end == S.ready_first ->
             let_go(S.ready_first, S.ready_end);
             old_end = S.ready_end; S.ready_first = 0; S.ready_end = 0;
             gives_back = true
           }
        :: d_step { /* that one is old too; what is between them is not ours */
             old_end != S.ready_first ->
             let_go(S.ready_first, S.ready_end);
             old_first = S.ready_first; old_end = S.ready_end; S.ready_first = 0; S.ready_end = 0;
             gives_back = true
           }
        fi
     :: NEXT >= S.end && S.ready_end == 0 -> gives_back = (old_first < old_end)
     :: else
     fi;
     if
     :: gives_back -> d_step { S.highest_end = old_first; S.loading = true }
     :: else
     fi;
     UNLOCK;
     if
     :: gives_back ->
        if
        :: d_step { true -> take_back(old_first, old_end) }
        :: true /* burned */
        fi;
        lock();
        S.loading = false;
        UNLOCK
     :: else
     fi
  fi;
  d_step { old_first = 0; old_end = 0; gives_back = false }
}

/* Background work on the store: one task at a time. */
proctype Lane(byte i) {
  byte from, to, old_first, old_end, seen;
  bool gives_back;

end:
  do
  :: atomic { S.posted -> S.posted = false };
     if
     :: atomic { grant(1) }
     :: atomic { grant(STEP) }
     :: true /* it failed, or its answer is lost: burned */
     fi;
#ifdef CHILD_GOES_ON_IN_THE_CALL
     if
     :: atomic {
          to != 0 && forks == 0 ->
          forks++;
          supply[1].first = S.first; supply[1].end = S.end; supply[1].highest_end = S.highest_end;
          run Heir(1, from, to)
        }
     :: true
     fi;
#endif
     lock();
     d_step {
       if
       :: to != 0 -> accept()
       :: else
       fi;
       from = 0; to = 0
     };
     if
     :: S.ready_end == 0 && NEXT < S.end -> P.limit = MIN(P.limit, NEXT + (S.end - NEXT) / 2) /* load_failed() */
     :: else
     fi;
     S.loading = false;
     UNLOCK

  :: retires < RETIRES && P.alive && !S.closed && !S.loading -> retire()
  od
}

#ifdef CHILD_GOES_ON_IN_THE_CALL
/* A child that was forked in a store of the host: its thread returns from the store, and goes on in Supply::load() of
 * the supply that it inherited; the timer that accept() sets runs Supply::retire() there. Supply::is_ours()
 * forbids it. */
proctype Heir(byte i; byte from; byte to) {
  byte old_first, old_end, seen;
  bool gives_back;

  lock();
  d_step { S.ready_first = from; S.ready_end = to; S.loading = false };
  UNLOCK;
  retire()
}
#endif

proctype Closer(byte i) {
  byte first, end;

  if
  :: closes < CLOSES && P.alive -> closes++
  :: closes >= CLOSES || max_id == NUMBERS -> goto over
  fi;
  lock();
  d_step {
    S.closed = true;
    if
    :: S.posted -> S.posted = false; S.loading = false
    :: else
    fi
  };
#ifdef CLOSE_BEFORE_SEALING
  first = MAX(NEXT, S.first);
#endif
  P.limit = 0;
  d_step {
    leave();
#ifndef CLOSE_BEFORE_SEALING
    first = MAX(P.resume, S.first);
#endif
    P.resume = PARKED;
    end = S.end; S.first = 0; S.end = 0;
    let_go(first, end)
  };
  do
  :: S.loading -> UNLOCK; !S.loading; lock()
  :: S.loading -> UNLOCK; goto over
  :: !S.loading -> break
  od;
  let_go(S.ready_first, S.ready_end);
  UNLOCK;
  if
  :: S.ready_end != 0 -> d_step { take_back(S.ready_first, S.ready_end) }
  :: else
  fi;
  d_step { take_back(first, end) };

over:
  skip
}

/* Its numbers are issued as soon as they are granted. */
proctype Other() {
end:
  do
  :: d_step {
       max_id < NUMBERS ->
       max_id++;
       assert(!(issued >> max_id & 1));
       issued = issued | 1 << max_id
     }
  od
}

init {
  atomic {
    byte n = 0;
    do
    :: n < DRAWERS -> run Drawer(0); n++
    :: else -> break
    od;
    n = 0;
    do
    :: n < BATCHES -> run Batch(0); n++
    :: else -> break
    od;
    n = 0;
    /* It has begun: as ensure_alive() leaves it in the child. */
    max_id = STEP;
    supply[0].first = 1; supply[0].end = STEP + 1; supply[0].highest_end = STEP + 1;
    page[0].first = 1; page[0].next = 1; page[0].limit = 2; page[0].alive = true;
#ifndef FAULT
    held[0] = BITS(1, STEP + 1);
#endif
    run Lane(0);
    run Closer(0);
    run Other()
  }
}
