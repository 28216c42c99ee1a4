package idgentest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/idgen/idgen/go"
)

// script is what a test has told a generator to do.
type script struct {
	mutex     sync.Mutex
	fails     bool
	status    idgen.Status
	idsBefore int // that are still drawn
	calls     int // that fail then; 0: all
	tellings  int // so far
}

func (s *script) tell(idsBefore, calls int, status idgen.Status) {
	if status < idgen.ErrHost && !slices.Contains(idgen.Statuses(), status) || status <= 0 {
		panic(fmt.Sprintf("idgentest: %d is no status that a call can fail with; use one of idgen's Err constants",
			int32(status)))
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fails, s.status, s.idsBefore, s.calls = true, status, idsBefore, calls
	s.tellings++
}

func (s *script) recover() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fails = false
}

// taken is what a call may draw.
type taken struct {
	ids     int
	failure error // what the call returns after these; nil: nothing
	telling int
}

func (s *script) take(want int) taken {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.fails {
		return taken{ids: want, telling: s.tellings}
	}
	if want <= s.idsBefore {
		s.idsBefore -= want
		return taken{ids: want, telling: s.tellings}
	}
	drawn := s.idsBefore
	s.idsBefore = 0
	if s.calls > 0 {
		s.calls--
		s.fails = s.calls > 0
	}
	return taken{drawn, &idgen.Error{Status: s.status, Message: s.status.Error()}, s.tellings}
}

// putBack is for what a call has not drawn of that, unless something else was told since.
func (s *script) putBack(t taken, ids int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if t.telling == s.tellings {
		s.idsBefore += ids
	}
}
