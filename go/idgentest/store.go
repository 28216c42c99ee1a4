package idgentest

import (
	"context"
	"sync"

	"github.com/idgen/idgen/go"
)

// freshStore is a store in memory that belongs to one generator. Its clock is the generator's.
type freshStore struct {
	before int64 // the highest number that counts as granted already: of the tag, or of each period
	clock  *ManualClock

	mutex   sync.Mutex
	maxIDs  map[[2]string]int64 // by namespace and tag
	formats map[string]string
	rows    map[workerKey]idgen.WorkerRow // LeaseLeftMs: when the lease ends
}

type workerKey struct {
	namespace string
	worker    int64
}

var (
	_ idgen.AboveStore  = (*freshStore)(nil)
	_ idgen.WorkerStore = (*freshStore)(nil)
)

func newFreshStore(first int64, clock *ManualClock) *freshStore {
	return &freshStore{
		before: first - 1, clock: clock,
		maxIDs: map[[2]string]int64{}, formats: map[string]string{}, rows: map[workerKey]idgen.WorkerRow{},
	}
}

func (s *freshStore) SegmentTake(ctx context.Context, namespace, tag string, count int64) (int64, error) {
	return s.SegmentTakeAbove(ctx, namespace, tag, count, 0)
}

func (s *freshStore) SegmentTakeAbove(_ context.Context, namespace, tag string, count, above int64) (int64, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := [2]string{namespace, tag}
	before := max(s.maxIDs[key], above)
	if before == above { // nothing was granted yet: of the tag, or of a serial's period
		before += s.before
	}
	s.maxIDs[key] = before + count
	return before + 1, nil
}

func (s *freshStore) SegmentReturn(_ context.Context, namespace, tag string, last, unused int64) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := [2]string{namespace, tag}
	if s.maxIDs[key] == last {
		s.maxIDs[key] = last - unused
	}
	return nil
}

func (s *freshStore) NamespaceFormat(_ context.Context, namespace, format string) (string, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.formats[namespace] == "" {
		s.formats[namespace] = format
	}
	return s.formats[namespace], nil
}

func (s *freshStore) nowMs() int64 { return s.clock.Now().UnixMilli() }

func (s *freshStore) WorkerRead(_ context.Context, namespace string, worker int64) (idgen.WorkerRow, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.read(workerKey{namespace, worker}), nil
}

func (s *freshStore) read(key workerKey) idgen.WorkerRow {
	row, now := s.rows[key], s.nowMs()
	row.Worker = key.worker
	row.LeaseLeftMs -= now
	row.StoreNowMs = now
	return row
}

func (s *freshStore) WorkerList(_ context.Context, namespace string) ([]idgen.WorkerRow, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found []idgen.WorkerRow
	for key := range s.rows {
		if key.namespace == namespace {
			found = append(found, s.read(key))
		}
	}
	return found, nil
}

func (s *freshStore) WorkerReplace(_ context.Context, namespace string, change idgen.WorkerChange) (bool, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	key := workerKey{namespace, change.Worker}
	row := s.rows[key]
	if row.Fence != change.SeenFence || row.Owner != change.SeenOwner || row.HwMs != change.SeenHwMs {
		return false, nil
	}
	s.rows[key] = idgen.WorkerRow{
		Worker: change.Worker, Fence: change.Fence, Owner: change.Owner, HwMs: change.HwMs,
		LeaseLeftMs: s.nowMs() + change.LeaseMs, Holder: change.Holder,
	}
	return true, nil
}
