package gate_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/gate"
	"github.com/courant-platform/courant/internal/kit/admission"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const session = "session token"

func open(t *testing.T) *gate.Gate {
	t.Helper()
	n := 0
	return &gate.Gate{Store: storetest.Memory(t), Log: slog.New(slog.DiscardHandler), Session: session, Password: "correct horse battery",
		Network: func(*http.Request) admission.Client { // each request comes from another one
			n++
			return admission.Client(strconv.Itoa(n))
		}}
}

// asked is a request with an Authorization header, unless that is "".
func asked(t *testing.T, authorization string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://courant.example/", nil)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	return r
}

// admit lets a request through the gate and returns the visitor behind it, nil if none
// came, and the answer.
func admit(g *gate.Gate, r *http.Request) (who *courant.Visitor, w *httptest.ResponseRecorder) {
	w = httptest.NewRecorder()
	g.Admit(func(_ http.ResponseWriter, _ *http.Request, v courant.Visitor) { who = &v })(w, r)
	return who, w
}

func detail(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var p struct{ Detail string }
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return p.Detail
}

func first(t *testing.T, g *gate.Gate) string {
	t.Helper()
	token, err := g.FirstToken(t.Context())
	if err != nil || token == "" {
		t.Fatalf("the first token is %q, %v", token, err)
	}
	return token
}

func TestTheFirstTokenIsMadeOnce(t *testing.T) {
	g := open(t)
	first(t, g)
	if again, err := g.FirstToken(t.Context()); err != nil || again != "" {
		t.Errorf("a second first token: %q, %v", again, err)
	}
}

func TestTheTokenIsNotKept(t *testing.T) {
	g := open(t)
	token := first(t, g)
	if err := g.Store.Read(t.Context(), func(r store.Reader) error {
		return r.Rows(func(rows store.Rows) error {
			var hash []byte
			var name string
			err := rows.Scan(&hash, &name)
			if strings.Contains(string(hash)+name, token) {
				t.Error("the token lies in the store")
			}
			return err
		}, `SELECT hash, name FROM tokens`)
	}); err != nil {
		t.Fatal(err)
	}
}

func TestTheHandlerIsToldWhoAsks(t *testing.T) {
	g := open(t)
	token := first(t, g)
	for authorization, account := range map[string]string{
		"Bearer " + session: "local", "bearer " + session: "local", "Bearer  " + session + " ": "local", "Bearer " + token: "first",
		"Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5": "admin",
	} {
		who, w := admit(g, asked(t, authorization))
		if want := (courant.Visitor{Account: account, Role: courant.RoleOperator}); who == nil || *who != want || w.Code != http.StatusOK {
			t.Errorf("%q: %+v, %d; want %+v", authorization, who, w.Code, want)
		}
	}
}

func TestAnUnknownVisitorIsToldWhatIsWrong(t *testing.T) {
	g := open(t)
	sum := sha256.Sum256([]byte(first(t, g)))
	for authorization, says := range map[string]string{
		"": "a token is needed", "Bearer": "a token is needed", "Bearer ": "a token is needed", "Digest username=a": "a token is needed",
		"Bearer another": "the token is wrong", "bearer " + session + "x": "the token is wrong", "Bearer correct horse battery": "the token is wrong",
		"Bearer " + hex.EncodeToString(sum[:]): "the token is wrong", "Basic YWRtaW46d3Jvbmc=": "the password is wrong", "Basic YWRtaW46": "the password is wrong",
		"Basic YWRtaW4": "a token is needed",
	} {
		who, w := admit(g, asked(t, authorization))
		if who != nil || w.Code != http.StatusUnauthorized || w.Header().Get("WWW-Authenticate") != `Bearer realm="courant"` {
			t.Errorf("%q: %+v, %d %v", authorization, who, w.Code, w.Header())
			continue
		}
		if said := detail(t, w); !strings.HasPrefix(said, says) {
			t.Errorf("%q: %s, want %s", authorization, said, says)
		}
		if v, err := g.Who(asked(t, authorization)); v != (courant.Visitor{}) || err == nil {
			t.Errorf("%q: %+v, %v", authorization, v, err)
		}
	}
}

