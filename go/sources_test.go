package idgen_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A source that CMake compiles and Go does not causes an undefined symbol at best, and old behaviour at worst.
func TestTheListsOfTheCoresSourcesAreAsTheyAreGenerated(t *testing.T) {
	generated := t.TempDir()
	if said, err := exec.Command("../bindings/go/list-sources.sh", generated).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	read := func(folder string) map[string]string {
		texts := map[string]string{}
		for _, path := range need(filepath.Glob(filepath.Join(folder, "core_*.cc")))(t) {
			texts[filepath.Base(path)] = string(need(os.ReadFile(path))(t))
		}
		return texts
	}
	have, want := read("."), read(generated)
	for name, text := range want {
		if have[name] != text {
			t.Errorf("%s is stale: go generate ./go", name)
		}
	}
	if len(have) != len(want) || len(want) < 15 {
		t.Errorf("%d lists are here, %d are generated: go generate ./go", len(have), len(want))
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
