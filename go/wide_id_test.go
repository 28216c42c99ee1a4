package idgen_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/idgen/idgen/go"
)

func mustWide(t testing.TB, id []byte) idgen.WideID {
	t.Helper()
	return need(idgen.WideIDFromBytes(id))(t)
}

func TestAnIdOfEightBytesIsANumberAndOneOfSixteenIsNone(t *testing.T) {
	id := idgen.WideIDOf(0x0123456789abcdef)
	number, ok := id.Int64()
	if !ok || number != 0x0123456789abcdef || id.IsWide() || id.High() != 0 || id.Low() != 0x0123456789abcdef ||
		id.String() != "0123456789abcdef" || !bytes.Equal(id.Bytes(), []byte("\x01\x23\x45\x67\x89\xab\xcd\xef")) {
		t.Errorf("got %d, %v, %s", number, ok, id)
	}
	id = mustWide(t, []byte("\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10"))
	if _, ok := id.Int64(); ok || !id.IsWide() || id.High() != 0x0123456789abcdef || id.Low() != 0xfedcba9876543210 ||
		id.String() != "0123456789abcdeffedcba9876543210" {
		t.Errorf("got %s", id)
	}
}

func TestTheBytesOfAnIdAreACopyOfItAndNoOtherNumberOfThemIsAnId(t *testing.T) {
	for _, id := range []idgen.WideID{idgen.WideIDOf(-1), idgen.WideIDOf(7), mustWide(t, make([]byte, 16))} {
		copied := id.Bytes()
		gives(idgen.WideIDFromBytes(copied))(t, id)
		gives(idgen.FormatWide(id, idgen.Hex))(t, id.String())
		before := id.String()
		if copied[0]++; id.String() != before {
			t.Errorf("the id is now %s", id)
		}
	}
	for _, length := range []int{0, 7, 9, 15, 17} {
		wantStatus(t, errorOf(idgen.WideIDFromBytes(make([]byte, length))), idgen.ErrValue)
	}
	wantStatus(t, errorOf(idgen.FormatWide(idgen.WideID{}, idgen.Hex)), idgen.ErrValue)
	wantStatus(t, errorOf(mustLayout(t, "business64", "").DecodeWide(idgen.WideID{})), idgen.ErrValue)
	wantStatus(t, errorOf(idgen.ParseWide("", idgen.Hex)), idgen.ErrText)
	wantStatus(t, errorOf(idgen.FormatWide(idgen.WideIDOf(1), 99)), idgen.ErrArgument)
}

func TestIdsSortAsTheirBytesDoAndThoseOfEightBytesComeFirst(t *testing.T) {
	sorted := []idgen.WideID{
		idgen.WideIDOf(0), idgen.WideIDOf(7), idgen.WideIDOf(-1),
		mustWide(t, make([]byte, 16)), mustWide(t, append(make([]byte, 15), 7)),
		mustWide(t, append([]byte{1}, make([]byte, 15)...)),
		mustWide(t, bytes.Repeat([]byte{0xff}, 16)),
	}
	shuffled := slices.Clone(sorted)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, idgen.WideID.Compare)
	if !slices.Equal(shuffled, sorted) {
		t.Errorf("got %v", shuffled)
	}
	keys := map[idgen.WideID]bool{}
	for _, id := range append(sorted, shuffled...) {
		keys[id] = true
	}
	if len(keys) != len(sorted) {
		t.Errorf("%d keys of %d ids: the same number in another length is another id", len(keys), len(sorted))
	}
}

func TestAnIdInJSONIsItsText(t *testing.T) {
	type order struct {
		ID    idgen.WideID
		Other map[idgen.WideID]int
	}
	in := order{idgen.WideIDOf(7), map[idgen.WideID]int{mustWide(t, append(make([]byte, 15), 9)): 1}}
	text, err := json.Marshal(in)
	want := `{"ID":"0000000000000007","Other":{"00000000000000000000000000000009":1}}`
	if err != nil || string(text) != want {
		t.Fatalf("got %s, %v", text, err)
	}
	var out order
	if err := json.Unmarshal(text, &out); err != nil || out.ID != in.ID || len(out.Other) != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
	if err := json.Unmarshal([]byte(`{"ID":"12"}`), &out); err == nil {
		t.Error("a text of another length was read")
	}
	if err := json.Unmarshal([]byte(`{"ID":""}`), &out); err != nil || out.ID != (idgen.WideID{}) {
		t.Errorf("the zero value's text reads as %s, %v", out.ID, err)
	}
}
