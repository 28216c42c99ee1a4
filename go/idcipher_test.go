package idgen_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
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

// hiding are options for a cipher with a key file of its own.
func hiding(t testing.TB, options ...idgen.Option) []idgen.Option {
	t.Helper()
	return append([]idgen.Option{
		idgen.WithModulePath(modulePath(t)), idgen.WithStore("memory:" + t.Name()), idgen.WithNamespace(t.Name()),
		idgen.WithLayout("business64"), idgen.WithCipherKey("file:" + written(t, "keys", firstKey)),
	}, options...)
}

func mustCipher(t testing.TB, options ...idgen.Option) *idgen.IdCipher {
	t.Helper()
	return need(idgen.NewIdCipher(options...))(t)
}

func TestHiddenIdsAreThoseOfTheVectors(t *testing.T) {
	content := need(os.ReadFile(filepath.Join("..", "tests", "vectors", "hidden.keys")))(t)
	path, modules := written(t, "keys", string(content)), modulePath(t)
	for _, r := range vectors(t, "hidden.tsv", 300) {
		cipher := mustCipher(t, idgen.WithModulePath(modules), idgen.WithStore("memory:vectors"), idgen.Options{
			"cipher.mode": r.text("mode"), "namespace": r.text("namespace"), "layout": r.text("layout"),
			"cipher.version": r.text("version"), "cipher.key": "file:" + path,
		})
		bytes := uint64(8)
		if r.text("layout") == "business128" {
			bytes = 16
		}
		plain, hidden := r.wide("id", bytes), r.wide("hidden", bytes)
		gives(cipher.HideWide(plain))(r, hidden)
		gives(cipher.RevealWide(hidden))(r, plain)
		if bytes == 16 {
			wantStatus(t, errorOf(cipher.Hide(1)), idgen.ErrUnsupported)
			continue
		}
		id, wanted := int64(r.unsigned("id")), int64(r.unsigned("hidden"))
		gives(cipher.Hide(id))(r, wanted)
		gives(cipher.Reveal(wanted))(r, id)
	}
}

func TestIdsOfEitherLengthAreHiddenByTheirLength(t *testing.T) {
	cipher := mustCipher(t, hiding(t, idgen.Options{"on_full": "widen"})...)
	plain := []idgen.WideID{idgen.WideIDOf(5), mustWide(t, append(make([]byte, 15), 5)), idgen.WideIDOf(6)}
	ids := slices.Clone(plain)
	if err := cipher.HideAllWide(ids); err != nil {
		t.Fatal(err)
	}
	if narrow, ok := ids[0].Int64(); !ok || narrow != need(cipher.Hide(5))(t) || !ids[1].IsWide() {
		t.Errorf("5 is hidden as %v and as %v", ids[0], ids[1])
	}
	if err := cipher.RevealAllWide(ids); err != nil || !slices.Equal(ids, plain) {
		t.Errorf("what was hidden comes back as %v, %v", ids, err)
	}
	if err := cipher.HideAllWide(nil); err != nil {
		t.Error(err)
	}
	wantStatus(t, errorOf(cipher.HideWide(idgen.WideID{})), idgen.ErrValue)
}

func TestManyIdsAtOnceGiveWhatOneByOneGives(t *testing.T) {
	cipher := mustCipher(t, hiding(t)...)
	ids := make([]int64, 1000)
	for i := range ids {
		ids[i] = int64(i) << 20
	}
	hidden := slices.Clone(ids)
	if err := errors.Join(cipher.HideAll(hidden), cipher.HideAll(nil)); err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		gives(cipher.Hide(id))(t, hidden[i])
	}
	wantStatus(t, cipher.HideAll(slices.Clone(hidden)), idgen.ErrValue)
	if err := cipher.RevealAll(hidden); err != nil || !slices.Equal(hidden, ids) {
		t.Fatal("what was hidden does not come back", err)
	}
}

func TestKeysAreCheckedWithoutShowingThem(t *testing.T) {
	text, err := idgen.CheckKeys(hiding(t)...)
	if err != nil || !strings.Contains(text, "key version 1: hides and reveals") || strings.Contains(text, "2B7E") {
		t.Fatal(text, err)
	}
}

func TestKeysOfTheProgramAreReadAgainWhileOthersHide(t *testing.T) {
	var keys []idgen.Key
	var failure error
	add := func(version int) {
		keys = append(keys, idgen.Key{Version: uint32(version), Key: bytes.Repeat([]byte{byte(version)}, 16)})
	}
	add(1)
	cipher := mustCipher(t, hiding(t, idgen.WithKeys(func() ([]idgen.Key, error) { return keys, failure }))...)
	var over atomic.Bool
	inGoroutines(4, func(i int) {
		if i == 0 {
			for version := 2; version < 12; version++ {
				add(version)
				if err := cipher.Reload(); err != nil {
					t.Error(err)
				}
			}
			over.Store(true)
		}
		for !over.Load() {
			hidden, err := cipher.Hide(77)
			if id, revealErr := cipher.Reveal(hidden); err != nil || revealErr != nil || id != 77 {
				t.Error(id, err, revealErr)
			}
		}
	})
	if hidden := need(cipher.Hide(5))(t); hidden>>42 != 11 {
		t.Fatalf("hidden by version %d", hidden>>42)
	}
	failure = errors.New("the vault is sealed")
	wantStatus(t, cipher.Reload(), idgen.ErrHost, failure)
	failure, keys = nil, []idgen.Key{{Version: 1, Key: []byte("short")}}
	wantStatus(t, cipher.Reload(), idgen.ErrConfigFile)
	wantStatus(t, errorOf(idgen.NewIdCipher(hiding(t, idgen.WithKeys(nil))...)), idgen.ErrArgument)
}

func TestACipherOfAFilesTableFindsItsKeysBesideTheFile(t *testing.T) {
	path := written(t, "idgen.toml",
		"[orders]\nlayout = \"business64\"\nstore = \"memory:toml\"\ncipher.key = \"file:keys\"\n")
	write(t, filepath.Join(filepath.Dir(path), "keys"), firstKey+secondKey)
	cipher := need(idgen.OpenIdCipher(path, "orders", idgen.WithModulePath(modulePath(t))))(t)
	text, err := cipher.Describe()
	if err != nil || !strings.Contains(text, "key version 2: hides and reveals") {
		t.Fatal(text, err)
	}
}
