package gate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/courant-platform/courant"
	"github.com/courant-platform/courant/internal/front/gate"
	"github.com/courant-platform/courant/internal/port/store"
	"github.com/courant-platform/courant/internal/port/store/storetest"
)

const session = "session token"

func open(t *testing.T) *gate.Gate {
	t.Helper()
	return &gate.Gate{Store: storetest.Memory(t), Log: slog.New(slog.DiscardHandler), Session: session, Password: "correct horse battery"}
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
