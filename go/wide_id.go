//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"unsafe"
)

// WideID is an id of 8 or of 16 bytes, as NextWideFor makes them. The length tells them apart, not the value: keep it
// with the bytes. A comparable value, and so a key of a map. The zero value is no id.
//
// In JSON and other texts it is what String returns; in a binary column, Bytes.
type WideID struct {
	// As idgen_wide_id_t, so that the C side writes into a slice of these.
	size     uint32
	reserved uint32
	bytes    [16]byte
}

var _ [unsafe.Sizeof(WideID{})]byte = [unsafe.Sizeof(C.idgen_wide_id_t{})]byte{}

// WideIDOf returns an id of 8 bytes.
func WideIDOf(id int64) WideID {
	wide := WideID{size: 8}
	binary.BigEndian.PutUint64(wide.bytes[:], uint64(id))
	return wide
}

// WideIDFromBytes returns an id of 8 or of 16 bytes, which are big-endian. Errors: ErrValue for another length.
func WideIDFromBytes(id []byte) (WideID, error) {
	if len(id) != 8 && len(id) != 16 {
		message := fmt.Sprintf("an id has 8 or 16 bytes; these are %d", len(id))
		return WideID{}, &Error{Status: ErrValue, Message: message}
	}
	wide := WideID{size: uint32(len(id))}
	copy(wide.bytes[:], id)
	return wide, nil
}

// IsWide reports whether the id has 16 bytes.
func (id WideID) IsWide() bool { return id.size == 16 }

// Bytes returns the 8 or 16 bytes, big-endian, so that those of one length sort like the ids.
func (id WideID) Bytes() []byte { return bytes.Clone(id.bytes[:id.size]) }

// Int64 returns an id of 8 bytes as a number, and false for one of 16.
func (id WideID) Int64() (int64, bool) {
	if id.size != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(id.bytes[:])), true
}

// High returns the first 8 of 16 bytes as a number; 0 for an id of 8.
func (id WideID) High() uint64 {
	if !id.IsWide() {
		return 0
	}
	return binary.BigEndian.Uint64(id.bytes[:])
}

// Low returns the last 8 bytes as a number: all of an id of 8.
func (id WideID) Low() uint64 {
	if !id.IsWide() {
		return binary.BigEndian.Uint64(id.bytes[:])
	}
	return binary.BigEndian.Uint64(id.bytes[8:])
}

// Compare orders ids as their bytes are, unsigned; those of 8 bytes come before those of 16, which follow when 8 bytes
// are used up. The result is negative, 0 or positive, as slices.SortFunc takes it.
func (id WideID) Compare(other WideID) int {
	if id.size != other.size {
		return cmp.Compare(id.size, other.size)
	}
	return bytes.Compare(id.bytes[:], other.bytes[:])
}

// String returns the id in hexadecimal, 16 or 32 digits: what FormatWide gives with Hex.
func (id WideID) String() string { return hex.EncodeToString(id.bytes[:id.size]) }

// MarshalText is String.
func (id WideID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText reads what MarshalText writes. Errors: those of ParseWide.
func (id *WideID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = WideID{}
		return nil
	}
	parsed, err := ParseWide(string(text), Hex)
	if err == nil {
		*id = parsed
	}
	return err
}

func (id WideID) toC() C.idgen_wide_id_t { return *(*C.idgen_wide_id_t)(unsafe.Pointer(&id)) }

func wideFromC(id C.idgen_wide_id_t) WideID { return *(*WideID)(unsafe.Pointer(&id)) }

func wideResult(result C.idgen_go_wide) (WideID, error) {
	if err := failed(result.failure); err != nil {
		return WideID{}, err
	}
	return wideFromC(result.id), nil
}
