package sim

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/courant-platform/courant/internal/stage/websub"
)

// hub is a WebSub hub for the feeds of every second host. It delivers each change once,
// late and out of order, and nothing while no platform runs.
type hub struct {
	// mu guards platform, callbacks and delivered.
	mu        sync.Mutex
	platform  http.Handler                 // of the running platform; nil if none
	callbacks map[string]map[string]string // secrets by topic and callback
	delivered int
	pushes    sync.WaitGroup
}

// live directs callbacks to a platform until end is called.
func (h *hub) live(platform http.Handler) (end func()) {
	h.mu.Lock()
	h.platform = platform
	h.mu.Unlock()
	return func() {
		h.mu.Lock()
		h.platform = nil
		h.mu.Unlock()
	}
}

// Post accepts a subscription request and verifies it a second later.
func (h *hub) Post(_ context.Context, _ string, form url.Values) (websub.Reply, error) {
	h.pushes.Go(func() {
		time.Sleep(time.Second)
		q := url.Values{"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": {"c"}, "hub.lease_seconds": {"3600"}}
		code, body := h.call(http.MethodGet, form.Get("hub.callback")+"?"+q.Encode(), "", "")
		if code != http.StatusOK || body != "c" || form.Get("hub.mode") != "subscribe" {
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.callbacks == nil {
			h.callbacks = map[string]map[string]string{}
		}
		topic := form.Get("hub.topic")
		if h.callbacks[topic] == nil {
			h.callbacks[topic] = map[string]string{}
		}
		h.callbacks[topic][form.Get("hub.callback")] = form.Get("hub.secret")
	})
	return websub.Reply{Status: http.StatusAccepted}, nil
}

// changed delivers body later nanoseconds from now.
func (h *hub) changed(topic, body string, later int) {
	h.pushes.Go(func() {
		time.Sleep(time.Duration(later))
		h.mu.Lock()
		callbacks := h.callbacks[topic]
		h.mu.Unlock()
		for callback, secret := range callbacks {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write([]byte(body))
			if code, _ := h.call(http.MethodPost, callback, body, "sha256="+hex.EncodeToString(mac.Sum(nil))); code == http.StatusAccepted {
				h.mu.Lock()
				h.delivered++
				h.mu.Unlock()
			}
		}
	})
}

// call requests a callback of the platform; 502 if none runs.
func (h *hub) call(method, address, body, signature string) (code int, answer string) {
	h.mu.Lock()
	platform := h.platform
	h.mu.Unlock()
	if platform == nil {
		return http.StatusBadGateway, ""
	}
	r := httptest.NewRequest(method, address, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/atom+xml")
	if signature != "" {
		r.Header.Set("X-Hub-Signature", signature)
	}
	out := httptest.NewRecorder()
	platform.ServeHTTP(out, r)
	return out.Code, out.Body.String()
}
