package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAValueIsOneLineHoweverItIsSplit(t *testing.T) {
	for _, text := range []string{"", "a", "a\u0085b", "a\u2028b\u2029", "\n\r\v\f\x1c\x1d\x1e", "\u0085", "<a href=\"x\">&amp;</a>", "é\u00a0\u2027\u202a", "\x00\x7f", "\xff", "\xc2", "\xe2\x80"} {
		var out bytes.Buffer
		if err := writeJSON(&out, []string{text, "b"}); err != nil {
			t.Fatal(err)
		}
		line := out.String()
		if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") || strings.ContainsAny(line, "\u0085\u2028\u2029\r\v\f\x1c\x1d\x1e") {
			t.Errorf("%q is written %q", text, line)
		}
		var back []string
		if err := json.Unmarshal([]byte(line), &back); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if utf8.ValidString(text) && back[0] != text {
			t.Errorf("%q comes back as %q", text, back[0])
		}
	}
}

func TestMarkupStaysReadable(t *testing.T) {
	var out bytes.Buffer
	if err := writeJSON(&out, "<p>&amp;</p>"); err != nil || out.String() != "\"<p>&amp;</p>\"\n" {
		t.Errorf("got %s, %v", out.String(), err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestAFailedWriteIsAnError(t *testing.T) {
	if err := writeJSON(fullDisk{}, "a"); err == nil {
		t.Error("a full disk is no error")
	}
	if err := writeJSON(&bytes.Buffer{}, make(chan int)); err == nil {
		t.Error("a channel is no error")
	}
}
