package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/idgen/idgen/go"
	sonyflake1 "github.com/sony/sonyflake"
	"github.com/sony/sonyflake/v2"
)

const (
	contestCalls = 1_000_000
	bursts       = 20
)

// A contest's subject draws that many. Each has a loop of its own, and none looks at the others. burst: it draws that
// many when a tick begins, and then no more in it.
type subject struct {
	name  string
	draw  func(count int)
	burst int
	tick  time.Duration
}

var sink atomic.Int64

func open(options idgen.Options) *idgen.Generator {
	options["store"], options["store_create"] = "memory:peers", "true"
	return must(idgen.New(context.Background(), options))
}

// contests are numbers of a counter; snowflakes of so many bits of sequence that they never run out; bursts, half of a
// tick's ids of 12 bits at once, so that nobody waits; and batches of 1024.
func contests() map[string][]subject {
	var bare, last atomic.Int64
	orders := open(idgen.Options{"kind": "segment", "tag": "peers", "segment.step": "1000000"})
	blocks := orders.Blocks(1000)
	events := open(idgen.Options{"layout": "time:40ms worker:1 sequence:22", "worker": "1"})
	snowflake.NodeBits, snowflake.StepBits = 1, 21 // 22 bits in all, at most
	node := must(snowflake.NewNode(1))
	sony := must(sonyflake.New(sonyflake.Settings{
		BitsSequence: 22, BitsMachineID: 1, TimeUnit: time.Millisecond, MachineID: one[int]}))
	epoch := time.UnixMilli(snowflake.Epoch)
	crowded := open(idgen.Options{"layout": "time:41ms worker:10 sequence:12", "worker": "1", "namespace": "burst"})
	snowflake.NodeBits, snowflake.StepBits = 10, 12
	twelve := must(snowflake.NewNode(1))
	sonyTwelve := must(sonyflake.New(sonyflake.Settings{
		BitsSequence: 12, BitsMachineID: 10, TimeUnit: time.Millisecond, MachineID: one[int]}))
	sonyOne := must(sonyflake1.New(sonyflake1.Settings{MachineID: one[uint16]}))
	batch := make([]int64, 1024)
	return map[string][]subject{
		"counter": {
			{name: "atomic.Int64", draw: func(count int) {
				for range count {
					bare.Add(1)
				}
			}},
			{name: "idgen", draw: func(count int) {
				for range count {
					must(orders.Next())
				}
			}},
			{name: "idgen, Blocks(1000)", draw: func(count int) {
				for range count {
					must(blocks.Next())
				}
			}},
		},
		"snowflake": {
			{name: "time.Now + compare-and-swap", draw: func(count int) {
				for range count {
					floor := time.Now().UnixMilli() << 22
					for {
						seen := last.Load()
						if last.CompareAndSwap(seen, max(seen+1, floor)) {
							break
						}
					}
				}
			}},
			{name: "time.Since + compare-and-swap", draw: func(count int) {
				for range count {
					floor := int64(time.Since(epoch)/time.Millisecond) << 22
					for {
						seen := last.Load()
						if last.CompareAndSwap(seen, max(seen+1, floor)) {
							break
						}
					}
				}
			}},
			{name: "idgen", draw: func(count int) {
				for range count {
					must(events.Next())
				}
			}},
			{name: "bwmarrin", draw: func(count int) {
				var all snowflake.ID
				for range count {
					all ^= node.Generate()
				}
				sink.Store(int64(all))
			}},
			{name: "sonyflake 2", draw: func(count int) {
				for range count {
					must(sony.NextID())
				}
			}},
		},
		"burst": {
			{name: "idgen", burst: 2048, tick: time.Millisecond, draw: func(count int) {
				for range count {
					must(crowded.Next())
				}
			}},
			{name: "bwmarrin", burst: 2048, tick: time.Millisecond, draw: func(count int) {
				var all snowflake.ID
				for range count {
					all ^= twelve.Generate()
				}
				sink.Store(int64(all))
			}},
			{name: "sonyflake 2", burst: 2048, tick: time.Millisecond, draw: func(count int) {
				for range count {
					must(sonyTwelve.NextID())
				}
			}},
			// Its format is 8 bits in 10 ms.
			{name: "sonyflake 1", burst: 128, tick: 10 * time.Millisecond, draw: func(count int) {
				for range count {
					must(sonyOne.NextID())
				}
			}},
		},
		"batch": {
			{name: "idgen, counter", draw: func(count int) {
				for range count / len(batch) {
					must(orders.Fill(batch))
				}
			}},
			{name: "idgen, snowflake", draw: func(count int) {
				for range count / len(batch) {
					must(events.Fill(batch))
				}
			}},
		},
	}
}

func one[T int | uint16]() (T, error) {
	return 1, nil
}

// contestCost is the wall time of an id in ns.
func contestCost(of subject, threads int) float64 {
	if of.burst == 0 {
		return float64(together(func() { of.draw(contestCalls) }, threads)) / float64(threads*contestCalls)
	}
	var took time.Duration
	for range bursts {
		for begun := tickOf(of.tick); tickOf(of.tick) == begun; {
		}
		took += together(func() { of.draw(of.burst / threads) }, threads)
	}
	return float64(took.Nanoseconds()) / float64(bursts*of.burst)
}

func tickOf(length time.Duration) int64 {
	return time.Now().UnixNano() / length.Nanoseconds()
}

func together(work func(), threads int) time.Duration {
	var all sync.WaitGroup
	begun := time.Now()
	for range threads - 1 {
		all.Add(1)
		go func() {
			defer all.Done()
			work()
		}()
	}
	work()
	all.Wait()
	return time.Since(begun)
}
