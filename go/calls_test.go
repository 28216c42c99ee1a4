package idgen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/idgen/idgen/go"
)

// options are the properties that a row gives; the store HOST is one of the program's own.
func options(properties string) idgen.Option {
	all := idgen.Options{}
	for property := range strings.SplitSeq(properties, "; ") {
		if key, value, _ := strings.Cut(property, "="); value == "HOST" {
			return idgen.WithHostStore(&counter{})
		} else if key != "" {
			all[key] = value
		}
	}
	return all
}

func shown(info idgen.SegmentInfo, err error) (string, error) {
	text := fmt.Sprint(info.MaxID, info.Step)
	if info.Rate == 0 && info.Holder == "" {
		text += " unused"
	}
	return text, err
}

// answerTo is what a call of the vectors gives.
func answerTo(r row, call string, with idgen.Option, argument string) (answer string, err error) {
	r.Helper()
	number, _ := strconv.ParseUint(argument, 10, 64)
	first, second, _ := strings.Cut(argument, " ")
	switch call {
	case "remove":
		return "", os.Remove(argument)
	case "spoil":
		return "", os.WriteFile(argument, []byte(strings.Repeat("this is no database\n", 1000)), 0o600)
	case "open":
		g, err := idgen.New(r.Context(), with)
		if err != nil {
			return "", err
		}
		defer g.Close(r.Context())
		ids := make([]int64, number)
		_, err = g.Fill(ids)
		return strings.Trim(fmt.Sprint(ids), "[]"), err
	case "open_table":
		g, err := idgen.Open(r.Context(), first, second, with)
		if err == nil {
			g.Close(r.Context())
		}
		return "", err
	case "names":
		names, err := idgen.Names(argument)
		return strings.Join(names, ", "), err
	case "create_store":
		return "", idgen.CreateStore(with)
	case "create":
		return "", idgen.CreateSegmentAbove(number, with)
	case "show":
		return shown(idgen.ShowSegment(with))
	case "advance":
		return shown(idgen.AdvanceSegment(int64(number), with))
	case "set_step":
		return shown(idgen.SetSegmentStep(int64(number), with))
	case "list":
		rows, err := idgen.ListSegments(with)
		var texts []string
		for _, row := range rows {
			named := idgen.Options{"namespace": row.Namespace, "tag": row.Tag}
			gives(idgen.ShowSegment(with, named))(r, row.SegmentInfo)
			texts = append(texts, fmt.Sprint(row.Namespace, " ", row.Tag, " ", row.MaxID))
		}
		return strings.Join(texts, ", "), err
	case "statements":
		text, err := idgen.SegmentStatements(with)
		return text[max(0, strings.LastIndex(text, "INSERT")):max(0, strings.LastIndex(text, ", "))], err
	case "max_of":
		return "", errorOf(idgen.SegmentMaxOf(first, second, with))
	}
	r.Fatalf("there is no such call")
	return "", nil
}

func TestCallsHaveTheAnswersOfTheVectors(t *testing.T) {
	folder := t.TempDir()
	here := need(filepath.Abs(filepath.Join("..", "tests", "vectors")))(t)
	filled := strings.NewReplacer("FOLDER", folder, "VECTORS", here)
	shortened := strings.NewReplacer(folder, "FOLDER", here, "VECTORS")
	for _, r := range vectors(t, "calls.tsv", 80) {
		call, argument := r.text("call"), filled.Replace(r.text("argument"))
		answer, err := answerTo(r, call, options(filled.Replace(r.text("properties"))), argument)
		status := "OK"
		var e *idgen.Error
		if errors.As(err, &e) {
			status, answer = e.Name(), e.Message
		} else if err != nil {
			t.Fatalf("%s: %v", r.line, err)
		}
		if answer = shortened.Replace(answer); status != r.text("status") || answer != r.text("answer") {
			t.Errorf("%s: got %s %s", r.line, status, answer)
		}
	}
}
