//go:build cgo && idgen_system

package idgen

// #include "idgen_go.h"
import "C"

import (
	"strings"
	"unsafe"
)

// Reads the configuration file with the installed library.
type file struct{ path, name string }

func (f file) apply(c *config) error {
	path, err := newCString("the path", f.path)
	if err != nil {
		return err
	}
	defer path.free()
	name, err := newCString("the name", f.name)
	if err != nil {
		return err
	}
	defer name.free()
	return failed(C.idgen_go_config_load(c.handle, path.text, name.text))
}

// Names returns the names of the generators in a TOML file, in the file's order. Errors: ErrConfigFile.
func Names(path string) ([]string, error) {
	pathC, err := newCString("the path", path)
	if err != nil {
		return nil, err
	}
	defer pathC.free()
	result := C.idgen_go_config_names(pathC.text)
	if err := failed(result.failure); err != nil {
		return nil, err
	}
	defer C.free(unsafe.Pointer(result.text))
	var names []string
	for name := range strings.Lines(C.GoString(result.text)) {
		names = append(names, strings.TrimSuffix(name, "\n"))
	}
	return names, nil
}
