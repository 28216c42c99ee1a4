//go:build cgo

package idgen

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// Block is a run of ids that belong to the caller: First, First+Stride, …, Count of them. Those it does not use are
// lost.
type Block struct {
	First  int64
	Count  int64
	Stride int64 // 1 if the sequence is the lowest field of the layout
}

// At returns the id at an index, from 0 to Count-1.
func (b Block) At(index int64) int64 { return b.First + index*b.Stride }

// All iterates over the ids of the block, in order.
func (b Block) All() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := range b.Count {
			if !yield(b.At(i)) {
				return
			}
		}
	}
}

// Block draws a run of at least one and at most want ids: what is left of the reservation (segment) or of the tick
// (snowflake). May block like Next. Errors: those of Next, and ErrArgument if want is not positive.
func (g *Generator) Block(want int64) (Block, error) {
	return g.BlockContext(context.Background(), want)
}

// Blocks hands out the ids of a generator from blocks, with one atomic addition per id and one cgo call per block. It
// is for segments whose Next is a cgo call, about five times an addition: those with order = relaxed or segment.stride.
// The Next of others is an addition too. Safe for use by any number of goroutines.
//
// The price: the ids left in the current block are lost when the program ends, they can be handed out after the
// generator was closed, and the time in a snowflake id is when the block was drawn. Use Next where that matters.
type Blocks struct {
	generator *Generator
	size      int64
	current   atomic.Pointer[openBlock]
	refill    sync.Mutex
}

// Every draw writes taken and reads Block. On one cache line, each draw would wait for that line to come back from the
// processor that drew before.
type openBlock struct {
	Block
	_     [64]byte
	taken atomic.Int64 // may exceed Count: callers that get a number above it return for the next block
	_     [64]byte
}

// Blocks makes a source that draws blocks of at most size ids. It draws the first when the first id is requested.
func (g *Generator) Blocks(size int64) *Blocks {
	return &Blocks{generator: g, size: size}
}

// Next returns the next id of the current block, or of a new one if that is used up. Only drawing a new block may
// block, like Next of the generator, and can fail.
func (b *Blocks) Next() (int64, error) {
	for {
		block := b.current.Load()
		if block != nil {
			if index := block.taken.Add(1) - 1; index < block.Count {
				return block.At(index), nil
			}
		}
		if err := b.replace(block); err != nil {
			return 0, err
		}
	}
}

// replace draws a new block, unless another goroutine has done so since used was read.
func (b *Blocks) replace(used *openBlock) error {
	b.refill.Lock()
	defer b.refill.Unlock()
	if b.current.Load() != used {
		return nil
	}
	taken, err := b.generator.Block(b.size)
	if err != nil {
		return err
	}
	b.current.Store(&openBlock{Block: taken})
	return nil
}
