package idgen_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func TestAQuiescedGeneratorWaitsForTheResetAndGoesOn(t *testing.T) {
	orders, err := idgen.New(t.Context(), idgen.WithKind("segment"), idgen.WithTag("orders"),
		idgen.WithStore("sqlite:ids.db"),
		idgen.WithDirectory(t.TempDir()), idgen.WithStoreCreate(true), idgen.WithWaitMax(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = orders.Close(context.Background()) }()
	first, err := orders.Next()
	if err != nil {
		t.Fatal(err)
	}
	if err := idgen.Quiesce(); err != nil {
		t.Fatal(err)
	}
	_, waited := orders.Next()
	if err := idgen.Reset(); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(waited, idgen.ErrStoreUnavailable) || !strings.Contains(waited.Error(), "quiesced for a checkpoint") {
		t.Errorf("between Quiesce and Reset: %v", waited)
	}
	if next, err := orders.Next(); err != nil || next != first+1 {
		t.Errorf("after Reset: %d, %v; want %d", next, err, first+1)
	}
}
