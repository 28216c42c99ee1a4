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
	includes := regexp.MustCompile(`(?m)^#include "(\.\./[^"]+)"`)
	for _, unit := range need(filepath.Glob("core_*.cc"))(t) {
		for _, include := range includes.FindAllStringSubmatch(string(need(os.ReadFile(unit))(t)), -1) {
			included[include[1]]++
		}
	}
	found := 0
	for _, pattern := range []string{"../core/src/*.cpp", "../core/src/*/*.cpp", "../capi/src/*.cpp"} {
		for _, source := range need(filepath.Glob(pattern))(t) {
			found++
			want := 1
			if source == "../core/src/config/toml_file.cpp" {
				want = 0 // the Go package reads TOML in Go; toml_absent.cpp takes its place
			}
			if included[source] != want {
				t.Errorf("%s is included %d times in go/core_*.cc, want %d", source, included[source], want)
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d sources found", found)
	}
}

// `go mod vendor` drops a folder that no package imports.
func TestEveryFolderThatIsCompiledFromIsKeptByVendoring(t *testing.T) {
	keep := string(need(os.ReadFile("vendor_keep.go"))(t))
	compiled := regexp.MustCompile(`\.(c|h|cpp|hpp)$`)
	for _, root := range []string{
		"../core/include", "../core/src", "../capi/include", "../capi/src", "../bindings/go",
	} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !compiled.MatchString(path) {
				return err
			}
			folder := filepath.Dir(path)
			if !strings.Contains(keep, `"github.com/idgen/idgen`+strings.TrimPrefix(folder, "..")+`"`) {
				t.Errorf("vendor_keep.go does not import %s", folder)
			}
			_, err = os.Stat(filepath.Join(folder, "vendor_keep.go"))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
