package idgen_test

import (
	"bytes"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/idgen/idgen/go"
)

// The types that a program uses with these ids, declared as their packages do.
type (
	googleUUID   [16]byte
	oklogULID    [16]byte
	bsonObjectID [12]byte
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

func mustDecode(t *testing.T, standard idgen.Standard, id []byte) idgen.StandardParts {
	t.Helper()
	parts, err := idgen.DecodeStandard(standard, id)
	if err != nil {
		t.Fatal(err)
	}
	return parts
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

func TestNewStandardIdsSayWhatTheyAre(t *testing.T) {
	for _, m := range made {
		one, err := m.one()
		if err != nil {
			t.Fatal(err)
		}
		many, err := m.fill(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range append(many, one) {
			version := map[idgen.Standard]int{idgen.StandardUUID4: 4, idgen.StandardUUID7: 7}[m.standard]
			if version != 0 && (int(id[6]>>4) != version || id[8]>>6 != 0b10) {
				t.Errorf("%s: version or variant of %x", m.standard, id)
			}
			parts := mustDecode(t, m.standard, id)
			if parts.Standard != m.standard || parts.Version != version || !parts.IsRFC || parts.HasTime != m.rises ||
				parts.Time.IsZero() == m.rises {
				t.Errorf("%s: %x decodes to %+v", m.standard, id, parts)
			}
			if isObject := m.standard == idgen.StandardObjectID; !isObject && parts.Process|uint64(parts.Counter) != 0 {
				t.Errorf("%s: %x decodes to %+v", m.standard, id, parts)
			}
			text, err := idgen.FormatStandard(m.standard, id)
			if err != nil {
				t.Fatal(err)
			}
			standard, again, err := idgen.ParseStandard(text)
			if err != nil || standard != m.standard || !bytes.Equal(again, id) {
				t.Errorf("%s reads as %s %x, %v", text, standard, again, err)
			}
		}
	}
}

func TestAUUIDIsToldByItsVersionWhicheverItIsCalled(t *testing.T) {
	id, err := idgen.NewUUID7()
	if err != nil {
		t.Fatal(err)
	}
	want := mustDecode(t, idgen.StandardUUID7, id[:])
	for _, standard := range []idgen.Standard{idgen.StandardUUID, idgen.StandardUUID4} {
		if parts := mustDecode(t, standard, id[:]); parts != want {
			t.Errorf("as %s it is %+v", standard, parts)
		}
	}
}

func TestTheTimeInAStandardIdIsNow(t *testing.T) {
	for _, m := range made {
		if !m.rises {
			continue
		}
		resolution := time.Millisecond
		if m.standard == idgen.StandardObjectID {
			resolution = time.Second
		}
		before := time.Now().Truncate(resolution)
		id, err := m.one()
		if err != nil {
			t.Fatal(err)
		}
		// Ahead by 10 s at most, if other tests made many.
		made := mustDecode(t, m.standard, id).Time
		if made.Before(before) || made.After(time.Now().Add(10*time.Second)) {
			t.Errorf("%s: %s was made at %s", m.standard, made, before)
		}
		if made.Location() != time.UTC || !made.Equal(made.Truncate(resolution)) {
			t.Errorf("%s: %s is not in UTC, or more exact than %s", m.standard, made, resolution)
		}
	}
}

func TestStandardIdsRiseOneByOneAndInSlices(t *testing.T) {
	for _, m := range made {
		if !m.rises {
			continue
		}
		var ids [][]byte
		for range 1000 {
			one, err := m.one()
			if err != nil {
				t.Fatal(err)
			}
			many, err := m.fill(100)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(append(ids, one), many...)
		}
		for i := range ids[1:] {
			if bytes.Compare(ids[i], ids[i+1]) >= 0 {
				t.Fatalf("%s: %x after %x", m.standard, ids[i+1], ids[i])
			}
		}
		// The texts sort like the ids.
		texts := make([]string, 0, 200)
		for _, id := range ids[:200] {
			text, err := idgen.FormatStandard(m.standard, id)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		if !slices.IsSorted(texts) {
			t.Errorf("%s: the texts do not rise", m.standard)
		}
	}
}

func TestObjectIDsOfAProcessHaveItsNumber(t *testing.T) {
	ids, err := filledObjectIDs(1000)
	if err != nil {
		t.Fatal(err)
	}
	first := mustDecode(t, idgen.StandardObjectID, ids[0])
	for i, id := range ids {
		parts := mustDecode(t, idgen.StandardObjectID, id)
		if parts.Process != first.Process || parts.Process>>40 != 0 ||
			parts.Counter != (first.Counter+uint32(i))&0xFFFFFF {
			t.Fatalf("%+v after %+v", parts, first)
		}
	}
}

func TestStandardIdsOfFourGoroutinesAllDiffer(t *testing.T) {
	const goroutines, each, slice = 4, 50_000, 100
	for _, m := range made {
		drawn := make([][][]byte, goroutines)
		var wait sync.WaitGroup
		for g := range goroutines {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for len(drawn[g]) < each {
					one, err := m.one()
					if err != nil {
						t.Error(err)
						return
					}
					many, err := m.fill(slice - 1)
					if err != nil {
						t.Error(err)
						return
					}
					drawn[g] = append(append(drawn[g], one), many...)
				}
			}()
		}
		wait.Wait()
		seen := make(map[string]bool, goroutines*each)
		for _, ids := range drawn {
			if m.rises && !slices.IsSortedFunc(ids, bytes.Compare) {
				t.Errorf("%s: the ids of a goroutine do not rise", m.standard)
			}
			for _, id := range ids {
				seen[string(id)] = true
			}
		}
		if len(seen) != goroutines*each {
			t.Errorf("%s: %d different ids of %d", m.standard, len(seen), goroutines*each)
		}
	}
}

func TestRandomUUIDsUseEveryBitThatIsTheirs(t *testing.T) {
	ids, err := filled(idgen.StandardUUID4)(1000)
	if err != nil {
		t.Fatal(err)
	}
	ones, zeros := make([]byte, 16), make([]byte, 16) // which bits were ever 1, or 0
	for _, id := range ids {
		for i := range id {
			ones[i] |= id[i]
			zeros[i] |= ^id[i]
		}
	}
	wantOnes, wantZeros := bytes.Repeat([]byte{0xff}, 16), bytes.Repeat([]byte{0xff}, 16)
	wantOnes[6], wantZeros[6] = 0x4f, 0xbf
	wantOnes[8], wantZeros[8] = 0xbf, 0x7f
	if !bytes.Equal(ones, wantOnes) || !bytes.Equal(zeros, wantZeros) {
		t.Errorf("got %x and %x", ones, zeros)
	}
}

func TestStandardIdsConvertToTheTypesOfOtherPackages(t *testing.T) {
	uuid, err := idgen.NewUUID7()
	if err != nil || googleUUID(uuid)[6]>>4 != 7 {
		t.Errorf("got %x, %v", uuid, err)
	}
	ulid, err := idgen.NewULID()
	if err != nil || oklogULID(ulid) == (oklogULID{}) {
		t.Errorf("got %x, %v", ulid, err)
	}
	object, err := idgen.NewObjectID()
	if err != nil || bsonObjectID(object) == (bsonObjectID{}) {
		t.Errorf("got %x, %v", object, err)
	}
}

func TestNewStandardIdsAllocateNothing(t *testing.T) {
	ids, objects := make([][16]byte, 100), make([][12]byte, 100)
	calls := map[string]func() error{
		"NewUUID4":      func() error { _, err := idgen.NewUUID4(); return err },
		"NewUUID7":      func() error { _, err := idgen.NewUUID7(); return err },
		"NewULID":       func() error { _, err := idgen.NewULID(); return err },
		"NewObjectID":   func() error { _, err := idgen.NewObjectID(); return err },
		"FillStandard":  func() error { return idgen.FillStandard(idgen.StandardUUID7, ids) },
		"FillObjectIDs": func() error { return idgen.FillObjectIDs(objects) },
	}
	for call, do := range calls {
		allocated := testing.AllocsPerRun(1000, func() {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		})
		if allocated != 0 {
			t.Errorf("%s allocates %v times", call, allocated)
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

func TestNothingToFillIsNoError(t *testing.T) {
	if err := idgen.FillStandard(idgen.StandardUUID7, nil); err != nil {
		t.Error(err)
	}
	if err := idgen.FillObjectIDs(nil); err != nil {
		t.Error(err)
	}
}
