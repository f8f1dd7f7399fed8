package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/courant-platform/courant/internal/kit/admission"
)

const (
	partOfList   = 100     // entries that are read and sent at once
	longestReply = 1 << 20 // bytes of a list, after which it ends early
)

// sendList answers {"NAME":[…],"next":…} with at most limit entries. It reads a list in
// parts, each when it is the request's turn, so that a long list holds up short requests
// for one part only, and no more than a part is in memory. part returns up to n entries,
// less than n at the end of the list; next is the cursor behind those that it has returned.
func sendList[T any](w http.ResponseWriter, r *http.Request, name string, limit int, part func(n int) ([]T, error), next func() any) (int, any, error) {
	turn := admission.TurnOf(r.Context())
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	flush := func() error {
		turn.Stop() // sending waits for the client
		_, err := w.Write(text.Bytes())
		text.Reset()
		return err
	}
	for sent, size, more := 0, 0, true; more && sent < limit && size < longestReply; {
		if size > 0 {
			if flush() != nil || turn.Wake(r.Context()) != nil {
				panic(http.ErrAbortHandler) // the client must not take a part for the whole
			}
		}
		asked := min(limit-sent, partOfList)
		entries, err := part(asked)
		switch {
		case err != nil && size == 0:
			return 0, nil, err
		case err != nil:
			panic(http.ErrAbortHandler)
		case size == 0:
			begin(w, &text, name)
		}
		for i := range entries {
			if sent+i > 0 {
				text.WriteByte(',')
			}
			if err := e.Encode(&entries[i]); err != nil {
				panic(err)
			}
		}
		more = len(entries) == asked
		sent, size = sent+len(entries), size+text.Len()
	}
	text.WriteString(`],"next":`)
	if err := e.Encode(next()); err != nil {
		panic(err)
	}
	text.WriteString("}\n")
	_ = flush() // the client may have gone
	return 0, nil, nil
}

// begin sets the headers of a list, and begins its text.
func begin(w http.ResponseWriter, text *bytes.Buffer, name string) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	text.WriteString(`{"` + name + `":[`)
}
