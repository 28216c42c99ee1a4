package idgen_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A source that CMake compiles and Go does not causes an undefined symbol at best, and old behaviour at worst.
func TestEverySourceOfTheCoreIsCompiledExactlyOnce(t *testing.T) {
	included := map[string]int{}
	units, err := filepath.Glob("core_*.cc")
	if err != nil || len(units) == 0 {
		t.Fatalf("found %q, %v", units, err)
	}
	for _, unit := range units {
		content, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		includes := regexp.MustCompile(`(?m)^#include "(\.\./[^"]+)"`)
		for _, include := range includes.FindAllStringSubmatch(string(content), -1) {
			included[include[1]]++
		}
	}
	// The Go package reads TOML in Go; toml_absent.cpp takes the place of toml_file.cpp.
	elsewhere := map[string]bool{"../core/src/config/toml_file.cpp": true}
	found := 0
	for _, pattern := range []string{"../core/src/*.cpp", "../core/src/*/*.cpp", "../capi/src/*.cpp"} {
		sources, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			found++
			want := 1
			if elsewhere[filepath.ToSlash(source)] {
				want = 0
			}
			if included[filepath.ToSlash(source)] != want {
				t.Errorf("%s is included %d times in go/core_*.cc, want %d", source, included[filepath.ToSlash(source)],
					want)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d sources found", found)
	}
}

// `go mod vendor` drops a folder that no package imports.
func TestEveryFolderThatIsCompiledFromIsKeptByVendoring(t *testing.T) {
	keep, err := os.ReadFile("vendor_keep.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{"../core/include", "../core/src", "../capi/include", "../capi/src",
		"../bindings/go"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.Contains(".c.h.cpp.hpp", filepath.Ext(path)) ||
				filepath.Ext(path) == "" {
				return err
			}
			folder := filepath.ToSlash(filepath.Dir(path))
			if !strings.Contains(string(keep), `"github.com/idgen/idgen`+strings.TrimPrefix(folder, "..")+`"`) {
				t.Errorf("vendor_keep.go does not import %s", folder)
			}
			if _, err := os.Stat(filepath.Join(folder, "vendor_keep.go")); err != nil {
				t.Error(err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
