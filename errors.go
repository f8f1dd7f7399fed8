package courant

import (
	"errors"
	"fmt"
)

// The kinds of error. The kind decides what happens (HTTP status, retry); the
// text says why. Every other error is internal: retried inside, a bare 500
// outside.
var (
	Invalid   = errors.New("invalid")
	NotFound  = errors.New("not found")
	Conflict  = errors.New("conflict")
	Forbidden = errors.New("forbidden")
	Busy      = errors.New("busy")
)

// Errorf returns an error of the given kind whose text is only the formatted
// message: errors.Is(err, kind) holds.
func Errorf(kind error, format string, args ...any) error {
	return &kindError{kind: kind, err: fmt.Errorf(format, args...)}
}

type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }
