package idgen_test

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func routeData(version uint64) idgen.RouteData {
	return idgen.RouteData{
		Version: version, Bits: 4, Shards: []string{"db0", "db1"},
		Ranges: []idgen.RouteRange{{Upto: 7, Shard: "db0"}, {Upto: 15, Shard: "db1"}},
	}
}

func mustTable(t testing.TB, data idgen.RouteData) *idgen.RouteTable {
	t.Helper()
	return need(idgen.NewRouteTable(data))(t)
}

func mustRouter(t testing.TB, data idgen.RouteData) *idgen.Router {
	t.Helper()
	return need(idgen.NewRouter(mustTable(t, data), idgen.RouterOptions{Layout: mustLayout(t, "order", "")}))(t)
}

func TestRoutesAreThoseOfTheVectors(t *testing.T) {
	routers := map[string]*idgen.Router{}
	for file, layout := range map[string]string{"routes_ring16.toml": "business64", "routes_ring4.toml": "order"} {
		routers[file] = need(idgen.OpenRouter(filepath.Join("..", "tests", "vectors", file), idgen.RouterOptions{
			Layout: mustLayout(t, layout, ""), WideLayout: mustLayout(t, "business128", ""), Reload: -1,
		}))(t)
	}
	for _, r := range vectors(t, "routes.tsv", 400) {
		router, value := routers[r.text("table")], r.text("value")
		var route idgen.Route
		var err, errOfBatch error
		shards, seconds := []uint32{idgen.NoShard}, []uint32{0}
		switch r.text("kind") {
		case "id":
			id := int64(r.unsigned("value"))
			route, err = router.Route(id)
			errOfBatch = router.RouteBatch([]int64{id}, shards, seconds)
		case "wide":
			bytes, _ := hex.DecodeString(value)
			route, err = router.RouteWide(mustWide(t, bytes))
		case "node":
			node := uint32(r.unsigned("value"))
			route, err = router.RouteNode(node)
			errOfBatch = router.RouteNodeBatch([]uint32{node}, shards, seconds)
		default:
			route, err = router.RouteOwner(idgen.OwnerString(strings.ReplaceAll(value, "␀", "\x00")))
		}
		if shards[0] != idgen.NoShard || errOfBatch != nil {
			hasSecond := seconds[0] != idgen.NoShard
			if errOfBatch != nil || router.Shards()[shards[0]] != r.text("shard") || hasSecond != (route.Second != "") {
				t.Errorf("%q: a batch gives %v %v, %v", r.line, shards, seconds, errOfBatch)
			}
		}
		if second := cmp.Or(route.Second, "-"); err != nil || uint64(route.Node) != r.unsigned("node") ||
			route.Shard != r.text("shard") || second != r.text("second") || route.State.String() != r.text("state") {
			t.Errorf("%q: got %+v, %v", r.line, route, err)
		}
	}
}

func TestATableIsWhatItWasMadeOf(t *testing.T) {
	data := routeData(7)
	data.Moves = []idgen.RouteMove{{First: 0, Last: 3, To: "db1", Share: 5000}}
	table := mustTable(t, data)
	if got := need(table.Data())(t); !reflect.DeepEqual(got, data) {
		t.Fatalf("got %+v", got)
	}
	read := need(idgen.ReadRouteTable(written(t, "routes.toml", table.String())))(t)
	if read.String() != table.String() || read.Version() != 7 {
		t.Fatalf("read %s", read)
	}
}

func TestMistakesInATableAreNamed(t *testing.T) {
	for part, change := range map[string]func(*idgen.RouteData){
		"'db9' is not one of the table's shards": func(d *idgen.RouteData) { d.Ranges[0].Shard = "db9" },
		"there are no shards":                    func(d *idgen.RouteData) { d.Shards, d.Ranges = nil, nil },
		"NUL":                                    func(d *idgen.RouteData) { d.Shards = []string{"a\x00b"} },
	} {
		data := routeData(1)
		change(&data)
		wantSays(t, errorOf(idgen.NewRouteTable(data)), idgen.ErrValue, part)
	}
}

// Whatever the file has, it is a table or an error that names the file; and no beginning of a table is one. A Go build
// reads it in Go.
func TestAFileIsATableOrAClearError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.toml")
	data := routeData(7)
	data.Moves = []idgen.RouteMove{{First: 0, Last: 3, To: "db1", Share: 25}}
	whole := mustTable(t, data).String()
	read := func(text string) error {
		write(t, path, text)
		return errorOf(idgen.ReadRouteTable(path))
	}
	for size := range len(whole) - 1 {
		wantSays(t, read(whole[:size]), idgen.ErrConfigFile, path)
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][3]string{
		{"version = 7", "version = \"7\"", "'version' is not a whole number"},
		{"bits = 4", "bits = 99", "bits 99 is out of range"},
		{"0.25%", "0.255%", "has a share of '0.255%'"},
		{"0-3", "0..3", "nodes '0..3'"},
		{"to = \"db1\"", "to = \"db11\"", "unknown shard 'db11'; 'shards' has db0, db1"},
		{"upto = 15", "until = 15", unknownKey + "; known are upto, shard"},
		{"upto = 15", "upto = 14", "nodes 15 have no shard"},
		{"shards = [", "shards = [1, ", "not a text in quotes"},
		{"[[range]]\nupto = 7", "[[range]]\nshard = \"db0\"\n[[move]]\nnodes = \"9\"\nto = \"db0\"\nshare = \"1%\"\n" +
			"[[range]]\nupto = 7", ""},
	} {
		wantSays(t, read(strings.Replace(whole, change[0], change[1], 1)), idgen.ErrConfigFile, change[2])
	}
	_, err := idgen.ReadRouteTable(path + "-missing")
	wantSays(t, err, idgen.ErrConfigFile, "No such file or directory")
}

