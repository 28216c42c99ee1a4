package idgen_test

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idgen/idgen/go"
)

// modulePath is where the build has put the module of hidden ids, of which a Go program has none of its own.
func modulePath(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("IDGEN_TEST_MODULE_PATH")
	if folder == "" {
		folder = filepath.Join("..", "build", "lib", "idgen", "modules")
	}
	if _, err := os.Stat(filepath.Join(folder, "libidgen_cipher.so")); err != nil {
		t.Skip("the module of hidden ids was not built: ", err)
	}
	return need(filepath.Abs(folder))(t)
}

const firstKey = "1 2B7E151628AED2A6ABF7158809CF4F3C\n"
const secondKey = "2 000102030405060708090a0b0c0d0e0f\n"

func writeKeys(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hiding are options for a cipher with a key file of its own.
func hiding(t testing.TB, options ...idgen.Option) []idgen.Option {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, firstKey)
	return append([]idgen.Option{
		idgen.WithModulePath(modulePath(t)), idgen.WithStore("memory:" + t.Name()), idgen.WithNamespace(t.Name()),
		idgen.WithLayout("business64"), idgen.WithCipherKey("file:" + path),
	}, options...)
}

func mustCipher(t testing.TB, options ...idgen.Option) *idgen.IdCipher {
	t.Helper()
	return need(idgen.NewIdCipher(options...))(t)
}

func mustHide(t testing.TB, cipher *idgen.IdCipher, id int64) int64 {
	t.Helper()
	return need(cipher.Hide(id))(t)
}

// wideID is a decimal number as an id of the layout.
func wideID(t *testing.T, layout, text string) idgen.WideID {
	t.Helper()
	number, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	size := 8
	if layout == "business128" {
		size = 16
	}
	return need(idgen.WideIDFromBytes(number.FillBytes(make([]byte, size))))(t)
}

func TestHiddenIdsAreThoseOfTheVectors(t *testing.T) {
	content := need(os.ReadFile(filepath.Join("..", "tests", "vectors", "hidden.keys")))(t)
	path := filepath.Join(t.TempDir(), "keys")
	writeKeys(t, path, string(content))
	modules := modulePath(t)
	for _, row := range vectors(t, "hidden.tsv", 300) {
		cipher := mustCipher(t, idgen.WithModulePath(modules), idgen.WithStore("memory:vectors"), idgen.Options{
			"cipher.mode": row.text("mode"), "namespace": row.text("namespace"), "layout": row.text("layout"),
			"cipher.version": row.text("version"), "cipher.key": "file:" + path,
		})
		plain := wideID(t, row.text("layout"), row.text("id"))
		hidden := wideID(t, row.text("layout"), row.text("hidden"))
		if found, err := cipher.HideWide(plain); err != nil || found != hidden {
			t.Errorf("%s: hidden as %v, %v", row.line, found, err)
		}
		if found, err := cipher.RevealWide(hidden); err != nil || found != plain {
			t.Errorf("%s: revealed as %v, %v", row.line, found, err)
		}
		if row.text("layout") == "business128" {
			wantStatus(t, errorOf(cipher.Hide(1)), idgen.ErrUnsupported)
			continue
		}
		id, wanted := int64(row.unsigned("id")), int64(row.unsigned("hidden"))
		if found := mustHide(t, cipher, id); found != wanted {
			t.Errorf("%s: hidden as %d", row.line, found)
		}
		if found, err := cipher.Reveal(wanted); err != nil || found != id {
			t.Errorf("%s: revealed as %d, %v", row.line, found, err)
		}
	}
}

func TestIdsOfEitherLengthAreHiddenByTheirLength(t *testing.T) {
	cipher := mustCipher(t, hiding(t, idgen.Options{"on_full": "widen"})...)
	plain := []idgen.WideID{idgen.WideIDOf(5), wideID(t, "business128", "5"), idgen.WideIDOf(6)}
	ids := slices.Clone(plain)
	if err := cipher.HideAllWide(ids); err != nil {
		t.Fatal(err)
	}
	if narrow, ok := ids[0].Int64(); !ok || narrow != mustHide(t, cipher, 5) || !ids[1].IsWide() {
		t.Errorf("5 is hidden as %v and as %v", ids[0], ids[1])
	}
	if err := cipher.RevealAllWide(ids); err != nil || !slices.Equal(ids, plain) {
		t.Errorf("what was hidden comes back as %v, %v", ids, err)
	}
	if err := cipher.HideAllWide(nil); err != nil {
		t.Error(err)
	}
	wantStatus(t, errorOf(cipher.HideWide(idgen.WideID{})), idgen.ErrValue)
	_, err := mustCipher(t, hiding(t, idgen.WithNamespace("narrow"))...).HideWide(plain[1])
	wantStatus(t, err, idgen.ErrValue)
}

