//go:build cgo

package idgen

// #cgo noescape idgen_go_layout_gene
// #cgo nocallback idgen_go_layout_gene
// #include "idgen_go.h"
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// Owner is whom an id is for, where ids have an owner: with the kind business and with the layout order. An owner is a
// string of at least one byte; OwnerInt(42), OwnerString("42") and OwnerBytes([]byte("42")) are one owner, in every
// language. Made without allocating. The zero value is the empty owner, which is refused.
//
// It is a type, and not a method for each form, because a dozen calls take an owner: each would have three names.
type Owner struct {
	text   string
	number int64
	isInt  bool
}

// OwnerString is the owner that the bytes of a string are.
func OwnerString(owner string) Owner { return Owner{text: owner} }

// OwnerInt is the owner that the decimal text of an integer is.
func OwnerInt(owner int64) Owner { return Owner{number: owner, isInt: true} }

// OwnerBytes is the owner that these bytes are. They are not copied: do not change them while a call uses the Owner.
func OwnerBytes(owner []byte) Owner {
	return Owner{text: unsafe.String(unsafe.SliceData(owner), len(owner))}
}

// toC gives the three arguments that an owner is on the C side.
func (o Owner) toC() (*C.char, C.size_t, C.int64_t) {
	if o.isInt {
		return nil, C.IDGEN_GO_INT, C.int64_t(o.number)
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(o.text))), C.size_t(len(o.text)), 0
}

// Owners is many of them, one for each id of a batch. Made from a slice, which is not copied.
type Owners struct {
	ints  []int64
	texts []string
	bytes [][]byte
}

// OwnersString has an owner for each string, as OwnerString.
func OwnersString(owners []string) Owners { return Owners{texts: owners} }

// OwnersInt has an owner for each integer, as OwnerInt.
func OwnersInt(owners []int64) Owners { return Owners{ints: owners} }

// OwnersBytes has an owner for each slice of bytes, as OwnerBytes.
func OwnersBytes(owners [][]byte) Owners { return Owners{bytes: owners} }

// Len is how many owners there are.
func (o Owners) Len() int { return len(o.ints) + len(o.texts) + len(o.bytes) }

// check refuses a batch in which not every id has an owner.
func (o Owners) check(ids int) error {
	if o.Len() == ids {
		return nil
	}
	message := fmt.Sprintf("%d owners for %d ids; give one owner for each", o.Len(), ids)
	return &Error{Status: ErrArgument, Message: message}
}

// packedOwners is a part of Owners as the C side takes it. Kept for the next batch.
type packedOwners struct {
	bytes []byte
	ends  [C.IDGEN_GO_OWNERS]C.size_t
	count int
}

var packedPool = sync.Pool{New: func() any {
	return &packedOwners{bytes: make([]byte, 0, 16*C.IDGEN_GO_OWNERS)}
}}

// pack takes as many owners as fit, from one on.
func (p *packedOwners) pack(owners Owners, from int) {
	p.bytes = p.bytes[:0]
	for p.count = 0; p.count < len(p.ends) && from+p.count < owners.Len(); p.count++ {
		if owners.texts != nil {
			p.bytes = append(p.bytes, owners.texts[from+p.count]...)
		} else {
			p.bytes = append(p.bytes, owners.bytes[from+p.count]...)
		}
		p.ends[p.count] = C.size_t(len(p.bytes))
	}
}

func (p *packedOwners) address() *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(p.bytes))) }

// free keeps the memory for the next batch, unless owners of an unusual size made it large.
func (p *packedOwners) free() {
	if cap(p.bytes) <= 1<<16 {
		packedPool.Put(p)
	}
}

// GeneRule is how a gene comes from an owner.
type GeneRule int32

// The rules.
const (
	GeneAuto GeneRule = C.IDGEN_GENE_AUTO // GeneMod if time is above and the gene is lowest, as in order; else GeneHash
	GeneHash GeneRule = C.IDGEN_GENE_HASH // the low bits of XXH64 ^ MurmurHash64A of the owner's bytes
	GeneMod  GeneRule = C.IDGEN_GENE_MOD  // the low bits of the owner, an integer from 0 to 2^64 - 1
)

// Gene returns the gene that ids of an owner have in this layout: what Parts.Gene of such an id is. Errors: ErrValue
// for an owner that is empty, or no integer where the rule is GeneMod; ErrUnsupported for a layout without a gene.
func (l *Layout) Gene(owner Owner, rule GeneRule) (uint64, error) {
	data, size, number := owner.toC()
	result := C.idgen_go_layout_gene(l.pointer(), C.int32_t(rule), data, size, number)
	runtime.KeepAlive(l)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	return uint64(result.value), nil
}
