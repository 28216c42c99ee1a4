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
}

func (s *script) tell(idsBefore, calls int, status idgen.Status) {
	if status < idgen.ErrHost && !slices.Contains(idgen.Statuses(), status) || status <= 0 {
		panic(fmt.Sprintf("idgentest: %d is no status that a call can fail with; use one of idgen's Err constants",
			int32(status)))
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fails, s.status, s.idsBefore, s.calls = true, status, idsBefore, calls
}

func (s *script) recover() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.fails = false
}

// take says how many ids a call may draw, and what it returns after these.
func (s *script) take(want int) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !s.fails {
		return want, nil
	}
	if want <= s.idsBefore {
		s.idsBefore -= want
		return want, nil
	}
	drawn := s.idsBefore
	s.idsBefore = 0
	if s.calls > 0 {
		s.calls--
		s.fails = s.calls > 0
	}
	return drawn, &idgen.Error{Status: s.status, Message: s.status.Error()}
}
