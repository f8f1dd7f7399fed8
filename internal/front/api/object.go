package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// mostObject is the largest body for one small object, in bytes.
const mostObject = 1 << 16

var errNoBody = errors.New("the body is empty")

// readObject reads a body that is one JSON object without unknown keys into out. Its
// errors are meant for people; an empty body is errNoBody.
func readObject(body io.Reader, out any) error {
	text, err := io.ReadAll(io.LimitReader(body, mostObject+1))
	switch {
	case err != nil:
		return errors.New("the body was cut off")
	case len(text) > mostObject:
		return fmt.Errorf("the body is larger than %d bytes", mostObject)
	case len(strings.TrimSpace(string(text))) == 0:
		return errNoBody
	case strings.TrimSpace(string(text))[0] != '{' || !json.Valid(text):
		return errors.New("the body must be one JSON object")
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	err = d.Decode(out)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return fmt.Errorf("%s: unexpected JSON %s", kind.Field, kind.Value)
	}
	return errors.New(strings.Replace(strings.TrimPrefix(err.Error(), "json: "), "unknown field", "unknown key", 1))
}
