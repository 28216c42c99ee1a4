//go:build cgo && idgen_system

package idgen

// #include "idgen_go.h"
import "C"

func readRouteTable(path string) (*RouteTable, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	pathC, err := newCString("the path", path)
	if err != nil {
		return nil, err
	}
	defer pathC.free()
	return newRouteTable(C.idgen_go_route_table_read(pathC.text))
}
