//go:build cgo

package idgen

// #cgo noescape idgen_go_cipher_apply
// #cgo nocallback idgen_go_cipher_apply
// #include "idgen_go_callbacks.h"
import "C"

import (
	"fmt"
	"runtime"
	"runtime/cgo"
	"slices"
	"sync"
	"unsafe"
)

// IdCipher gives ids a form that shows neither how many there are nor when they were made: for URLs and order numbers.
// The plain id stays the key in the database. A hidden id is no permission: check who asks. docs/hidden-ids.md says
// more.
//
// Made by [OpenIdCipher] or [NewIdCipher]; safe for use by any number of goroutines. Its keys are wiped when it is no
// longer reachable.
type IdCipher struct {
	handle C.uintptr_t
	life   *lifetime // as in Generator
	keys   *keySink
}

// NewIdCipher makes a cipher from options; of these it uses the layout, the namespace, the store, and those that begin
// with cipher. It reads the keys, and compares them with what the store has. May block.
//
// Errors: ErrValue, ErrConfigFile (the keys), ErrFormatMismatch (another key than the namespace began with), ErrLayout,
// ErrUnsupported (the module is missing; see WithModulePath), those of the store.
func NewIdCipher(options ...Option) (*IdCipher, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	defer c.destroy()
	created := C.idgen_go_cipher_create(c.handle)
	if err := c.keys.explain(failed(created.failure)); err != nil {
		return nil, err
	}
	life := newLifetime(created.handle, func(handle C.uintptr_t) { go C.idgen_go_cipher_destroy(handle) })
	life.store = c.store
	return &IdCipher{created.handle, life, c.keys}, nil
}

// OpenIdCipher makes a cipher from the table [name] of a TOML file. Options override the file. Errors: as NewIdCipher,
// ErrConfigFile for the file.
func OpenIdCipher(path, name string, options ...Option) (*IdCipher, error) {
	return NewIdCipher(append([]Option{file{path, name}}, options...)...)
}

// CheckKeys says what Describe of a cipher with these options would say. It compares the keys with the store, and
// writes nothing. Errors: as NewIdCipher.
func CheckKeys(options ...Option) (string, error) {
	c, err := newConfig(options)
	if err != nil {
		return "", err
	}
	defer c.destroy()
	text, err := longText(C.idgen_go_cipher_check(c.handle))
	return text, c.keys.explain(err)
}

func (c *IdCipher) pointer() C.uintptr_t {
	if c == nil {
		return 0 // the core answers ErrHandle
	}
	return c.handle
}

// Hide returns the hidden form of an id. Errors: ErrValue for bits outside the layout, an id that is hidden already, or
// if all key versions are retired; ErrUnsupported for a layout of more than 64 bits, whose ids HideWide takes.
func (c *IdCipher) Hide(id int64) (int64, error) { return c.one(id, false) }

// Reveal returns the id of a hidden form. Errors: ErrValue for bits outside the layout, an id that is not hidden, or an
// unknown key version; ErrUnsupported for a layout of more than 64 bits.
func (c *IdCipher) Reveal(hidden int64) (int64, error) { return c.one(hidden, true) }

func (c *IdCipher) one(id int64, reveals bool) (int64, error) {
	result := C.idgen_go_cipher_one(c.pointer(), C.uint64_t(id), number(reveals))
	runtime.KeepAlive(c)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	return int64(result.value), nil
}

// HideAll replaces ids by their hidden forms. Several at once take far less time for each. Errors: as Hide; then none
// was replaced.
func (c *IdCipher) HideAll(ids []int64) error {
	return c.apply(unsafe.Pointer(unsafe.SliceData(ids)), len(ids), false, false)
}

// RevealAll replaces hidden forms by their ids. Errors: as Reveal; then none was replaced.
func (c *IdCipher) RevealAll(hidden []int64) error {
	return c.apply(unsafe.Pointer(unsafe.SliceData(hidden)), len(hidden), true, false)
}

// HideWide is Hide for an id of either length, as NextWideFor makes it: its form has as many bytes. With the property
// on_full = widen, those of 16 bytes are hidden too. Errors: as Hide, ErrValue for a length that is none of theirs.
func (c *IdCipher) HideWide(id WideID) (WideID, error) { return c.oneWide(id, false) }

// RevealWide is Reveal for a hidden form of either length, as HideWide.
func (c *IdCipher) RevealWide(hidden WideID) (WideID, error) { return c.oneWide(hidden, true) }

