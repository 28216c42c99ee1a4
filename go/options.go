//go:build cgo

package idgen

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Option is a part of a configuration: [Options], [With], or one of the other With functions. Later ones override
// earlier ones.
type Option interface{ apply(*config) error }

// Options are properties by name, as in the configuration file: Options{"kind": "segment", "segment.step": "1000"}.
// [Properties] lists the names. Durations are "250ms", "10s", …; booleans "true" and "false"; instants RFC 3339 or Unix
// ms.
type Options map[string]string

func (o Options) apply(c *config) error {
	for _, key := range slices.Sorted(maps.Keys(o)) { // in a fixed order, so that the error is the same each time
		if err := c.set(key, o[key]); err != nil {
			return err
		}
	}
	return nil
}

type setting struct{ key, value string }

func (s setting) apply(c *config) error { return c.set(s.key, s.value) }

// With sets one property from a Go value: a string, any integer or floating-point number, a bool, a time.Duration or a
// time.Time, both in whole ms. Anything else is written with fmt.Sprint.
func With(key string, value any) Option {
	if moment, ok := value.(time.Time); ok && moment.Nanosecond()%int(time.Millisecond) != 0 {
		return refusal{ErrValue, fmt.Sprintf("%s = %s is not a whole number of milliseconds, "+
			"the finest there is; round it first",
			key, moment.Format(time.RFC3339Nano))}
	}
	return setting{key, valueText(value)}
}

// Environment sets the name, and the properties that this process's environment has for it: IDGEN_ORDERS_STORE is the
// property store of "orders". It is all that a program without a file needs; Open reads it too, and it overrides the
// file. Options that follow override both.
func Environment(name string) Option { return environment{name} }

type environment struct{ name string }

func (e environment) apply(c *config) error { return c.loadEnvironment(e.name) }

// refusal is an invalid option: its error is returned where all others are.
type refusal struct {
	status  Status
	message string
}

func (r refusal) apply(*config) error { return &Error{Status: r.status, Message: r.message} }

// valueText writes a value as idgen_config_set takes it.
func valueText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32)
	case time.Duration:
		if v%time.Millisecond == 0 {
			return strconv.FormatInt(v.Milliseconds(), 10)
		}
		return v.String() // finer than the core's unit: the core refuses it, and names the range
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

//go:generate ../bindings/go/list-sources.sh
//go:generate go run ./internal/optiongen
