package web

import (
	"net/http"

	"github.com/courant-platform/courant"
)

// Handler answers a visitor who has been let in.
type Handler func(w http.ResponseWriter, r *http.Request, who courant.Visitor)

// Admit wraps a handler so that it runs for signed-in visitors alone; others get
// 401 or 403.
type Admit func(Handler) http.HandlerFunc

// Plain is a handler to which all visitors are equal.
func Plain(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, _ courant.Visitor) { h.ServeHTTP(w, r) }
}
