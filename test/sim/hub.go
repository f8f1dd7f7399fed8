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

// hub delivers the feeds of every second host to who has subscribed: each change
// once, late, and out of order, and nothing while no platform lives.
type hub struct {
	// mu guards platform, callbacks and delivered.
	mu        sync.Mutex
	platform  http.Handler                 // of the life that there is
	callbacks map[string]map[string]string // by topic, with their secrets
	delivered int
	pushes    sync.WaitGroup
}

// live has a platform called back until the end that it returns.
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

// Post takes a request to subscribe, and verifies it a second later.
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

// changed delivers a body as it is now, some time later.
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

// call reaches a callback of the platform, if it lives.
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
