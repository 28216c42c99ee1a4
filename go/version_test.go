package idgen

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestTheVersionIsTheLibrarys(t *testing.T) {
	header, err := os.ReadFile("../capi/include/idgen/version.h")
	if err != nil {
		t.Fatal(err)
	}
	written := regexp.MustCompile(`IDGEN_VERSION_STRING "([^"]+)"`).FindStringSubmatch(string(header))
	if len(written) != 2 || Version != written[1] || Version != libraryVersion() {
		t.Errorf("Go has %s, version.h %q, the library %s", Version, written, libraryVersion())
	}
}

func TestALibraryOfAnotherABIIsRefused(t *testing.T) {
	if err := checkABI(); err != nil {
		t.Fatal(err)
	}
	err := compareABI(2)
	if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "ABI 2") {
		t.Errorf("got %v", err)
	}
}
