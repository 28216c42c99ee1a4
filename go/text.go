//go:build cgo

package idgen

// #cgo noescape idgen_go_parse
// #cgo nocallback idgen_go_parse
// #include "idgen_go.h"
import "C"

import (
	"runtime"
	"unsafe"
)

// Encoding is a text form of an id. All but Decimal have a fixed width and sort like the ids, read as unsigned. Decimal
// texts of different lengths do not.
type Encoding int32

// The text forms.
const (
	Decimal   Encoding = C.IDGEN_TEXT_DECIMAL   // no padding
	Hex       Encoding = C.IDGEN_TEXT_HEX       // 16 lower-case digits; parses upper case too
	Crockford Encoding = C.IDGEN_TEXT_CROCKFORD // 13 characters, base 32; parses lower case and O, I, L
	Base58    Encoding = C.IDGEN_TEXT_BASE58    // 11 characters, alphabet without 0 O I l
	Base62    Encoding = C.IDGEN_TEXT_BASE62    // 11 characters, 0-9 A-Z a-z
)

// Format writes an id, its 64 bits read as unsigned, in a text form. Errors: ErrArgument for an unknown encoding.
func Format(id int64, encoding Encoding) (string, error) {
	result := C.idgen_go_format(C.uint64_t(id), C.int32_t(encoding))
	if err := failedStatus(result.status); err != nil {
		return "", err
	}
	return C.GoString(&result.text[0]), nil
}

// Parse reads what Format writes. Errors: ErrText for a foreign character, an overflow or a wrong length, ErrArgument
// for an unknown encoding.
func Parse(text string, encoding Encoding) (int64, error) {
	// Passed with its length, without a copy. An empty string may have no address, but the C side requires one.
	address := unsafe.StringData(text)
	if text == "" {
		address = unsafe.StringData(" ")
	}
	result := C.idgen_go_parse((*C.char)(unsafe.Pointer(address)), C.size_t(len(text)), C.int32_t(encoding))
	runtime.KeepAlive(text)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	return int64(result.value), nil
}
