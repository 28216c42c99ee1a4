//go:build cgo

package idgen

import (
	"fmt"
	"strings"
)

// Names of the values that print as words: the same words in all languages. An unknown number prints as
// "LogLevel(9)".

var (
	logLevelNames = map[LogLevel]string{LogInfo: "info", LogWarning: "warning", LogError: "error"}
	encodingNames = map[Encoding]string{
		Decimal: "decimal", Hex: "hex", Crockford: "crockford", Base58: "base58", Base62: "base62",
	}
	timeUnitNames = map[TimeUnit]string{
		UnitNone: "none", UnitYear: "year", UnitMonth: "month", UnitDay: "day", UnitHour: "hour", UnitMinute: "minute",
		UnitSecond: "second",
	}
	geneRuleNames = map[GeneRule]string{GeneAuto: "auto", GeneHash: "hash", GeneMod: "mod"}
	dialectNames  = map[Dialect]string{MySQL: "MySQL", Postgres: "PostgreSQL", SQLite: "SQLite"}
	fieldNames    = map[FieldKind]string{
		FieldTime: "time", FieldDatacenter: "datacenter", FieldWorker: "worker", FieldProcess: "process",
		FieldShard: "shard", FieldSequence: "sequence", FieldGene: "gene", FieldVersion: "version",
		FieldSegment: "segment", FieldFixed: "fixed",
	}
)

func nameOf[T ~int | ~int32 | ~uint32](names map[T]string, kind string, value T) string {
	if name, known := names[value]; known {
		return name
	}
	return fmt.Sprintf("%s(%d)", kind, int64(value))
}

// String is "info", "warning" or "error".
func (l LogLevel) String() string { return nameOf(logLevelNames, "LogLevel", l) }

// String is "decimal", "hex", "crockford", "base58" or "base62".
func (e Encoding) String() string { return nameOf(encodingNames, "Encoding", e) }

// String is "year", "month", "day", "hour", "minute", "second", or "none".
func (u TimeUnit) String() string { return nameOf(timeUnitNames, "TimeUnit", u) }

// String is "auto", "hash" or "mod", as the property gene has it.
func (r GeneRule) String() string { return nameOf(geneRuleNames, "GeneRule", r) }

// String is "MySQL", "PostgreSQL" or "SQLite".
func (d Dialect) String() string { return nameOf(dialectNames, "Dialect", d) }

// String is the name of a field, as in a layout: "worker". Those of several kinds stand in the order of their values,
// "time|worker|sequence".
func (k FieldKind) String() string {
	if k == 0 {
		return nameOf(fieldNames, "FieldKind", k)
	}
	var names []string
	for bit := FieldKind(1); bit != 0 && bit <= k; bit <<= 1 {
		if k.Has(bit) {
			names = append(names, nameOf(fieldNames, "FieldKind", bit))
		}
	}
	return strings.Join(names, "|")
}
