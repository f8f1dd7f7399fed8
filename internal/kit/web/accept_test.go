package web_test

import (
	"net/http"
	"testing"

	"github.com/courant-platform/courant/internal/kit/web"
)

func TestAMediaTypeIsPreferredByItsWeight(t *testing.T) {
	for accept, want := range map[string]bool{
		"text/event-stream":                          true,
		"Text/Event-Stream":                          true,
		" text/event-stream ; charset=utf-8":         true,
		"text/html, text/event-stream;q=0.5":         true,
		"text/event-stream;q=1, application/json":    true,
		"application/json, text/event-stream; Q=1.0": true,
		"text/event-stream;q=0":                      false,
		"text/event-stream; q=0.000, */*":            false,
		"text/event-stream;Q=0":                      false,
		"text/event-stream;q=0.5, application/json":  false,
		"text/event-stream;q=nonsense":               false,
		"text/event-stream;q=NaN":                    false,
		"text/event-streams":                         false,
		"application/json;note=text/event-stream":    false,
		"*/*": false,
		"":    false,
		"application/json;q=0.3, text/event-stream;q=0.4": true,
	} {
		if got := web.Prefers(&http.Request{Header: http.Header{"Accept": {accept}}}, "text/event-stream", "application/json"); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
	if !web.Prefers(&http.Request{Header: http.Header{"Accept": {"application/json;q=0.1", "text/event-stream"}}}, "text/event-stream", "application/json") {
		t.Error("a second header does not count")
	}
}
