//go:build cgo

package idgen

// #cgo noescape idgen_go_pattern_parse
// #cgo nocallback idgen_go_pattern_parse
// #include "idgen_go.h"
import "C"

import (
	"context"
	"errors"
	"runtime"
	"time"
)

// TextPattern says how ids are written as people read them: literals, a date, one number and a check, such as
// "ORD-{base62:11}-{check}" or "{yyyyMMdd}-{decimal}". Immutable; safe for use by any number of goroutines.
//
// Made by [NewTextPattern] or [OpenTextPattern]; a generator has one too.
type TextPattern struct {
	handle   C.uintptr_t
	lifetime *lifetime // as in Generator
}

// NewTextPattern makes a pattern from its text. Of the options it uses WithZone, and for a pattern with a date, which
// is that of the id's time, WithLayout and WithEpoch. A zone with a name, such as "Europe/Berlin", needs the module
// libidgen_zone.so (see WithModulePath), and reads files.
//
// Errors: ErrValue (pattern, zone), ErrLayout, ErrUnsupported (a date without a layout that has time; the module).
func NewTextPattern(pattern string, options ...Option) (*TextPattern, error) {
	if err := checkABI(); err != nil {
		return nil, err
	}
	text, err := newCString("the pattern", pattern)
	if err != nil {
		return nil, err
	}
	defer text.free()
	// What is wrong with the text alone is found here: a property could be empty, and has a range of its own.
	plain, err := newTextPattern(C.idgen_go_pattern_create(text.text))
	if len(options) == 0 || err != nil && !errors.Is(err, ErrUnsupported) {
		return plain, err
	}
	// Of this kind, a configuration has only the layout that the options give it.
	return textPatternOf(append([]Option{WithKind("segment"), WithPattern(pattern)}, options...))
}

// OpenTextPattern makes the pattern of the table [name] of a TOML file, as a generator of it has it. Options override
// the file. It opens no store. Errors: as NewTextPattern, ErrConfigFile for the file.
func OpenTextPattern(path, name string, options ...Option) (*TextPattern, error) {
	return textPatternOf(append([]Option{file{path, name}}, options...))
}

func textPatternOf(options []Option) (*TextPattern, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	defer c.destroy()
	return c.textPattern()
}

// textPattern is the one that a generator of this configuration has.
func (c *config) textPattern() (*TextPattern, error) {
	return newTextPattern(C.idgen_go_pattern_of(c.handle))
}

func newTextPattern(created C.idgen_go_handle) (*TextPattern, error) {
	if err := failed(created.failure); err != nil {
		return nil, err
	}
	life := newLifetime(created.handle, func(handle C.uintptr_t) { C.idgen_go_pattern_destroy(handle) })
	return &TextPattern{created.handle, life}, nil
}

func (p *TextPattern) pointer() C.uintptr_t {
	if p == nil {
		return 0 // the core answers ErrHandle
	}
	return p.handle
}

// Format writes an id, its 64 bits read as unsigned. Errors: ErrValue for an id of more digits than the pattern holds,
// or that is none of the layout.
func (p *TextPattern) Format(id int64) (string, error) {
	result := C.idgen_go_pattern_format(p.pointer(), C.uint64_t(id))
	runtime.KeepAlive(p)
	return patternText(result)
}

// FormatWide writes an id of either length. Errors: those of Format, and ErrValue for the zero value of WideID.
func (p *TextPattern) FormatWide(id WideID) (string, error) {
	result := C.idgen_go_pattern_format_wide(p.pointer(), id.toC())
	runtime.KeepAlive(p)
	return patternText(result)
}

func patternText(result C.idgen_go_pattern_text) (string, error) {
	if err := failed(result.failure); err != nil {
		return "", err
	}
	return C.GoStringN(&result.text[0], C.int(result.length)), nil
}

// TimeUnit is a unit of a date.
type TimeUnit int32

// The units, from the longest to the shortest.
const (
	UnitNone   TimeUnit = C.IDGEN_UNIT_NONE
	UnitYear   TimeUnit = C.IDGEN_UNIT_YEAR
	UnitMonth  TimeUnit = C.IDGEN_UNIT_MONTH
	UnitDay    TimeUnit = C.IDGEN_UNIT_DAY
	UnitHour   TimeUnit = C.IDGEN_UNIT_HOUR
	UnitMinute TimeUnit = C.IDGEN_UNIT_MINUTE
	UnitSecond TimeUnit = C.IDGEN_UNIT_SECOND
)

// TextParts is a text that was read. The date is that of the id's time, by the clocks of the pattern's zone. What is
// shorter than Unit stands at its first value, and without a date it is 1970-01-01 00:00:00.
type TextParts struct {
	ID     WideID   // the id that was written
	Number WideID   // as it stands in the text: the id itself, but for serials
	Unit   TimeUnit // the shortest of the date; UnitNone: the pattern has none
	Year   int      // 0 to 9999
	Month  time.Month
	Day    int
	Hour   int
	Minute int
	Second int
}

// Time returns when Unit began, if the clocks of the pattern's zone are those of the location: the text does not say
// which zone that is. Meaningful only if Unit is not UnitNone.
func (p TextParts) Time(location *time.Location) time.Time {
	return time.Date(p.Year, p.Month, p.Day, p.Hour, p.Minute, p.Second, 0, location)
}

// Parse reads a text. Strict: what Format writes, in either case where the encoding allows it, and O, I and L in
// crockford. Without a layout, a number from 2^64 on is an id of 16 bytes.
//
// Errors: ErrText, with the position; a check that is wrong is said to be that.
func (p *TextPattern) Parse(text string) (TextParts, error) {
	result := C.idgen_go_pattern_parse(p.pointer(), textAddress(text), C.size_t(len(text)))
	runtime.KeepAlive(text)
	runtime.KeepAlive(p)
	if err := failed(result.failure); err != nil {
		return TextParts{}, err
	}
	parts := &result.parts
	return TextParts{
		ID: wideFromC(parts.id), Number: wideFromC(parts.number), Unit: TimeUnit(parts.unit),
		Year: int(parts.year), Month: time.Month(parts.month), Day: int(parts.day),
		Hour: int(parts.hour), Minute: int(parts.minute), Second: int(parts.second),
	}, nil
}

// NextText makes one id as text: as the property pattern has it, without one in decimal. [Generator.TextPattern] reads
// it back. May block like Next.
//
// Errors: those of Next; ErrExhausted also for an id of more digits than the pattern holds, which is lost.
func (g *Generator) NextText() (string, error) {
	return g.NextTextContext(context.Background())
}

// NextTextContext is NextText with a way out, like NextContext.
func (g *Generator) NextTextContext(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", cancelled(ctx, ErrCancelled.Error())
	}
	defer runtime.KeepAlive(g)
	result := C.idgen_go_try_next_text(g.pointer(), g.TextPattern().pointer())
	if result.failure.status == C.IDGEN_E_WOULD_BLOCK {
		id, err := g.lifetime.waiters.next(ctx, g)
		if err != nil {
			return "", err
		}
		result = C.idgen_go_text_of(g.TextPattern().pointer(), C.uint64_t(id))
	}
	if result.failure.status != C.IDGEN_OK {
		result = C.idgen_go_core_text(g.pointer())
	}
	return patternText(result)
}

// TextPattern returns the pattern by which NextText writes ids. Works on a closed generator too.
func (g *Generator) TextPattern() *TextPattern {
	if g == nil {
		return nil
	}
	return g.pattern
}
