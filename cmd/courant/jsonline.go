package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// writeJSON writes v as JSON and a line feed, for programs that read line by
// line: no slice is null, and the line contains no other character that ends lines.
func writeJSON(w io.Writer, v any) error {
	text, err := marshalJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// marshalJSON is writeJSON's line without the line feed. Nil slices become empty
// ones; U+0085, U+2028 and U+2029 are escaped.
func marshalJSON(v any) ([]byte, error) {
	copied := reflect.New(reflect.TypeOf(v)).Elem()
	copied.Set(reflect.ValueOf(v))
	fillSlices(copied)
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

// fillSlices replaces nil slices by empty ones, in structs and slices at any depth.
func fillSlices(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				fillSlices(f)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.Slice {
			for i := range v.Len() {
				fillSlices(v.Index(i))
			}
		}
	}
}
