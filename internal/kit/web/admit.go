package web

import (
	"net/http"

	"github.com/courant-platform/courant"
)

// Handler answers an authenticated visitor.
type Handler func(w http.ResponseWriter, r *http.Request, who courant.Visitor)

// Admit wraps a handler so that it runs for signed-in visitors only; others get 401 or
// 403.
type Admit func(Handler) http.HandlerFunc

// Plain adapts a handler that treats all visitors alike.
func Plain(h http.Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request, _ courant.Visitor) { h.ServeHTTP(w, r) }
}
