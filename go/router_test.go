package idgen_test

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
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
		router := need(idgen.OpenRouter(filepath.Join("..", "tests", "vectors", file), idgen.RouterOptions{
			Layout: mustLayout(t, layout, ""), WideLayout: mustLayout(t, "business128", ""), Reload: -1,
		}))(t)
		routers[file] = router
	}
	for _, r := range vectors(t, "routes.tsv", 400) {
		router := routers[r.text("table")]
		var route idgen.Route
		var err, errOfBatch error
		var shards, seconds [1]uint32
		switch r.text("kind") {
		case "id":
			id := int64(r.unsigned("value"))
			route, err = router.Route(id)
			errOfBatch = router.RouteBatch([]int64{id}, shards[:], seconds[:])
		case "wide":
			bytes, _ := hex.DecodeString(r.text("value"))
			route, err = router.RouteWide(mustWide(t, bytes))
		case "node":
			node := uint32(r.unsigned("value"))
			route, err = router.RouteNode(node)
			errOfBatch = router.RouteNodeBatch([]uint32{node}, shards[:], seconds[:])
		default:
			route, err = router.RouteOwner(idgen.OwnerString(strings.ReplaceAll(r.text("value"), "␀", "\x00")))
		}
		if kind := r.text("kind"); kind == "id" || kind == "node" {
			hasSecond := seconds[0] != idgen.NoShard
			if errOfBatch != nil || router.Shards()[shards[0]] != r.text("shard") || hasSecond != (route.Second != "") {
				t.Errorf("%q: a batch gives %v %v, %v", r.line, shards, seconds, errOfBatch)
			}
		}
		if err != nil {
			t.Fatalf("%q: %v", r.line, err)
		}
		second := route.Second
		if second == "" {
			second = "-"
		}
		if uint64(route.Node) != r.unsigned("node") || route.Shard != r.text("shard") || second != r.text("second") ||
			route.State.String() != r.text("state") {
			t.Errorf("%q: got %+v", r.line, route)
		}
	}
}

