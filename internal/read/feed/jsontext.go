package feed

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonObject maps names to the source text of their values.
type jsonObject = map[string]string

// jsonValue is a value and its offset; an object that was parsed at once has fields
// instead of text.
type jsonValue struct {
	text   string
	fields jsonObject
	offset int
}

// jsonFeed is a parsed document: its items and all other fields.
type jsonFeed struct {
	start  int // its offset in the source
	most   int // how many items are parsed at once
	fields jsonObject
	items  []jsonValue
	listed bool // there is a list of items
	healed bool // the text was repaired and differs from the source
}

// read parses a document and returns the offset after it, or the offset of an error;
// then f holds what stood before the error.
func (f *jsonFeed) read(src string) (int, error) {
	if at, ok := f.fast(src); ok {
		return at, nil
	}
	*f = jsonFeed{start: f.start, most: f.most}
	return f.slow(src)
}

// fast parses a document that is valid JSON and returns the offset after it.
func (f *jsonFeed) fast(src string) (int, bool) {
	s := jsonScan{src: src}
	s.blanks()
	if s.pos >= len(src) || src[s.pos] != '{' {
		return 0, false
	}
	f.fields = jsonObject{}
	ok := s.each('{', func(name string) bool {
		name = strings.ToLower(jsonString(name))
		if name == "items" && strings.HasPrefix(src[s.pos:], "[") {
			f.listed = true
			return s.each('[', func(string) bool { return f.item(&s) })
		}
		value, ok := s.value(1)
		f.fields[name] = value
		return ok
	})
	return s.pos, ok
}

// item skips an item and keeps it.
func (f *jsonFeed) item(s *jsonScan) (ok bool) {
	v := jsonValue{offset: s.pos}
	if len(f.items) < f.most && strings.HasPrefix(s.src[s.pos:], "{") {
		v.fields, ok = s.object(2)
	} else {
		v.text, ok = s.value(2)
	}
	f.items = append(f.items, v)
	return ok
}

// slow parses as much of a broken document as the standard library can.
func (f *jsonFeed) slow(src string) (int, error) {
	dec := json.NewDecoder(strings.NewReader(src))
	f.fields = jsonObject{}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return int(dec.InputOffset()), err
	}
	for dec.More() {
		key, err := dec.Token()
		if err == nil && key == "items" {
			err = f.list(dec)
		} else if err == nil {
			var v json.RawMessage
			if err = dec.Decode(&v); err == nil {
				f.fields[strings.ToLower(key.(string))] = string(v)
			}
		}
		if err != nil {
			return jsonPlace(src), err
		}
	}
	if _, err := dec.Token(); err != nil {
		return jsonPlace(src), err
	}
	return int(dec.InputOffset()), nil
}

// list reads the items; a value that is not a list has none.
func (f *jsonFeed) list(dec *json.Decoder) error {
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		if t == json.Delim('{') {
			return skipObject(dec)
		}
		return err
	}
	f.listed = true
	for dec.More() {
		at := int(dec.InputOffset())
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return err
		}
		f.items = append(f.items, jsonValue{text: string(v), offset: at})
	}
	_, err := dec.Token()
	return err
}

// skipObject reads to the end of an object that has begun.
func skipObject(dec *json.Decoder) error {
	for depth := 1; depth > 0; {
		switch t, err := dec.Token(); {
		case err != nil:
			return err
		case t == json.Delim('{') || t == json.Delim('['):
			depth++
		case t == json.Delim('}') || t == json.Delim(']'):
			depth--
		}
	}
	return nil
}

// jsonPlace returns the offset of the first error in a text: a Decoder's own offsets
// leave out what Token has read.
func jsonPlace(src string) int {
	var syntax *json.SyntaxError
	var all json.RawMessage
	if err := json.Unmarshal([]byte(src), &all); errors.As(err, &syntax) && syntax.Offset > 0 {
		return int(syntax.Offset) - 1
	}
	return len(src)
}

// isCut reports whether an error means that the text ends too early.
func isCut(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "unexpected end")
}

// jsonText reads a value as text: a string, the digits of a number, or the first
// element of a list. Other values give "".
func jsonText(v string) string {
	if v == "" {
		return ""
	}
	switch c := v[0]; {
	case c == '"':
		return jsonString(v)
	case c == '-' || c >= '0' && c <= '9':
		return v
	case c == '[':
		if list := jsonList(v); len(list) > 0 && list[0][0] != '[' {
			return jsonText(list[0])
		}
	}
	return ""
}

// jsonList reads a value as a list; a single value other than null is a list of one.
func jsonList(v string) (list []string) {
	if v == "" || v == "null" {
		return nil
	}
	if v[0] != '[' {
		return []string{v}
	}
	s := jsonScan{src: v}
	s.members('[', 0, func(_, item string, _ int) { list = append(list, item) })
	return list
}

// jsonFields reads an object; other values have no fields.
func jsonFields(v string) jsonObject {
	if v == "" || v[0] != '{' {
		return nil
	}
	s := jsonScan{src: v}
	o, _ := s.object(0)
	return o
}

// healJSON repairs common mistakes: line breaks and other control characters in
// strings, escapes that JSON does not have, and commas after the last value of a list.
func healJSON(s string) string {
	out := make([]byte, 0, len(s)+64)
	quoted := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(s):
			i++
			if strings.IndexByte(`"\/bfnrtu`, s[i]) >= 0 {
				out = append(out, c)
			}
			c = s[i]
		case quoted && c < ' ':
			out = append(out, '\\')
			c = controlEscape(c)
		case !quoted && c == ',' && endsList(s[i+1:]):
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// controlEscape returns the letter of the escape for a control character.
func controlEscape(c byte) byte {
	switch c {
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	}
	return 't'
}

// endsList reports whether the end of a list or object comes next.
func endsList(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == ']' || s[0] == '}')
}
