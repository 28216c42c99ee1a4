//go:build cgo

package idgen

// #cgo noescape idgen_go_parse
// #cgo nocallback idgen_go_parse
// #cgo noescape idgen_go_parse_wide
// #cgo nocallback idgen_go_parse_wide
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
	result := C.idgen_go_parse(textAddress(text), C.size_t(len(text)), C.int32_t(encoding))
	runtime.KeepAlive(text)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	return int64(result.value), nil
}

// textAddress is for a text that is passed with its length, without a copy. An empty string may have no address, but
// the C side requires one.
func textAddress(text string) *C.char {
	if text == "" {
		text = " "
	}
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}

// FormatWide writes an id of either length in a text form. One of 8 bytes has the text that Format gives it. One of 16
// has 39 digits in Decimal, zeros in front, 32 in Hex, 26 in Crockford, 22 in Base58 and Base62: the length of the text
// tells them apart too. Errors: ErrValue for the zero WideID, ErrArgument for an unknown encoding.
func FormatWide(id WideID, encoding Encoding) (string, error) {
	result := C.idgen_go_format_wide(id.toC(), C.int32_t(encoding))
	if err := failed(result.failure); err != nil {
		return "", err
	}
	return C.GoString(&result.text[0]), nil
}

// ParseWide reads what FormatWide writes. Errors: those of Parse.
func ParseWide(text string, encoding Encoding) (WideID, error) {
	result := C.idgen_go_parse_wide(textAddress(text), C.size_t(len(text)), C.int32_t(encoding))
	runtime.KeepAlive(text)
	return wideResult(result)
}
