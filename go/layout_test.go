package idgen_test

import (
	"math"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

func mustLayout(t *testing.T, layout, epoch string) *idgen.Layout {
	t.Helper()
	l, err := idgen.ParseLayout(layout, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return l
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

func TestInfoSaysWhatALayoutCanDo(t *testing.T) {
	layout := mustLayout(t, "time:41ms worker:10 sequence:12", "2025-01-01T00:00:00Z")
	info, err := layout.InfoAt(time.UnixMilli(1735689600000))
	if err != nil {
		t.Fatal(err)
	}
	if info.Text != "time:41ms worker:10 sequence:12" || info.Bits != 63 || info.IDsPerTick != 4096 ||
		info.Workers != 1024 ||
		info.IDsPerSecond != 4096_000 || info.Tick != time.Millisecond || info.Unsigned || info.JSSafe ||
		info.LastUnixMs != 1735689600000+1<<41-1 || math.Abs(info.YearsLeft-69.68) > 0.1 {
		t.Errorf("got %+v", info)
	}
	want := []idgen.Field{
		{Kind: idgen.FieldTime, Name: "time", Bits: 41, Shift: 22},
		{Kind: idgen.FieldWorker, Name: "worker", Bits: 10, Shift: 12},
		{Kind: idgen.FieldSequence, Name: "sequence", Bits: 12, Shift: 0},
	}
	if len(info.Fields) != len(want) {
		t.Fatalf("got %+v", info.Fields)
	}
	for i := range want {
		if info.Fields[i] != want[i] {
			t.Errorf("got %+v, want %+v", info.Fields[i], want[i])
		}
	}
}

func TestAGeneratorsLayoutIsItsOwn(t *testing.T) {
	layout, err := newSnowflake(t, idgen.WithLayout("time:41ms worker:8 sequence:14")).Layout()
	if err != nil {
		t.Fatal(err)
	}
	info, err := layout.Info()
	if err != nil || info.Text != "time:41ms worker:8 sequence:14" {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestBitsAndPartsThatDoNotFitAreRefused(t *testing.T) {
	l := mustLayout(t, "js53", "")
	_, err := l.Decode(-1)
	wantStatus(t, err, idgen.ErrValue)
	_, err = l.Encode(idgen.Parts{Worker: 1 << 40})
	wantStatus(t, err, idgen.ErrValue)
	_, err = idgen.ParseLayout("time:41ms\x00", "")
	wantStatus(t, err, idgen.ErrArgument)
	_, err = idgen.Format(1, idgen.Encoding(99))
	wantStatus(t, err, idgen.ErrArgument)
	_, err = idgen.Parse("1", idgen.Encoding(99))
	wantStatus(t, err, idgen.ErrArgument)
}