func TestWithoutASetPasswordEveryPasswordIsRejected(t *testing.T) {
	g := open(t)
	g.Password = ""
	for _, authorization := range []string{"Basic YWRtaW46", "Basic YWRtaW46Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"} {
		who, w := admit(g, asked(t, authorization))
		if who != nil || w.Code != http.StatusUnauthorized || !strings.HasPrefix(detail(t, w), "http.admin_password is not set") {
			t.Errorf("%q: %+v, %d %s", authorization, who, w.Code, w.Body)
		}
	}
}

func TestWithoutASessionTheEmptyTokenIsInvalid(t *testing.T) {
	g := open(t)
	g.Session = ""
	if who, w := admit(g, asked(t, "Bearer ")); who != nil || w.Code != http.StatusUnauthorized {
		t.Errorf("%+v, %d", who, w.Code)
	}
}

func TestAPageOfAnotherOriginCannotUseTheBrowsersPassword(t *testing.T) {
	g := open(t)
	for origin, let := range map[string]bool{"http://evil.example": false, "null": false, "http://courant.example": true, "": true} {
		r := asked(t, "")
		r.SetBasicAuth("admin", g.Password)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if who, w := admit(g, r); (who != nil) != let || !let && (w.Code != http.StatusForbidden || w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("from %q: %+v, %d", origin, who, w.Code)
		}
	}
}

func TestAnUnreadableStoreIsNotReportedAsAWrongToken(t *testing.T) {
	g := open(t)
	s, faults := storetest.Faulty(t)
	g.Store = s
	token := first(t, g)
	faults.Kill()
	if who, w := admit(g, asked(t, "Bearer "+token)); who != nil || w.Code != http.StatusServiceUnavailable || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("%+v, %d %s", who, w.Code, w.Body)
	}
	if who, _ := admit(g, asked(t, "Bearer "+session)); who == nil {
		t.Error("the session's token needs the store")
	}
}

func TestWrongTokensSlowDownTheirNetworkAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := open(t)
		from := admission.Client("192.0.2.7")
		var log bytes.Buffer
		g.Log = slog.New(slog.NewTextHandler(&log, nil))
		g.Network = func(*http.Request) admission.Client { return from }
		token := first(t, g)
		for range 10 {
			if _, w := admit(g, asked(t, "Bearer wrong")); w.Code != http.StatusUnauthorized {
				t.Fatalf("answered %d", w.Code)
			}
		}
		if n := strings.Count(log.String(), "sign-in refused"); n != 10 || strings.Contains(log.String(), "wrong wrong") {
			t.Errorf("%d lines:\n%s", n, &log)
		}
		if _, w := admit(g, asked(t, "Bearer wrong")); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Errorf("the next one is answered %d", w.Code)
		}
		if who, w := admit(g, asked(t, "Bearer "+token)); who != nil || w.Code != http.StatusTooManyRequests {
			t.Errorf("a token that is not known yet is tried: %d", w.Code)
		}
		if who, _ := admit(g, asked(t, "Bearer "+session)); who == nil {
			t.Error("the token of this process is refused")
		}
		from = "192.0.2.8"
		if who, _ := admit(g, asked(t, "Bearer "+token)); who == nil {
			t.Error("another network is refused")
		}
		from = "192.0.2.7"
		if who, _ := admit(g, asked(t, "Bearer "+token)); who == nil {
			t.Error("a token that was valid before is refused")
		}
		time.Sleep(11 * time.Second)
		if _, w := admit(g, asked(t, "Bearer wrong")); w.Code != http.StatusUnauthorized {
			t.Errorf("later it is answered %d", w.Code)
		}
		if _, w := admit(g, asked(t, "Bearer wrong")); w.Code != http.StatusTooManyRequests {
			t.Errorf("one attempt later it is answered %d", w.Code)
		}
		time.Sleep(time.Hour)
		if who, _ := admit(g, asked(t, "Bearer "+token)); who == nil {
			t.Error("after an hour it is refused")
		}
	})
}
