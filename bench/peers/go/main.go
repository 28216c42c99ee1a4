// Command peers makes ids with idgen and with other libraries, in one process: peers ROUNDS. It prints a JSON object,
// in ns an id; the subjects take turns. The floor of UUIDs and ULIDs is time.Now and an atomic addition.
package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/idgen/idgen/go"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
)

const calls = 200_000

var (
	counter atomic.Int64
	sink16  [16]byte
	sink12  [12]byte
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// Of oklog/ulid, what rises within a millisecond, as idgen's do; it is for one goroutine.
var entropy = ulid.Monotonic(rand.Reader, 0)

// google/uuid asks the system for random bits once an id, unless it is told to keep some.
var pools = map[string]bool{"google/uuid, its pool uuid4": true, "google/uuid, its pool uuid7": true}

var subjects = []struct {
	name string
	call func()
}{
	{"clock + atomic", func() { counter.Add(time.Now().UnixNano()) }},
	{"idgen uuid4", func() { sink16 = must(idgen.NewUUID4()) }},
	{"idgen uuid7", func() { sink16 = must(idgen.NewUUID7()) }},
	{"idgen ulid", func() { sink16 = must(idgen.NewULID()) }},
	{"idgen object_id", func() { sink12 = must(idgen.NewObjectID()) }},
	{"google/uuid uuid4", func() { sink16 = must(uuid.NewRandom()) }},
	{"google/uuid uuid7", func() { sink16 = must(uuid.NewV7()) }},
	{"google/uuid, its pool uuid4", func() { sink16 = must(uuid.NewRandom()) }},
	{"google/uuid, its pool uuid7", func() { sink16 = must(uuid.NewV7()) }},
	{"rs/xid object_id", func() { sink12 = xid.New() }}, // as long, and as much random
	{"oklog/ulid ulid", func() { sink16 = must(ulid.New(ulid.Now(), entropy)) }},
	{"oklog/ulid, its default ulid", func() { sink16 = ulid.Make() }},
}

func main() {
	rounds := must(strconv.Atoi(os.Args[1]))
	running := contests()
	runtime.LockOSThread()
	ns := map[string][]float64{}
	for round := 0; round <= rounds; round++ {
		for _, subject := range subjects {
			if pools[subject.name] {
				uuid.EnableRandPool()
			}
			begun := time.Now()
			for i := 0; i < calls; i++ {
				subject.call()
			}
			took := time.Since(begun)
			uuid.DisableRandPool()
			if round > 0 { // the first one warms up
				ns[subject.name] = append(ns[subject.name], float64(took.Nanoseconds())/calls)
			}
		}
	}
	runtime.UnlockOSThread()
	for round := 0; round <= rounds; round++ {
		for threads := 1; threads <= 2; threads++ {
			for contest, all := range running {
				for _, one := range all {
					cost := contestCost(one, threads)
					if round > 0 {
						name := fmt.Sprintf("%s %d %s", contest, threads, one.name)
						ns[name] = append(ns[name], cost)
					}
				}
			}
		}
	}
	versions := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			versions[module.Path] = module.Version
		}
	}
	out := map[string]any{"ns": ns, "versions": versions}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}
