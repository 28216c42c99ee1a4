// Package consumer builds programs of another module that use the Go package: in all build modes that link differently,
// and each program in the documentation.
package consumer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A program that proves that SQLite was linked: it opens a store in a file and draws from it.
const usesAStore = `package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/idgen/idgen/go"
)

func main() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "idgen")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	g, err := idgen.New(ctx, idgen.WithKind("segment"), idgen.WithTag("orders"), idgen.WithStoreCreate(true),
		idgen.WithStore("sqlite:"+filepath.Join(folder, "ids.db")))
	if err != nil {
		panic(err)
	}
	defer g.Close(ctx)
	id, err := g.Next()
	fmt.Println(id, err)
}
`

// repository is the root of the module under test.
func repository(t *testing.T) string {
	t.Helper()
	_, here, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(here), "..", "..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// newModule makes a folder with a module that depends on ours and contains this program.
func newModule(t *testing.T, program string) string {
	t.Helper()
	root, folder := repository(t), t.TempDir()
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	manifest := "module example.com/consumer\n\ngo 1.24.0\n\nrequire github.com/idgen/idgen v0.0.0\n\n" +
		"replace github.com/idgen/idgen => " + root + "\n"
	for _, requirement := range regexp.MustCompile(`(?m)^\s+(\S+ v\S+)`).FindAllStringSubmatch(string(ours), -1) {
		manifest += "\nrequire " + requirement[1] + " // indirect\n"
	}
	for name, content := range map[string]string{"go.mod": manifest, "go.sum": string(sums), "main.go": program} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

type result struct {
	stdout, stderr string
	failed         error
}

func execute(t *testing.T, folder string, environment []string, command ...string) result {
	t.Helper()
	// A hung program must not hang the tests; compiling SQLite is slow.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Dir = folder
	run.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS="), environment...)
	var stdout, stderr bytes.Buffer
	run.Stdout, run.Stderr = &stdout, &stderr
	err := run.Run()
	return result{stdout.String(), stderr.String(), err}
}

func mustExecute(t *testing.T, folder string, command ...string) string {
	t.Helper()
	r := execute(t, folder, nil, command...)
	if r.failed != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), r.failed, r.stdout, r.stderr)
	}
	return r.stdout
}

// A position-independent program resolves the weak references to SQLite in another way. (`go test -race` of the package
// itself covers -race; tests/consumers covers a plain and a vendored build.)
func TestAPositionIndependentProgramFindsSQLite(t *testing.T) {
	folder := newModule(t, usesAStore)
	mustExecute(t, folder, "go", "build", "-buildmode=pie", "-o", "consumer", ".")
	if got := mustExecute(t, folder, "./consumer"); got != "1 <nil>\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestWithoutCgoTheBuildSaysWhatIsMissing(t *testing.T) {
	r := execute(t, newModule(t, usesAStore), []string{"CGO_ENABLED=0"}, "go", "build", ".")
	if r.failed == nil || !strings.Contains(r.stderr, "idgen_needs_cgo") {
		t.Errorf("got %v\n%s", r.failed, r.stderr)
	}
}

// All Go programs in the documentation run here, with the page's configuration beside them.
func TestTheProgramsOfTheDocumentationRun(t *testing.T) {
	root := repository(t)
	for _, page := range []string{"go/README.md", "docs/go.md", "docs/testing.md"} {
		t.Run(page, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page)))
			if err != nil {
				t.Fatal(err)
			}
			folder := newModule(t, "")
			configuration, programs := "", 0
			for _, block := range codeBlocks(string(content)) {
				switch block.language {
				case "toml":
					configuration = block.text
				case "go":
					programs++
					t.Run(fmt.Sprintf("line %d", block.line),
						func(t *testing.T) { runProgram(t, folder, configuration, block.text) })
				}
			}
			if programs == 0 {
				t.Error("there is no program on this page")
			}
		})
	}
}

func runProgram(t *testing.T, folder, configuration, program string) {
	t.Helper()
	if strings.Contains(program, "\nfunc Test") {
		runTests(t, folder, program)
		return
	}
	if !strings.HasPrefix(program, "package main\n") {
		t.Fatalf("this is no whole program:\n%s", program)
	}
	for name, content := range map[string]string{"idgen.toml": configuration, "main.go": program} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustExecute(t, folder, "go", "vet", ".")
	mustExecute(t, folder, "go", "build", "-o", "consumer", ".")
	got := mustExecute(t, folder, "./consumer")
	if strings.TrimSpace(got) == "" {
		t.Error("it printed nothing")
	}
	// The programs print the error beside each result.
	for _, line := range strings.Split(strings.TrimSpace(got), "\n") {
		t.Log(line)
	}
	if !strings.Contains(program, "errors.Is") && !strings.Contains(got, "<nil>") {
		t.Errorf("no call succeeded:\n%s", got)
	}
}

// runTests runs a sample that is a file of tests, in a package of its own.
func runTests(t *testing.T, folder, tests string) {
	t.Helper()
	place := filepath.Join(folder, "tests")
	if err := os.MkdirAll(place, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(place, "sample_test.go"), []byte(tests), 0o644); err != nil {
		t.Fatal(err)
	}
	got := mustExecute(t, folder, "go", "test", "-v", "./tests")
	if passed := strings.Count(got, "\n--- PASS: "); passed != strings.Count(tests, "\nfunc Test") {
		t.Errorf("%d tests passed:\n%s", passed, got)
	}
}

type codeBlock struct {
	language, text string
	line           int
}

func codeBlocks(markdown string) []codeBlock {
	var blocks []codeBlock
	var open *codeBlock
	for number, line := range strings.Split(markdown, "\n") {
		switch language, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &codeBlock{language: language, line: number + 1}
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return blocks
}

// An installed library is found by pkg-config; here it is the build tree's, if there is one.
func TestAnInstalledLibraryIsUsedIfAskedFor(t *testing.T) {
	root := repository(t)
	library := filepath.Join(root, "build", "lib")
	if _, err := os.Stat(filepath.Join(library, "libidgen.so")); errors.Is(err, os.ErrNotExist) {
		t.Skip("there is no build/lib/libidgen.so to use: make build")
	}
	packages := t.TempDir()
	description := fmt.Sprintf("Name: idgen\nDescription: the build tree\nVersion: 0.1.0\n"+
		"Cflags: -I%s\nLibs: -L%s -lidgen\n",
		filepath.Join(root, "capi", "include"), library)
	if err := os.WriteFile(filepath.Join(packages, "idgen.pc"), []byte(description), 0o644); err != nil {
		t.Fatal(err)
	}
	folder := newModule(t, usesAStore)
	// The key of the go command's cache has the flags, and not what pkg-config says: without separate flags this
	// build could be given one that was made with another idgen.pc.
	environment := []string{
		"PKG_CONFIG_PATH=" + packages, "LD_LIBRARY_PATH=" + library, "CGO_LDFLAGS=-O2 -g -L" + packages,
	}
	build := []string{"go", "build", "-tags", "idgen_system", "-o", "consumer", "."}
	if r := execute(t, folder, environment, build...); r.failed != nil {
		t.Fatalf("%v\n%s", r.failed, r.stderr)
	}
	if r := execute(t, folder, environment, "./consumer"); r.failed != nil || r.stdout != "1 <nil>\n" {
		t.Errorf("%v: it printed %q\n%s", r.failed, r.stdout, r.stderr)
	}
	// It really uses that library: without it the program does not start.
	if r := execute(t, folder, []string{"LD_LIBRARY_PATH="}, "./consumer"); r.failed == nil {
		t.Error("the program does not need libidgen.so: it holds a core of its own")
	}
}
