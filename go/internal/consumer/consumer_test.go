// Package consumer builds programs of another module that use the Go package: in all build modes that link differently,
// and each program in the documentation.
package consumer

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// inRepository is a path in the module under test.
func inRepository(t *testing.T, path string) string {
	t.Helper()
	absolute, err := filepath.Abs(filepath.Join("..", "..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return absolute
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(inRepository(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newModule makes a folder with a module that depends on ours and contains this program.
func newModule(t *testing.T, program string) string {
	t.Helper()
	folder := t.TempDir()
	manifest := "module example.com/consumer\n\ngo 1.24.0\n\nrequire github.com/idgen/idgen v0.0.0\n\n" +
		"replace github.com/idgen/idgen => " + inRepository(t, "") + "\n"
	requirements := regexp.MustCompile(`(?m)^\s+(\S+ v\S+)`)
	for _, requirement := range requirements.FindAllStringSubmatch(read(t, "go.mod"), -1) {
		manifest += "\nrequire " + requirement[1] + " // indirect\n"
	}
	write(t, folder, "go.mod", manifest)
	write(t, folder, "go.sum", read(t, "go.sum"))
	write(t, folder, "main.go", program)
	return folder
}

func execute(t *testing.T, folder string, environment []string, command ...string) (stdout, stderr string, err error) {
	t.Helper()
	// A hung program must not hang the tests; compiling SQLite is slow.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, command[0], command[1:]...)
	run.Dir = folder
	run.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS="), environment...)
	var out, errors bytes.Buffer
	run.Stdout, run.Stderr = &out, &errors
	err = run.Run()
	return out.String(), errors.String(), err
}

func mustExecute(t *testing.T, folder string, environment []string, command ...string) string {
	t.Helper()
	stdout, stderr, err := execute(t, folder, environment, command...)
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", strings.Join(command, " "), err, stdout, stderr)
	}
	return stdout
}

// A position-independent program resolves the weak references to SQLite in another way. (`go test -race` of the package
// itself covers -race; tests/consumers covers a plain and a vendored build.)
func TestAPositionIndependentProgramFindsSQLite(t *testing.T) {
	folder := newModule(t, usesAStore)
	mustExecute(t, folder, nil, "go", "build", "-buildmode=pie", "-o", "consumer", ".")
	if got := mustExecute(t, folder, nil, "./consumer"); got != "1 <nil>\n" {
		t.Errorf("it printed %q", got)
	}
}

func TestWithoutCgoTheBuildSaysWhatIsMissing(t *testing.T) {
	_, stderr, err := execute(t, newModule(t, usesAStore), []string{"CGO_ENABLED=0"}, "go", "build", ".")
	if err == nil || !strings.Contains(stderr, "idgen_needs_cgo") {
		t.Errorf("got %v\n%s", err, stderr)
	}
}

// All Go programs in the documentation run here, with the page's configuration beside them.
func TestTheProgramsOfTheDocumentationRun(t *testing.T) {
	blocks := regexp.MustCompile("(?ms)^```(\\w*)[^\n]*\n(.*?)^```")
	for _, page := range []string{"go/README.md", "docs/go.md", "docs/testing.md"} {
		t.Run(page, func(t *testing.T) {
			content, folder := read(t, page), newModule(t, "")
			configuration, programs := "", 0
			for _, at := range blocks.FindAllStringSubmatchIndex(content, -1) {
				switch language, text := content[at[2]:at[3]], content[at[4]:at[5]]; language {
				case "toml":
					configuration = text
				case "go":
					programs++
					line := 1 + strings.Count(content[:at[0]], "\n")
					t.Run(fmt.Sprintf("line %d", line),
						func(t *testing.T) { runProgram(t, folder, configuration, text) })
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
	if tests := strings.Count(program, "\nfunc Test"); tests > 0 { // in a package of its own
		if err := os.MkdirAll(filepath.Join(folder, "tests"), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, folder, "tests/sample_test.go", program)
		got := mustExecute(t, folder, nil, "go", "test", "-v", "./tests")
		if passed := strings.Count(got, "\n--- PASS: "); passed != tests {
			t.Errorf("%d tests passed:\n%s", passed, got)
		}
		return
	}
	if !strings.HasPrefix(program, "package main\n") {
		t.Fatalf("this is no whole program:\n%s", program)
	}
	write(t, folder, "idgen.toml", configuration)
	write(t, folder, "main.go", program)
	mustExecute(t, folder, nil, "go", "vet", ".")
	mustExecute(t, folder, nil, "go", "build", "-o", "consumer", ".")
	got := mustExecute(t, folder, nil, "./consumer")
	if strings.TrimSpace(got) == "" {
		t.Error("it printed nothing")
	}
	t.Log(got)
	// The programs print the error beside each result.
	if !strings.Contains(program, "errors.Is") && !strings.Contains(got, "<nil>") {
		t.Errorf("no call succeeded:\n%s", got)
	}
}

// An installed library is found by pkg-config; here it is the build tree's, if there is one.
func TestAnInstalledLibraryIsUsedIfAskedFor(t *testing.T) {
	library := inRepository(t, "build/lib")
	if _, err := os.Stat(filepath.Join(library, "libidgen.so")); os.IsNotExist(err) {
		t.Skip("there is no build/lib/libidgen.so to use: make build")
	}
	packages := t.TempDir()
	write(t, packages, "idgen.pc", fmt.Sprintf("Name: idgen\nDescription: the build tree\nVersion: 0.1.0\n"+
		"Cflags: -I%s\nLibs: -L%s -lidgen\n", inRepository(t, "capi/include"), library))
	folder := newModule(t, usesAStore)
	// The key of the go command's cache has the flags, and not what pkg-config says: without separate flags this
	// build could be given one that was made with another idgen.pc.
	environment := []string{
		"PKG_CONFIG_PATH=" + packages, "LD_LIBRARY_PATH=" + library, "CGO_LDFLAGS=-O2 -g -L" + packages,
	}
	mustExecute(t, folder, environment, "go", "build", "-tags", "idgen_system", "-o", "consumer", ".")
	if got := mustExecute(t, folder, environment, "./consumer"); got != "1 <nil>\n" {
		t.Errorf("it printed %q", got)
	}
	// It really uses that library: without it the program does not start.
	if _, _, err := execute(t, folder, []string{"LD_LIBRARY_PATH="}, "./consumer"); err == nil {
		t.Error("the program does not need libidgen.so: it holds a core of its own")
	}
}
