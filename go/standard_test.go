package idgen_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/idgen/idgen/go"
)

// The types that a program uses with these ids, declared as their packages do: each takes its id by a conversion.
type (
	googleUUID   [16]byte
	oklogULID    [16]byte
	bsonObjectID [12]byte
)

var (
	_ = func() (googleUUID, error) { id, err := idgen.NewUUID7(); return googleUUID(id), err }
	_ = func() (oklogULID, error) { id, err := idgen.NewULID(); return oklogULID(id), err }
	_ = func() (bsonObjectID, error) { id, err := idgen.NewObjectID(); return bsonObjectID(id), err }
)

func TestNewStandardIdsSayWhatTheyAreAndRise(t *testing.T) {
	ids := map[idgen.Standard][][]byte{}
	for standard, one := range map[idgen.Standard]func() ([16]byte, error){
		idgen.StandardUUID4: idgen.NewUUID4, idgen.StandardUUID7: idgen.NewUUID7, idgen.StandardULID: idgen.NewULID,
	} {
		first, many := need(one())(t), make([][16]byte, 2)
		if err := errors.Join(idgen.FillStandard(standard, many), idgen.FillStandard(standard, nil)); err != nil {
			t.Fatal(err)
		}
		last := need(one())(t)
		ids[standard] = [][]byte{first[:], many[0][:], many[1][:], last[:]}
	}
	first, many := need(idgen.NewObjectID())(t), make([][12]byte, 2)
	if err := errors.Join(idgen.FillObjectIDs(many), idgen.FillObjectIDs(nil)); err != nil {
		t.Fatal(err)
	}
	ids[idgen.StandardObjectID] = [][]byte{first[:], many[0][:], many[1][:]}
	for standard, ids := range ids {
		for i, id := range ids {
			read, again, err := idgen.ParseStandard(need(idgen.FormatStandard(standard, id))(t))
			if err != nil || read != standard || !bytes.Equal(again, id) {
				t.Errorf("%s %x reads as %s %x, %v", standard, id, read, again, err)
			}
			if order := bytes.Compare(id, ids[max(i-1, 0)]); i > 0 && order != 1 && standard != idgen.StandardUUID4 {
				t.Errorf("%s: %x after %x", standard, id, ids[i-1])
			}
		}
	}
}

func TestStandardCallsRefuseBadArguments(t *testing.T) {
	const unknown = "standard 5 is not one of IDGEN_STANDARD_*, 0 to 4"
	for _, some := range [][][16]byte{make([][16]byte, 2), nil} {
		wantSays(t, idgen.FillStandard(idgen.StandardObjectID, some), idgen.ErrArgument,
			"an object_id has 12 bytes; these have 16; use FillObjectIDs")
		wantSays(t, idgen.FillStandard(5, some), idgen.ErrArgument, unknown)
	}
	for standard, right := range map[idgen.Standard]int{idgen.StandardUUID: 16, idgen.StandardObjectID: 12} {
		for _, length := range []int{0, 12, 16, 1000} {
			id := make([]byte, length)
			for _, err := range []error{
				errorOf(idgen.FormatStandard(standard, id)), errorOf(idgen.DecodeStandard(standard, id)),
			} {
				if length != right {
					says := fmt.Sprintf("a %s has %d bytes; these are %d", standard, right, length)
					wantSays(t, err, idgen.ErrValue, says)
				} else if err != nil {
					t.Error(err)
				}
			}
		}
	}
	for _, id := range [][]byte{nil, make([]byte, 16)} {
		wantSays(t, errorOf(idgen.FormatStandard(5, id)), idgen.ErrArgument, unknown)
		wantSays(t, errorOf(idgen.DecodeStandard(-1, id)), idgen.ErrArgument, "standard -1 is not one of")
	}
}
