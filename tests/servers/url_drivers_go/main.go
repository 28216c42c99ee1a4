// Draws from the store of a URL as host_go does from its native one, over the drivers that the build tags name. Run by
// tests/servers/test_url_drivers_go.py.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"

	"github.com/idgen/idgen/go"
)

func main() {
	properties := idgen.Options{}
	for _, pair := range os.Args[1:] {
		key, value, _ := strings.Cut(pair, "=")
		properties[key] = value
	}
	generator, err := idgen.New(context.Background(), properties)
	if err != nil {
		fmt.Println(said(err))
		os.Exit(status(err))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "describe" {
			text, _ := generator.Describe()
			fmt.Println(strings.ReplaceAll(text, "\n", " "))
			continue
		}
		count, _ := strconv.Atoi(lines.Text())
		draw(generator, count)
	}
	if err := generator.Close(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func draw(generator *idgen.Generator, count int) {
	ids := make([]int64, count)
	written, err := generator.Fill(ids)
	words := make([]string, 0, written+1)
	for _, id := range ids[:written] {
		words = append(words, strconv.FormatInt(id, 10))
	}
	if err != nil {
		words = append(words, said(err))
	}
	fmt.Println(strings.Join(words, " "))
}

func said(err error) string {
	var e *idgen.Error
	if !errors.As(err, &e) {
		return "!? " + err.Error()
	}
	return "!" + e.Name() + " " + strings.ReplaceAll(e.Message, "\n", " ") + cause(err)
}

// causes tell the type of what their driver returned.
var causes []func(error) string

func cause(err error) string {
	for _, of := range causes {
		if found := of(err); found != "" {
			return " (" + found + ")"
		}
	}
	return ""
}

// as is a cause of this type.
func as[T error](err error) string {
	var found T
	if errors.As(err, &found) {
		return fmt.Sprintf("%T", found)
	}
	return ""
}

func status(err error) int {
	var e *idgen.Error
	if errors.As(err, &e) && e.Retryable() {
		return 75
	}
	return 1
}
