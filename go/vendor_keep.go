//go:build idgen_vendor_keep

package idgen

// The tag is never set. `go mod vendor` copies a folder only if a package imports it, under whatever tag; the folders below hold the C
// and C++ that this package compiles.
import (
	_ "github.com/idgen/idgen/bindings/go"
	_ "github.com/idgen/idgen/capi/include/idgen"
	_ "github.com/idgen/idgen/capi/src"
	_ "github.com/idgen/idgen/core/include/idgen"
	_ "github.com/idgen/idgen/core/src/calendar"
	_ "github.com/idgen/idgen/core/src/cipher"
	_ "github.com/idgen/idgen/core/src/config"
	_ "github.com/idgen/idgen/core/src/foreign"
	_ "github.com/idgen/idgen/core/src/generator"
	_ "github.com/idgen/idgen/core/src/layout"
	_ "github.com/idgen/idgen/core/src/module"
	_ "github.com/idgen/idgen/core/src/reserve"
	_ "github.com/idgen/idgen/core/src/route"
	_ "github.com/idgen/idgen/core/src/runtime"
	_ "github.com/idgen/idgen/core/src/sql"
	_ "github.com/idgen/idgen/core/src/standard_ids"
	_ "github.com/idgen/idgen/core/src/store"
	_ "github.com/idgen/idgen/core/src/text"
	_ "github.com/idgen/idgen/core/src/workers"
)
