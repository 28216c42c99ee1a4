package idgen_test

import (
	"fmt"
	"testing"

	"github.com/idgen/idgen/go"
)

func TestValuesPrintAsWords(t *testing.T) {
	for want, value := range map[string]any{
		"info":                 idgen.LogInfo,
		"warning":              idgen.LogWarning,
		"error":                idgen.LogError,
		"LogLevel(9)":          idgen.LogLevel(9),
		"decimal":              idgen.Decimal,
		"crockford":            idgen.Crockford,
		"Encoding(-1)":         idgen.Encoding(-1),
		"month":                idgen.UnitMonth,
		"none":                 idgen.UnitNone,
		"hash":                 idgen.GeneHash,
		"PostgreSQL":           idgen.Postgres,
		"Dialect(0)":           idgen.Dialect(0),
		"worker":               idgen.FieldWorker,
		"time|worker|sequence": idgen.FieldSequence | idgen.FieldTime | idgen.FieldWorker,
		"FieldKind(0)":         idgen.FieldKind(0),
		"settled":              idgen.RouteSettled,
		"uuid":                 idgen.StandardUUID,
		"uuid4":                idgen.StandardUUID4,
		"uuid7":                idgen.StandardUUID7,
		"ulid":                 idgen.StandardULID,
		"object_id":            idgen.StandardObjectID,
		"Standard(5)":          idgen.Standard(5),
		"Standard(-1)":         idgen.Standard(-1),
	} {
		if got := fmt.Sprint(value); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := fmt.Sprint(idgen.FieldTime | 1<<31); got != "time|FieldKind(2147483648)" {
		t.Errorf("got %q", got)
	}
}

// Every named field of a layout, so that none is forgotten here.
func TestEveryFieldOfTheLayoutsHasItsNameInWords(t *testing.T) {
	for _, preset := range idgen.Presets() {
		layout := mustLayout(t, preset, "")
		info := need(layout.Info())(t)
		for _, field := range info.Fields {
			if field.Kind.String() != field.Name {
				t.Errorf("%s: the field %s prints as %s", preset, field.Name, field.Kind)
			}
		}
	}
}
