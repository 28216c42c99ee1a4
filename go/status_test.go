package idgen_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

func TestEveryStatusOfTheLibraryHasASentinelOfItsName(t *testing.T) {
	source := string(need(os.ReadFile("status_generated.go"))(t))
	for _, status := range append(idgen.Statuses()[1:], idgen.ErrHost) { // the first is OK
		var sentinel strings.Builder
		for word := range strings.SplitSeq(status.Name(), "_") {
			sentinel.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
		line := fmt.Sprintf("\tErr%s Status = C.IDGEN_E_%s\n", sentinel.String(), status.Name())
		if !strings.Contains(source, line) {
			t.Errorf("there is no %q", line)
		}
	}
	if found := strings.Count(source, " Status = C."); found < 30 || found != len(idgen.Statuses()) {
		t.Errorf("%d sentinels of %d statuses", found, len(idgen.Statuses()))
	}
}

func TestAnErrorIsItsStatusAndNoOther(t *testing.T) {
	_, err := idgen.New(t.Context(), idgen.Options{"wroker": "1"})
	wantSays(t, err, idgen.ErrUnknownKey, "'wroker'")
	if errors.Is(err, idgen.ErrValue) {
		t.Error("it is VALUE too")
	}
	var e *idgen.Error
	if !errors.As(err, &e) || e.Status != idgen.ErrUnknownKey || e.Name() != "UNKNOWN_KEY" || e.Retryable() ||
		!idgen.ErrStoreUnavailable.Retryable() {
		t.Errorf("got %+v", e)
	}
}
