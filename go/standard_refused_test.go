package idgen

import (
	"errors"
	"testing"
)

// The calls for one id have nothing to refuse on a kernel that is new enough; this is how they say what it is.
func TestOneStandardIDThatIsRefusedSaysWhy(t *testing.T) {
	id, err := newStandard(StandardUUID)
	if !errors.Is(err, ErrArgument) || err.Error() != "a UUID of what version? Versions 4 and 7 are made" ||
		id != [16]byte{} {
		t.Errorf("got %x, %v", id, err)
	}
}
