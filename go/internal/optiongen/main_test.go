//go:build cgo

package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheOptionFunctionsAreThoseOfTheTable(t *testing.T) {
	want, err := optionFunctions()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../options_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("options_generated.go is stale: run go generate ./go")
	}
}