func TestATableIsWhatItWasMadeOf(t *testing.T) {
	data := routeData(7)
	data.Moves = []idgen.RouteMove{{First: 0, Last: 3, To: "db1", Share: 5000}}
	table := mustTable(t, data)
	got := need(table.Data())(t)
	if got.Version != 7 || got.Bits != 4 || !slices.Equal(got.Shards, data.Shards) ||
		!slices.Equal(got.Ranges, data.Ranges) || !slices.Equal(got.Moves, data.Moves) {
		t.Fatalf("got %+v", got)
	}
	path := filepath.Join(t.TempDir(), "routes.toml")
	if err := os.WriteFile(path, []byte(table.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	read := need(idgen.ReadRouteTable(path))(t)
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
		_, err := idgen.NewRouteTable(data)
		wantSays(t, err, idgen.ErrValue, part)
	}
}

// Whatever the file has, it is a table or an error that names the file; and no beginning of a table is one.
func TestAFileIsATableOrAClearError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.toml")
	data := routeData(7)
	data.Moves = []idgen.RouteMove{{First: 0, Last: 3, To: "db1", Share: 25}}
	whole := mustTable(t, data).String()
	read := func(text string) error {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := idgen.ReadRouteTable(path)
		return err
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

func TestASwapNeedsTheVersionInForce(t *testing.T) {
	router := mustRouter(t, routeData(1))
	next := idgen.RouteData{
		Version: 2, Bits: 4, Shards: []string{"new", "db1"}, Ranges: []idgen.RouteRange{{Upto: 15, Shard: "new"}},
	}
	if err := router.Swap(mustTable(t, next), 1); err != nil {
		t.Fatal(err)
	}
	wantSays(t, router.Swap(mustTable(t, routeData(3)), 1), idgen.ErrStale,
		"version 1 was to be replaced, and version 2 is in force")
	if got := router.Shards(); !slices.Equal(got, []string{"db0", "db1", "new"}) {
		t.Errorf("%v", got)
	}
	if got, _ := router.RouteNode(3); got.Shard != "new" || got.Version != 2 {
		t.Errorf("%+v", got)
	}
	wantSays(t, router.Reload(), idgen.ErrUnsupported, "from data")
	if stats, err := router.Stats(); err != nil || stats.Swaps != 1 || stats.Bits != 4 {
		t.Errorf("%+v %v", stats, err)
	}
}

func TestAFileThatIsWrongLeavesTheTableInForce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantStatus(t, errorOf(idgen.OpenRouter(path, idgen.RouterOptions{})), idgen.ErrConfigFile)
	two := mustTable(t, routeData(2)).String()
	write(two)
	router := need(idgen.OpenRouter(path, idgen.RouterOptions{Reload: 5 * time.Millisecond}))(t)
	defer router.Close()
	write(two[:60])
	wantStatus(t, router.Reload(), idgen.ErrConfigFile)
	stats, err := router.Stats()
	if err != nil || stats.Version != 2 || stats.Failures == 0 || !errors.Is(stats.LastError, idgen.ErrConfigFile) {
		t.Fatalf("%+v %v", stats, err)
	}
	write(mustTable(t, routeData(1)).String())
	wantSays(t, router.Reload(), idgen.ErrStale, "the file has version 1, and version 2 is in force")
	write(mustTable(t, routeData(3)).String())
	until(t, func() bool { // by itself
		stats, err := router.Stats()
		return err == nil && stats.Version == 3 && stats.LastError == nil
	})
}

func TestAForgottenRouterStopsItsWatch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "routes.toml")
	if err := os.WriteFile(path, []byte(mustTable(t, routeData(1)).String()), 0o600); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for range 20 {
		if _, err := idgen.OpenRouter(path, idgen.RouterOptions{Reload: time.Millisecond}); err != nil {
			t.Fatal(err)
		}
	}
	until(t, func() bool {
		runtime.GC()
		return runtime.NumGoroutine() <= before
	})
}

func TestBadRoutesAreRefused(t *testing.T) {
	router := mustRouter(t, routeData(1))
	_, err := router.RouteWide(idgen.WideID{})
	wantSays(t, err, idgen.ErrValue, "8 or 16 bytes")
	wantSays(t, router.RouteBatch([]int64{1, -1}, make([]uint32, 2), nil), idgen.ErrValue, "ids[1]: ")
	wantStatus(t, router.RouteBatch(make([]int64, 2), make([]uint32, 1), nil), idgen.ErrArgument)
	byText, err1 := router.RouteOwner(idgen.OwnerString("42"))
	byNumber, err2 := router.RouteOwner(idgen.OwnerInt(42))
	if byText != byNumber || err1 != nil || err2 != nil {
		t.Errorf("%+v %+v %v %v", byText, byNumber, err1, err2)
	}
}

func TestLookupsWhileTablesChange(t *testing.T) {
	router := mustRouter(t, routeData(1))
	var over atomic.Bool
	var group sync.WaitGroup
	for range 3 {
		group.Add(1)
		go func() {
			defer group.Done()
			shards := make([]uint32, 3)
			for !over.Load() {
				if err := router.RouteBatch([]int64{5, 21, 37}, shards, nil); err != nil {
					t.Error(err)
				}
				if shards[0] != shards[1] || shards[1] != shards[2] {
					t.Errorf("two tables in one batch: %v", shards)
				}
				if route, err := router.Route(5); err != nil || route.Shard == "" {
					t.Errorf("%+v %v", route, err)
				}
			}
		}()
	}
	for version := uint64(2); version < 300; version++ {
		data := routeData(version)
		data.Ranges = []idgen.RouteRange{{Upto: 15, Shard: data.Shards[version%2]}}
		if err := router.Swap(mustTable(t, data), version-1); err != nil {
			t.Error(err)
		}
	}
	over.Store(true)
	group.Wait()
}
