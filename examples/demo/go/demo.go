// The demo's process in Go. ../demo.py says what the four do.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	idgen "github.com/idgen/idgen/go"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("demo.go: ")
	if len(os.Args) < 7 {
		log.Fatal("usage: demo TOML WORKER SECONDS LIMIT DIRECTORY NAME...")
	}
	seconds, err := strconv.ParseFloat(os.Args[3], 64)
	check(err)
	limit, err := strconv.Atoi(os.Args[4])
	check(err)
	input := bufio.NewScanner(os.Stdin)
	var first *idgen.Generator
	for _, name := range os.Args[6:] {
		generator, err := idgen.Open(context.Background(), os.Args[1], name, idgen.With("worker", os.Args[2]))
		check(err)
		fmt.Println("ready", name)
		if !input.Scan() {
			log.Fatal("standard input closed too early")
		}
		draw(generator, seconds, limit, filepath.Join(os.Args[5], "Go."+name+".ids"))
		check(generator.Close(context.Background()))
		if first == nil {
			first = generator // decoding works on a closed generator
		}
	}
	for input.Scan() {
		id, err := strconv.ParseInt(input.Text(), 10, 64)
		check(err)
		parts, err := first.Decode(id)
		check(err)
		fmt.Println("decoded", parts.UnixMs, parts.Worker, parts.Sequence)
	}
}

// draw makes one call for each id, straight into the mapped file.
func draw(generator *idgen.Generator, seconds float64, limit int, path string) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	check(err)
	check(file.Truncate(int64(limit) * 8))
	mapped, err := syscall.Mmap(int(file.Fd()), 0, limit*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	check(err)
	ids := unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(mapped))), limit)

	begin := time.Now()
	var elapsed, report time.Duration
	count := 0
	for count < limit && elapsed.Seconds() < seconds {
		for end := min(limit, count+4096); count < end; count++ {
			id, err := generator.Next()
			check(err)
			ids[count] = id
		}
		elapsed = time.Since(begin)
		if elapsed >= report {
			fmt.Println("count", count)
			report = elapsed + 100*time.Millisecond
		}
	}
	check(syscall.Munmap(mapped))
	check(file.Truncate(int64(count) * 8))
	check(file.Close())
	fmt.Println("done", count, elapsed.Nanoseconds())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
