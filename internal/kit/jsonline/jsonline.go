// Package jsonline writes values as JSON, one a line, for programs that read
// line by line: no slice is null, and no character within a line ends one.
package jsonline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// Write writes v and a line feed.
func Write(w io.Writer, v any) error {
	text, err := Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// Marshal writes v without a line feed. Nil slices become empty ones;
// U+0085, U+2028 and U+2029 are escaped.
func Marshal(v any) ([]byte, error) {
	copied := reflect.New(reflect.TypeOf(v)).Elem()
	copied.Set(reflect.ValueOf(v))
	fill(copied)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(copied.Interface()); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	text := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	for from, to := range map[string]string{"\u0085": `\u0085`, "\u2028": `\u2028`, "\u2029": `\u2029`} {
		text = bytes.ReplaceAll(text, []byte(from), []byte(to))
	}
	return text, nil
}

// fill replaces nil slices, in structs and slices all the way down.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fill(f)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Slice {
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
}
