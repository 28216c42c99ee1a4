package idgen_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func mustLayout(t testing.TB, layout, epoch string) *idgen.Layout {
	t.Helper()
	return need(idgen.ParseLayout(layout, epoch))(t)
}

func TestACopyKeepsALayoutAlive(t *testing.T) {
	copies := make([]idgen.Layout, 100)
	for i := range copies {
		copies[i] = *mustLayout(t, "twitter", "")
	}
	for range 3 {
		collectGarbage(t)
	}
	for i := range copies {
		if _, err := copies[i].Decode(1541815603606036480); err != nil {
			t.Fatal(err)
		}
	}
}

// What the golden vectors of the presets do not have.
func TestInfoSaysWhatALayoutCanDo(t *testing.T) {
	info := need(mustLayout(t, "default", "").InfoAt(time.UnixMilli(1735689600000)))(t)
	want := []idgen.Field{
		{Kind: idgen.FieldTime, Name: "time", Bits: 41, Shift: 22},
		{Kind: idgen.FieldWorker, Name: "worker", Bits: 10, Shift: 12},
		{Kind: idgen.FieldSequence, Name: "sequence", Bits: 12, Shift: 0},
	}
	if info.IDsPerSecond != 4096_000 || math.Abs(info.YearsLeft-69.68) > 0.1 || !slices.Equal(info.Fields, want) {
		t.Errorf("got %+v", info)
	}
}

func TestAGeneratorsLayoutIsItsOwn(t *testing.T) {
	layout := need(newSnowflake(t, idgen.WithLayout("time:41ms worker:8 sequence:14")).Layout())(t)
	if info := need(layout.Info())(t); info.Text != "time:41ms worker:8 sequence:14" {
		t.Errorf("got %+v", info)
	}
}

func TestTextsAndEncodingsThatCannotBeAreRefused(t *testing.T) {
	wantStatus(t, errorOf(idgen.ParseLayout("time:41ms\x00", "")), idgen.ErrArgument)
	wantStatus(t, errorOf(idgen.ParseLayout("default", "\x00")), idgen.ErrArgument)
	wantStatus(t, errorOf(idgen.Format(1, idgen.Encoding(99))), idgen.ErrArgument)
	wantStatus(t, errorOf(idgen.Parse("1", idgen.Encoding(99))), idgen.ErrArgument)
}