func TestARouterOfDataIsSwappedAndKnowsAllShards(t *testing.T) {
	router := mustRouter(t, routeData(1))
	next := idgen.RouteData{
		Version: 2, Bits: 4, Shards: []string{"new", "db1"}, Ranges: []idgen.RouteRange{{Upto: 15, Shard: "new"}},
	}
	if err := router.Swap(mustTable(t, next), 1); err != nil {
		t.Fatal(err)
	}
	wantStatus(t, router.Swap(mustTable(t, routeData(3)), 1), idgen.ErrStale)
	if got := router.Shards(); !slices.Equal(got, []string{"db0", "db1", "new"}) {
		t.Errorf("%v", got)
	}
	gives(router.RouteNode(3))(t, idgen.Route{Shard: "new", Node: 3, Version: 2})
	wantSays(t, router.Reload(), idgen.ErrUnsupported, "from data")
	gives(router.Stats())(t, idgen.RouterStats{Version: 2, Bits: 4, Swaps: 1})
}

func TestAFileThatIsWrongLeavesTheTableInForce(t *testing.T) {
	two := mustTable(t, routeData(2)).String()
	path := written(t, "routes.toml", two)
	wantStatus(t, errorOf(idgen.OpenRouter(path+"-missing", idgen.RouterOptions{})), idgen.ErrConfigFile)
	router := need(idgen.OpenRouter(path, idgen.RouterOptions{Reload: 5 * time.Millisecond}))(t)
	defer router.Close()
	write(t, path, two[:60])
	wantStatus(t, router.Reload(), idgen.ErrConfigFile)
	stats := need(router.Stats())(t)
	if stats.Version != 2 || stats.Failures == 0 || !errors.Is(stats.LastError, idgen.ErrConfigFile) {
		t.Fatalf("%+v", stats)
	}
	write(t, path, mustTable(t, routeData(1)).String())
	wantSays(t, router.Reload(), idgen.ErrStale, "the file has version 1, and version 2 is in force")
	write(t, path, mustTable(t, routeData(3)).String())
	until(t, func() bool { // by itself
		stats := need(router.Stats())(t)
		return stats.Version == 3 && stats.LastError == nil
	})
}

func TestAForgottenRouterStopsItsWatch(t *testing.T) {
	path := written(t, "routes.toml", mustTable(t, routeData(1)).String())
	before := runtime.NumGoroutine()
	for range 20 {
		need(idgen.OpenRouter(path, idgen.RouterOptions{Reload: time.Millisecond}))(t)
	}
	until(t, func() bool {
		runtime.GC()
		return runtime.NumGoroutine() <= before
	})
}

func TestBadRoutesAreRefused(t *testing.T) {
	router := mustRouter(t, routeData(1))
	wantSays(t, errorOf(router.RouteWide(idgen.WideID{})), idgen.ErrValue, "8 or 16 bytes")
	wantSays(t, router.RouteBatch([]int64{1, -1}, make([]uint32, 2), nil), idgen.ErrValue, "ids[1]: ")
	wantStatus(t, router.RouteBatch(make([]int64, 2), make([]uint32, 1), nil), idgen.ErrArgument)
	gives(router.RouteOwner(idgen.OwnerInt(42)))(t, need(router.RouteOwner(idgen.OwnerString("42")))(t))
}

func TestLookupsWhileTablesChange(t *testing.T) {
	router := mustRouter(t, routeData(1))
	var over atomic.Bool
	inGoroutines(4, func(i int) {
		if i == 0 {
			for version := uint64(2); version < 300; version++ {
				data := routeData(version)
				data.Shards = append(data.Shards, fmt.Sprint("db", version))
				data.Ranges = []idgen.RouteRange{{Upto: 15, Shard: data.Shards[version%3]}}
				table, err := idgen.NewRouteTable(data)
				if err := errors.Join(err, router.Swap(table, version-1)); err != nil {
					t.Error(err)
				}
			}
			over.Store(true)
		}
		for shards := make([]uint32, 3); !over.Load(); {
			err := router.RouteBatch([]int64{5, 21, 37}, shards, nil)
			if err != nil || shards[0] != shards[1] || shards[1] != shards[2] {
				t.Errorf("two tables in one batch: %v, %v", shards, err)
			}
			if route, err := router.Route(5); err != nil || !strings.HasPrefix(route.Shard, "db") {
				t.Errorf("%+v %v", route, err)
			}
		}
	})
}
