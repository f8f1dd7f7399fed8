// Package gate authenticates requests by token or by the administrator's password. It
// rejects requests that carry neither, and those that a page of another origin makes a
// browser send.
package gate

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/kit/web"
	"github.com/courant-platform/courant/internal/port/store"
)

// Gate is the authentication of one process.
type Gate struct {
	Store *store.Store
	Log   *slog.Logger
	// Session is a token that is valid while this process runs; "" for none.
	Session string
	// Password is the administrator's, for Basic authentication; "" for none.
	Password string
	// Network says where a request comes from; nil for a test.
	Network func(*http.Request) admission.Client

	once   sync.Once
	proven proven
	wrong  admission.Rate // of wrong tokens and passwords
}

// Accounts that are not in the store.
const (
	local = "local" // has the token of this process
	admin = "admin" // has the administrator's password
)

// crossOrigin detects requests that a page of another origin makes a browser send. The
// browser would add the password by itself.
var crossOrigin = http.NewCrossOriginProtection()

// Admit lets requests through that carry a valid token or the administrator's
// password and are not cross-origin.
func (g *Gate) Admit(next web.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := crossOrigin.Check(r); err != nil {
			web.FailWith(w, http.StatusForbidden, "cross-origin requests are not allowed")
			return
		}
		if after := g.attempts().After(g.network(r)); after > 0 && !g.Known(r) {
			web.Refuse(w, &web.Refusal{Status: http.StatusTooManyRequests, Text: "too many wrong tokens or passwords from your network; try again later", After: after})
			return
		}
		who, err := g.Who(r)
		switch {
		case errors.Is(err, courant.Forbidden):
			g.refusedTo(r, err)
			w.Header().Set("WWW-Authenticate", `Bearer realm="courant"`)
			web.FailWith(w, http.StatusUnauthorized, err.Error())
		case err != nil:
			web.Fail(w, r, g.Log, err)
		default:
			next(w, r, who)
		}
	}
}

// Who is the visitor that a request's token or password belongs to. An error of kind
// Forbidden says what is wrong with them.
func (g *Gate) Who(r *http.Request) (courant.Visitor, error) {
	const needed = "a token is needed: Authorization: Bearer …"
	if _, password, basic := r.BasicAuth(); basic {
		switch {
		case g.Password == "":
			return refused("http.admin_password is not set, so no password is accepted; " + needed)
		case !same(password, g.Password):
			return refused("the password is wrong")
		}
		return operator(admin), nil
	}
	token := bearer(r)
	if token == "" {
		return refused(needed)
	}
	account, err := g.account(r.Context(), token)
	switch {
	case store.NoRow(err):
		return refused("the token is wrong; use the one shown at the first start, or the one that a running courant keeps in its data folder")
	case err != nil:
		return courant.Visitor{}, err
	}
	g.proven.put(token)
	return operator(account), nil
}

// Known reports, without asking the store, whether a request has a password or a token
// that was valid a short time ago.
func (g *Gate) Known(r *http.Request) bool {
	if _, password, basic := r.BasicAuth(); basic {
		return g.Password != "" && same(password, g.Password)
	}
	token := bearer(r)
	return token != "" && (g.Session != "" && same(token, g.Session) || g.proven.has(token))
}

// attempts bounds the attempts of each network.
func (g *Gate) attempts() *admission.Rate {
	g.once.Do(func() { g.wrong.Burst, g.wrong.Every = mostWrong, wrongEvery })
	return &g.wrong
}

func (g *Gate) network(r *http.Request) admission.Client {
	if g.Network == nil {
		return ""
	}
	return g.Network(r)
}

// refusedTo counts and logs a wrong token or password.
func (g *Gate) refusedTo(r *http.Request, err error) {
	if r.Header.Get("Authorization") == "" {
		return // a person who has not signed in yet
	}
	from := g.network(r)
	g.attempts().Use(from)
	if g.attempts().After(from) == 0 {
		g.Log.Warn("sign-in refused", "client", from, "path", r.URL.Path, "reason", err)
	} else {
		g.Log.Warn("sign-in refused; further attempts are refused unseen for a while", "client", from, "path", r.URL.Path, "reason", err)
	}
}

func refused(why string) (courant.Visitor, error) {
	return courant.Visitor{}, courant.Errorf(courant.Forbidden, "%s", why)
}

// operator is the visitor of an account. All accounts may change everything.
func operator(account string) courant.Visitor {
	return courant.Visitor{Account: account, Role: courant.RoleOperator}
}

// account is the one that a token belongs to; store.NoRow if none.
func (g *Gate) account(ctx context.Context, token string) (name string, err error) {
	if g.Session != "" && same(token, g.Session) {
		return local, nil
	}
	sum := sha256.Sum256([]byte(token))
	err = g.Store.Read(ctx, func(r store.Reader) error { return r.Row(readToken, sum[:]).Scan(&name) })
	return name, err
}

// same compares secrets in constant time.
func same(given, want string) bool {
	a, b := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// bearer is the token that a request carries, "" if none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") { // the scheme is case-insensitive: RFC 9110, section 11.1
		return ""
	}
	return strings.TrimSpace(token)
}

// FirstToken creates the first token of a store that has none, and returns it to
// be shown once. It returns "" if the store has a token.
func (g *Gate) FirstToken(ctx context.Context) (string, error) {
	token := "courant_" + rand.Text()
	sum := sha256.Sum256([]byte(token))
	err := g.Store.Write(ctx, func(tx *store.Tx) error {
		var n int
		if err := tx.Row(countTokens).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			token = ""
			return nil
		}
		_, err := tx.Exec(putToken, sum[:], "first", tx.Now().UnixMilli())
		return err
	})
	if err != nil {
		return "", err
	}
	return token, nil
}
