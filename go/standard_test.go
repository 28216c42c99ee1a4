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

// made are the standards that hold a time, and UUIDs of version 4, each with two ways to make ids.
var made = []struct {
	standard idgen.Standard
	one      func() ([]byte, error)
	fill     func(count int) ([][]byte, error)
	rises    bool
}{
	{idgen.StandardUUID4, oneOf(idgen.NewUUID4), filled(idgen.StandardUUID4), false},
	{idgen.StandardUUID7, oneOf(idgen.NewUUID7), filled(idgen.StandardUUID7), true},
	{idgen.StandardULID, oneOf(idgen.NewULID), filled(idgen.StandardULID), true},
	{idgen.StandardObjectID, func() ([]byte, error) { id, err := idgen.NewObjectID(); return id[:], err },
		filledObjectIDs, true},
}

func oneOf(make func() ([16]byte, error)) func() ([]byte, error) {
	return func() ([]byte, error) { id, err := make(); return id[:], err }
}

func filled(standard idgen.Standard) func(int) ([][]byte, error) {
	return func(count int) ([][]byte, error) {
		ids, out := make([][16]byte, count), make([][]byte, count)
		err := idgen.FillStandard(standard, ids)
		for i := range ids {
			out[i] = ids[i][:]
		}
		return out, err
	}
}

func filledObjectIDs(count int) ([][]byte, error) {
	ids, out := make([][12]byte, count), make([][]byte, count)
	err := idgen.FillObjectIDs(ids)
	for i := range ids {
		out[i] = ids[i][:]
	}
	return out, err
}

func TestStandardsHaveTheNamesOfOtherLanguages(t *testing.T) {
	for standard, want := range []string{"uuid", "uuid4", "uuid7", "ulid", "object_id", "Standard(5)"} {
		if name := idgen.Standard(standard).String(); name != want {
			t.Errorf("%d is %s, want %s", standard, name, want)
		}
	}
	if name := idgen.Standard(-1).String(); name != "Standard(-1)" {
		t.Errorf("-1 is %s", name)
	}
}

func TestNewStandardIdsSayWhatTheyAreAndRise(t *testing.T) {
	for _, m := range made {
		first, err := m.one()
		many, fillErr := m.fill(100)
		last, lastErr := m.one()
		if err := errors.Join(err, fillErr, lastErr); err != nil {
			t.Fatal(err)
		}
		ids := append(append([][]byte{first}, many...), last)
		for i, id := range ids {
			text := need(idgen.FormatStandard(m.standard, id))(t)
			standard, again, err := idgen.ParseStandard(text)
			if err != nil || standard != m.standard || !bytes.Equal(again, id) {
				t.Errorf("%s reads as %s %x, %v", text, standard, again, err)
			}
			if m.rises && i > 0 && bytes.Compare(ids[i-1], id) >= 0 {
				t.Errorf("%s: %x after %x", m.standard, id, ids[i-1])
			}
			parts, err := idgen.DecodeStandard(m.standard, id)
			if err != nil || parts.HasTime != m.rises || parts.Time.IsZero() == m.rises {
				t.Errorf("%s: %x decodes to %+v, %v", m.standard, id, parts, err)
			}
		}
		if _, err := m.fill(0); err != nil {
			t.Error(err)
		}
	}
}

func TestStandardCallsRefuseBadArguments(t *testing.T) {
	wantMessage := func(err error, status idgen.Status, message string) {
		t.Helper()
		wantStatus(t, err, status)
		if err.Error() != message {
			t.Errorf("got %q", err)
		}
	}
	ids := make([][16]byte, 2)
	const unknown = "standard 5 is not one of IDGEN_STANDARD_*, 0 to 4"
	for _, some := range [][][16]byte{ids, nil} {
		wantMessage(idgen.FillStandard(idgen.StandardObjectID, some), idgen.ErrArgument,
			"an object_id has 12 bytes; these have 16; use FillObjectIDs")
		wantMessage(idgen.FillStandard(idgen.StandardUUID, some), idgen.ErrArgument,
			"a UUID of what version? Versions 4 and 7 are made")
		wantMessage(idgen.FillStandard(5, some), idgen.ErrArgument, unknown)
	}
	if ids[0] != [16]byte{} || ids[1] != [16]byte{} {
		t.Errorf("refused, and yet written: %x", ids)
	}
	for standard, right := range map[idgen.Standard]int{
		idgen.StandardUUID: 16, idgen.StandardUUID4: 16, idgen.StandardUUID7: 16, idgen.StandardULID: 16,
		idgen.StandardObjectID: 12,
	} {
		for _, length := range []int{0, 1, 11, 12, 13, 15, 16, 17, 1000} {
			id := make([]byte, length)
			_, formatError := idgen.FormatStandard(standard, id)
			_, decodeError := idgen.DecodeStandard(standard, id)
			for _, err := range []error{formatError, decodeError} {
				if length != right {
					wantMessage(err, idgen.ErrValue,
						fmt.Sprintf("a %s has %d bytes; these are %d", standard, right, length))
				} else if err != nil {
					t.Error(err)
				}
			}
		}
	}
	for _, id := range [][]byte{nil, make([]byte, 12), make([]byte, 16)} {
		_, err := idgen.FormatStandard(5, id)
		wantMessage(err, idgen.ErrArgument, unknown)
		_, err = idgen.DecodeStandard(5, id)
		wantMessage(err, idgen.ErrArgument, unknown)
	}
	standard, id, err := idgen.ParseStandard("")
	wantStatus(t, err, idgen.ErrText)
	if standard != idgen.StandardUUID || id != nil {
		t.Errorf("got %s %x with an error", standard, id)
	}
}
