//go:build cgo

package idgen

// #cgo noescape idgen_go_standard_fill
// #cgo nocallback idgen_go_standard_fill
// #cgo noescape idgen_go_standard_parse
// #cgo nocallback idgen_go_standard_parse
// #include "idgen_go.h"
import "C"

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// Standard is a published form of an id: UUID (RFC 9562), ULID (github.com/ulid/spec) or ObjectId (MongoDB's). Such ids
// are made without a generator, a worker or a store. Random bits take their place, drawn from the kernel anew in each
// process and after [Reset]. So nothing reserves these ids: that two processes make the same one is not impossible,
// only less likely than anything else that can fail.
//
// UUIDs of version 7, ULIDs and ObjectIds rise within a process, whatever goroutine makes them. If the clock is set
// back by up to 10 s, or more of them are made than their counter has room for (2^19 a millisecond, 2^23 a second), the
// time in them is ahead of the clock's. If it is set back by more, they begin anew at its time.
type Standard int32

// The published forms. All are big-endian: bytes.Compare orders ids of one form like their texts.
const (
	StandardUUID     Standard = C.IDGEN_STANDARD_UUID      // 16 bytes: a UUID of any version; not made here
	StandardUUID4    Standard = C.IDGEN_STANDARD_UUID4     // 16 bytes: 122 random bits
	StandardUUID7    Standard = C.IDGEN_STANDARD_UUID7     // 16 bytes: 48 bits of Unix ms, 20 of a counter, 54 random
	StandardULID     Standard = C.IDGEN_STANDARD_ULID      // 16 bytes: 48 bits of Unix ms, 20 of a counter, 60 random
	StandardObjectID Standard = C.IDGEN_STANDARD_OBJECT_ID // 12 bytes: 32 bits of Unix s, 40 of the process, 24 counted
)

var standardNames = [...]string{
	StandardUUID: "uuid", StandardUUID4: "uuid4", StandardUUID7: "uuid7", StandardULID: "ulid",
	StandardObjectID: "object_id",
}

func (s Standard) isKnown() bool { return s >= 0 && int(s) < len(standardNames) }

// String is "uuid", "uuid4", "uuid7", "ulid" or "object_id", the same in all languages; "Standard(99)" for a number
// that is none of them.
func (s Standard) String() string {
	if !s.isKnown() {
		return fmt.Sprintf("Standard(%d)", int32(s))
	}
	return standardNames[s]
}

// length is in bytes.
func (s Standard) length() int {
	if s == StandardObjectID {
		return 12
	}
	return 16
}

// NewUUID4 makes a UUID of version 4, which is random. uuid.UUID(id) turns it into the type of github.com/google/uuid.
// Any number of goroutines may call it. Never blocks. Does not allocate.
//
// Errors: ErrUnsupported if the kernel, before Linux 4.14, does not let a forked child know that it is one.
func NewUUID4() ([16]byte, error) { return newStandard(StandardUUID4) }

// NewUUID7 makes a UUID of version 7, which holds the time, and rises. uuid.UUID(id) turns it into the type of
// github.com/google/uuid. Goroutines, blocking, errors: as NewUUID4.
func NewUUID7() ([16]byte, error) { return newStandard(StandardUUID7) }

// NewULID makes a ULID, which holds the time, and rises. ulid.ULID(id) turns it into the type of
// github.com/oklog/ulid/v2. Goroutines, blocking, errors: as NewUUID4.
func NewULID() ([16]byte, error) { return newStandard(StandardULID) }

// NewObjectID makes an ObjectId, which holds the time in whole seconds, and rises. bson.ObjectID(id) turns it into the
// type of MongoDB's driver (primitive.ObjectID(id) before its version 2). Goroutines, blocking, errors: as NewUUID4.
func NewObjectID() ([12]byte, error) {
	result := C.idgen_go_standard_make(C.IDGEN_STANDARD_OBJECT_ID)
	if result.failure.status != C.IDGEN_OK {
		return [12]byte{}, newError(result.failure)
	}
	return *(*[12]byte)(unsafe.Pointer(&result.id.bytes)), nil
}

func newStandard(standard Standard) ([16]byte, error) {
	result := C.idgen_go_standard_make(C.int32_t(standard))
	if result.failure.status != C.IDGEN_OK {
		return [16]byte{}, newError(result.failure)
	}
	return *(*[16]byte)(unsafe.Pointer(&result.id.bytes)), nil
}

