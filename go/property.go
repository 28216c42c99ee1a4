//go:build cgo

package idgen

// #include "idgen_go.h"
import "C"

// Property is one of the keys that [Options] and the configuration file take.
type Property struct {
	Name    string // "segment.step"
	Type    string // "integer", "number", "boolean", "duration", "instant", "text", "choice"
	Default string // "" = none
	Range   string // "1 to 1000000000", "wait | continue | fail"; "" = free
	Unit    string // "" = none
	Help    string // one or two sentences
	Since   string // first version that has it
}

// Properties returns all properties of this build.
func Properties() []Property {
	all := make([]Property, 0, int(C.idgen_property_count()))
	for i := range cap(all) {
		at := C.idgen_go_property_at(C.size_t(i))
		if at.status != C.IDGEN_OK {
			break // cannot happen: the count and the table are from the same build
		}
		p := at.property
		all = append(all, Property{
			Name: C.GoString(p.name), Type: C.GoString(p._type), Default: C.GoString(p.default_value),
			Range: C.GoString(p._range), Unit: C.GoString(p.unit), Help: C.GoString(p.help), Since: C.GoString(p.since),
		})
	}
	return all
}
