//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// config is a configuration of the C side, being built.
type config struct {
	handle C.uintptr_t
	log    *logSink
	store  *storeSink
	keys   *keySink
}

func newConfig(options []Option) (*config, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	created := C.idgen_go_config_create()
	if err := failed(created.failure); err != nil {
		return nil, err
	}
	c := &config{handle: created.handle}
	for _, option := range options {
		if option == nil {
			continue
		}
		if err := option.apply(c); err != nil {
			c.destroy()
			return nil, err
		}
	}
	if c.store != nil {
		timeout, err := c.storeTimeout()
		if err != nil {
			c.destroy()
			return nil, err
		}
		c.store.timeout = timeout
	}
	return c, nil
}

// storeTimeout is the property store_timeout, as the core has accepted it: a whole number and a unit, by default ms.
func (c *config) storeTimeout() (time.Duration, error) {
	key := C.CString("store_timeout")
	defer C.free(unsafe.Pointer(key))
	result := C.idgen_go_config_get(c.handle, key)
	if err := failed(result.failure); err != nil {
		return 0, err
	}
	defer C.free(unsafe.Pointer(result.text))
	text := C.GoString(result.text)
	if strings.Trim(text, "0123456789") == "" {
		text += "ms"
	}
	timeout, _ := time.ParseDuration(text) // Go does not know days and years; at most 10m are allowed, so these are 0
	return timeout, nil
}

func (c *config) destroy() { C.idgen_go_config_destroy(c.handle) }

func (c *config) set(key, value string) error {
	keyC, err := newCString("a property's name", key)
	if err != nil {
		return err
	}
	defer keyC.free()
	valueC, err := newCString(key, value)
	if err != nil {
		return err
	}
	defer valueC.free()
	return failed(C.idgen_go_config_set(c.handle, keyC.text, valueC.text))
}

// newCString refuses what a C string cannot hold, so that nothing is cut silently.
func newCString(what, text string) (cString, error) {
	if position := strings.IndexByte(text, 0); position >= 0 {
		return cString{}, &Error{
			Status:  ErrArgument,
			Message: fmt.Sprintf("%s = %q holds a NUL character at position %d; remove it", what, text, position),
		}
	}
	return cString{C.CString(text)}, nil
}

// checkABI refuses an installed library that this package was not compiled for.
var checkABI = sync.OnceValue(func() error { return compareABI(uint32(C.idgen_abi_version())) })

func compareABI(found uint32) error {
	if found == C.IDGEN_ABI_VERSION {
		return nil
	}
	return &Error{
		Status: ErrUnsupported,
		Message: fmt.Sprintf("the idgen library has ABI %d, this program was compiled for ABI %d; "+
			"compile it again with the installed library",
			found, C.IDGEN_ABI_VERSION),
	}
}

// libraryVersion is the version of the core in use: this package's, or an installed library's.
func libraryVersion() string { return C.GoString(C.idgen_version_string()) }

func (c *config) loadEnvironment(name string) error {
	text, err := newCString("the name", name)
	if err != nil {
		return err
	}
	defer text.free()
	return failed(C.idgen_go_config_load_environment(c.handle, text.text))
}
