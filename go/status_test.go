package idgen_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

// sentinels reads `ErrClosed Status = C.IDGEN_E_CLOSED` from the source: the macro each sentinel stands for.
func sentinels(t *testing.T) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), "status_generated.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if macro, ok := spec.Values[0].(*ast.SelectorExpr); ok && strings.HasPrefix(macro.Sel.Name, "IDGEN_E_") {
			found[macro.Sel.Name] = spec.Names[0].Name
		}
		return true
	})
	return found
}

func TestEveryStatusOfTheHeaderHasASentinelOfItsName(t *testing.T) {
	header, err := os.ReadFile(filepath.Join("..", "capi", "include", "idgen", "status.h"))
	if err != nil {
		t.Fatal(err)
	}
	macros := regexp.MustCompile(`(?m)^#define IDGEN_E_([A-Z_]+) \d+`).FindAllStringSubmatch(string(header), -1)
	got := sentinels(t)
	for _, macro := range macros {
		want := "Err" + camelCase(strings.ToLower(macro[1]))
		if got["IDGEN_E_"+macro[1]] != want {
			t.Errorf("IDGEN_E_%s: got the sentinel %q, want %q", macro[1], got["IDGEN_E_"+macro[1]], want)
		}
	}
	if len(macros) < 30 || len(got) != len(macros) {
		t.Errorf("%d statuses in the header, %d sentinels", len(macros), len(got))
	}
}

func TestEveryStatusOfTheLibraryIsKnownByName(t *testing.T) {
	got := sentinels(t)
	seen := 0
	for _, status := range idgen.Statuses() {
		if status == 0 {
			continue
		}
		seen++
		if _, ok := got["IDGEN_E_"+status.Name()]; !ok {
			t.Errorf("status %d, %s, has no sentinel", status, status.Name())
		}
		if status.Error() == "" || status.Error() == idgen.Status(19).Error() {
			t.Errorf("status %s has no message of its own: %q", status.Name(), status.Error())
		}
	}
	if seen < 30 {
		t.Errorf("only %d statuses", seen)
	}
	if got := idgen.Status(1234).Name(); got != "HOST" {
		t.Errorf("Status(1234).Name() = %q, want HOST", got)
	}
}

func TestRetryableIsWhatTheHeaderSays(t *testing.T) {
	if !idgen.ErrStoreUnavailable.Retryable() || !idgen.ErrWorkerBusy.Retryable() || !idgen.ErrClockBack.Retryable() {
		t.Error("STORE_UNAVAILABLE, WORKER_BUSY and CLOCK_BACK are retryable")
	}
	if idgen.ErrValue.Retryable() || idgen.ErrClosed.Retryable() || idgen.ErrStoreDamaged.Retryable() {
		t.Error("VALUE, CLOSED and STORE_DAMAGED are not retryable")
	}
}

func TestAnErrorIsItsStatusAndNoOther(t *testing.T) {
	_, err := idgen.New(t.Context(), idgen.Options{"wroker": "1"})
	if !errors.Is(err, idgen.ErrUnknownKey) {
		t.Fatalf("got %v, want UNKNOWN_KEY", err)
	}
	if errors.Is(err, idgen.ErrValue) {
		t.Error("it is VALUE too")
	}
	var e *idgen.Error
	if !errors.As(err, &e) || e.Status != idgen.ErrUnknownKey || e.Name() != "UNKNOWN_KEY" || e.Retryable() {
		t.Errorf("got %+v", e)
	}
	if !strings.Contains(err.Error(), "'wroker'") || !strings.Contains(err.Error(), "'worker'") {
		t.Errorf("the message names neither the key nor the nearest: %s", err)
	}
}