// FillStandard fills ids with new ones of 16 bytes, in one call into C: UUIDs of version 4 or 7, or ULIDs, those that
// hold a time strictly increasing. Much faster per id than one by one. Never blocks. Any number of goroutines may call
// it.
//
// Errors: ErrArgument for StandardUUID, which has no version, for StandardObjectID, which FillObjectIDs is for, and for
// an unknown standard; ErrUnsupported as NewUUID4. Then none was made.
func FillStandard(standard Standard, ids [][16]byte) error {
	if standard == StandardObjectID {
		return &Error{Status: ErrArgument, Message: "an object_id has 12 bytes; these have 16; use FillObjectIDs"}
	}
	return fillStandard(standard, unsafe.Pointer(unsafe.SliceData(ids)), len(ids))
}

// FillObjectIDs fills ids with new ObjectIds, as FillStandard does with others. Errors: ErrUnsupported as NewUUID4.
func FillObjectIDs(ids [][12]byte) error {
	return fillStandard(StandardObjectID, unsafe.Pointer(unsafe.SliceData(ids)), len(ids))
}

func fillStandard(standard Standard, ids unsafe.Pointer, count int) error {
	return failed(C.idgen_go_standard_fill(C.int32_t(standard), (*C.uint8_t)(ids), C.size_t(count)))
}

// FormatStandard writes an id as text: a UUID of any version in lower case with hyphens, a ULID in Crockford's base 32,
// an ObjectId in lower-case hexadecimal. Errors: ErrValue if id has not 16 bytes, or 12 for an ObjectId; ErrArgument
// for an unknown standard.
func FormatStandard(standard Standard, id []byte) (string, error) {
	idC, err := standardToC(standard, id)
	if err != nil {
		return "", err
	}
	result := C.idgen_go_standard_format(C.int32_t(standard), idC)
	if err := failed(result.failure); err != nil {
		return "", err
	}
	return C.GoString(&result.text[0]), nil
}

// ParseStandard reads what FormatStandard writes, and upper case too. The length tells what it is: a UUID has 36
// characters, or 32 without hyphens, a ULID 26, an ObjectId 24. A UUID is StandardUUID if its version is neither 4 nor
// 7. The id has 16 bytes, or 12. Errors: ErrText for a foreign character, a wrong length, or a ULID above 2^128.
func ParseStandard(text string) (Standard, []byte, error) {
	result := C.idgen_go_standard_parse(textAddress(text), C.size_t(len(text)))
	runtime.KeepAlive(text)
	if err := failed(result.failure); err != nil {
		return 0, nil, err
	}
	standard := Standard(result.standard)
	return standard, C.GoBytes(unsafe.Pointer(&result.id.bytes), C.int(standard.length())), nil
}

// StandardParts is what the bits of a standard id say.
type StandardParts struct {
	Standard Standard  // of a UUID: by its version; StandardUUID if that is neither 4 nor 7
	Version  int       // of a UUID, 0 to 15; else 0
	IsRFC    bool      // false: a UUID of another variant than RFC 9562's, whose version says nothing
	HasTime  bool      // UUIDs of versions 1, 6 and 7, ULIDs, ObjectIds
	Time     time.Time // UTC, whole ms, of an ObjectId whole seconds; the zero time without HasTime
	Process  uint64    // of an ObjectId, 40 bits, the same in all of a process; else 0
	Counter  uint32    // of an ObjectId, 24 bits; else 0
}

// DecodeStandard takes an id apart. Which of the UUIDs standard is does not matter. Errors: ErrValue if id has not 16
// bytes, or 12 for an ObjectId; ErrArgument for an unknown standard.
func DecodeStandard(standard Standard, id []byte) (StandardParts, error) {
	idC, err := standardToC(standard, id)
	if err != nil {
		return StandardParts{}, err
	}
	result := C.idgen_go_standard_decode(C.int32_t(standard), idC)
	if err := failed(result.failure); err != nil {
		return StandardParts{}, err
	}
	p := &result.parts
	parts := StandardParts{
		Standard: Standard(p.standard), Version: int(p.version), IsRFC: p.is_rfc != 0, HasTime: p.has_time != 0,
		Process: uint64(p.process), Counter: uint32(p.counter),
	}
	if parts.HasTime {
		parts.Time = time.UnixMilli(int64(p.unix_ms)).UTC()
	}
	return parts, nil
}

// standardToC checks the length. An unknown standard has none: the core refuses it without reading the id.
func standardToC(standard Standard, id []byte) (idC C.idgen_go_standard_id, err error) {
	if !standard.isKnown() {
		return idC, nil
	}
	if len(id) != standard.length() {
		message := fmt.Sprintf("a %s has %d bytes; these are %d", standard, standard.length(), len(id))
		return idC, &Error{Status: ErrValue, Message: message}
	}
	copy((*[16]byte)(unsafe.Pointer(&idC.bytes))[:], id)
	return idC, nil
}