func TestManyIdsAtOnceGiveWhatOneByOneGives(t *testing.T) {
	cipher := mustCipher(t, hiding(t)...)
	ids := make([]int64, 1000)
	for i := range ids {
		ids[i] = int64(i) << 20
	}
	hidden := slices.Clone(ids)
	if err := cipher.HideAll(hidden); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if one := mustHide(t, cipher, id); one != hidden[i] {
			t.Fatalf("%d: %d alone, %d among others", id, one, hidden[i])
		}
	}
	if err := cipher.RevealAll(hidden); err != nil || !slices.Equal(hidden, ids) {
		t.Fatal("what was hidden does not come back", err)
	}
	if err := cipher.HideAll(nil); err != nil {
		t.Fatal(err)
	}
	ids[500] = mustHide(t, cipher, 1)
	before := slices.Clone(ids)
	wantStatus(t, cipher.HideAll(ids), idgen.ErrValue)
	if !slices.Equal(ids, before) {
		t.Fatal("a batch that failed was changed")
	}
}

func TestKeysAreCheckedWithoutShowingThem(t *testing.T) {
	text, err := idgen.CheckKeys(hiding(t)...)
	if err != nil || !strings.Contains(text, "key version 1: hides and reveals") || strings.Contains(text, "2B7E") {
		t.Fatal(text, err)
	}
}

func TestKeysOfTheProgramAreReadAgainWhileOthersHide(t *testing.T) {
	var mutex sync.Mutex
	keys := []idgen.Key{{Version: 1, Key: bytes.Repeat([]byte{7}, 32)}}
	sealed := errors.New("the vault is sealed")
	var failure error
	cipher := mustCipher(t, hiding(t, idgen.WithKeys(func() ([]idgen.Key, error) {
		mutex.Lock()
		defer mutex.Unlock()
		return slices.Clone(keys), failure
	}))...)
	stop := make(chan struct{})
	var workers sync.WaitGroup
	for range 3 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				hidden, err := cipher.Hide(77)
				if err != nil {
					t.Error(err)
					return
				}
				if id, err := cipher.Reveal(hidden); err != nil || id != 77 {
					t.Error(id, err)
					return
				}
			}
		}()
	}
	for version := uint32(2); version < 12; version++ {
		mutex.Lock()
		keys = append(keys, idgen.Key{Version: version, Key: bytes.Repeat([]byte{byte(version)}, 16)})
		mutex.Unlock()
		if err := cipher.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	workers.Wait()
	if hidden := mustHide(t, cipher, 5); hidden>>42 != 11 {
		t.Fatalf("hidden by version %d", hidden>>42)
	}
	failure = sealed
	err := cipher.Reload()
	wantStatus(t, err, idgen.ErrHost)
	if !errors.Is(err, sealed) {
		t.Fatal(err)
	}
	failure, keys = nil, []idgen.Key{{Version: 1, Key: []byte("short")}}
	wantStatus(t, cipher.Reload(), idgen.ErrConfigFile)
	wantStatus(t, errorOf(idgen.NewIdCipher(hiding(t, idgen.WithKeys(nil))...)), idgen.ErrArgument)
}

func TestACipherOfAFilesTableFindsItsKeysBesideTheFile(t *testing.T) {
	path := writeConfig(t, `[orders]
layout = "business64"
store = "memory:toml"
[orders.cipher]
key = "file:keys"
`)
	writeKeys(t, filepath.Join(filepath.Dir(path), "keys"), firstKey+secondKey)
	cipher := need(idgen.OpenIdCipher(path, "orders", idgen.WithModulePath(modulePath(t))))(t)
	text, err := cipher.Describe()
	if err != nil || !strings.Contains(text, "key version 2: hides and reveals") {
		t.Fatal(text, err)
	}
}