func (c *IdCipher) oneWide(id WideID, reveals bool) (WideID, error) {
	ids := []WideID{id}
	err := c.apply(unsafe.Pointer(unsafe.SliceData(ids)), 1, reveals, true)
	if err != nil {
		return WideID{}, err
	}
	return ids[0], nil
}

// HideAllWide is HideAll for ids of either length, as HideWide.
func (c *IdCipher) HideAllWide(ids []WideID) error {
	return c.apply(unsafe.Pointer(unsafe.SliceData(ids)), len(ids), false, true)
}

// RevealAllWide is RevealAll for hidden forms of either length, as HideWide.
func (c *IdCipher) RevealAllWide(hidden []WideID) error {
	return c.apply(unsafe.Pointer(unsafe.SliceData(hidden)), len(hidden), true, true)
}

func (c *IdCipher) apply(ids unsafe.Pointer, count int, reveals, wide bool) error {
	failure := C.idgen_go_cipher_apply(c.pointer(), ids, C.size_t(count), number(reveals), number(wide))
	runtime.KeepAlive(c)
	return failed(failure)
}

func number(flag bool) C.int {
	if flag {
		return 1
	}
	return 0
}

// Reload reads the keys again, for a new key version or one that was retired. Other goroutines go on meanwhile. After
// an error the cipher has the keys that it had, except archived ones. May block. Errors: as NewIdCipher.
func (c *IdCipher) Reload() error {
	failure := C.idgen_go_cipher_reload(c.pointer())
	runtime.KeepAlive(c)
	if c == nil {
		return failed(failure)
	}
	return c.keys.explain(failed(failure))
}

// Describe says how ids are hidden, which key versions there are, and what is not protected, one item per line.
func (c *IdCipher) Describe() (string, error) {
	result := C.idgen_go_cipher_describe(c.pointer())
	runtime.KeepAlive(c)
	return longText(result)
}

func longText(result C.idgen_go_long_text) (string, error) {
	if err := failed(result.failure); err != nil {
		return "", err
	}
	defer C.free(unsafe.Pointer(result.text))
	return C.GoString(result.text), nil
}

// Key is a key version of the program's own, for [WithKeys].
type Key struct {
	Version uint32
	Key     []byte // 16 to 64 bytes
	Retired bool   // it reveals, and hides no more
}

// WithKeys sets where an [IdCipher] gets its keys, in place of the property cipher.key: from a key service, for one.
// read returns all key versions. It is called when a cipher is made, and by Reload. It must not panic, and must not use
// the cipher.
func WithKeys(read func() ([]Key, error)) Option { return keysOption{read} }

type keysOption struct{ read func() ([]Key, error) }

func (o keysOption) apply(c *config) error {
	if o.read == nil {
		return &Error{Status: ErrArgument,
			Message: "the function for keys is nil; leave WithKeys out to use cipher.key"}
	}
	c.keys = &keySink{read: o.read}
	handle := cgo.NewHandle(c.keys)
	return keepOrDelete(handle, C.idgen_go_config_set_keys(c.handle, C.uintptr_t(handle)))
}

type keySink struct {
	read  func() ([]Key, error)
	mutex sync.Mutex
	err   error // what read returned last
}

// explain adds what read returned to the error of the call that failed for it.
func (s *keySink) explain(err error) error {
	e, ok := err.(*Error)
	if s == nil || !ok || e.Status != ErrHost {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err != nil {
		e.causes = slices.Concat(e.causes, []error{s.err})
	}
	return e
}

//export idgenGoKeys
func idgenGoKeys(ctx C.uintptr_t, each C.idgen_key_fn, to unsafe.Pointer, failure *C.idgen_error_t) C.idgen_status_t {
	sink := cgo.Handle(ctx).Value().(*keySink)
	keys, err := sink.read()
	sink.mutex.Lock()
	sink.err = err
	sink.mutex.Unlock()
	if err != nil {
		copyText(failure.message[:], fmt.Sprintf("the program's own keys: %v", err))
		return C.IDGEN_E_HOST
	}
	for _, key := range keys {
		address := unsafe.SliceData(key.Key)
		if len(key.Key) == 0 {
			address = new(byte)
		}
		C.idgen_go_add_key(each, to, C.uint32_t(key.Version), (*C.uint8_t)(unsafe.Pointer(address)),
			C.size_t(len(key.Key)), C.int32_t(number(key.Retired)))
	}
	return C.IDGEN_OK
}
