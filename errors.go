package courant

import (
	"errors"
	"fmt"
)

// The kinds of error. The kind decides what happens (HTTP status, retry); the text
// says why. An error without a kind is internal: stages retry it, and the API answers
// 500 without its text.
var (
	Invalid   = errors.New("invalid")
	NotFound  = errors.New("not found")
	Conflict  = errors.New("conflict")
	Forbidden = errors.New("forbidden")
	Busy      = errors.New("busy")
)

// Errorf returns an error for which errors.Is(err, kind) is true. Its text is only the
// formatted message, without the kind.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{kind: kind, err: fmt.Errorf(format, args...)}
}

type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
