package websub

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
	"github.com/courant-platform/courant/internal/port/store"
)

// wish is the hubs and the topic that a feed names.
type wish struct {
	source     int64
	url, final string // as it was polled, and after redirects
	hubs, self string
}

// topic is the address to subscribe to: the feed's own address (self) if it is on
// the polled host, else the polled address. A feed cannot make us subscribe to
// another host's feed.
func (w wish) topic() string {
	self, err := link.Canonical(w.self)
	if err != nil {
		return w.url
	}
	if host := link.Host(self); host == link.Host(w.url) || host == link.Host(w.final) {
		return w.self
	}
	return w.url
}

// names reports whether the feed still names the subscribed hub and topic.
func (w wish) names(hub, topic string) bool {
	return slices.Contains(strings.Fields(w.hubs), hub) && w.topic() == topic
}

// reconcile adds subscriptions to hubs that feeds newly name, and ends those that no
// feed names any more. It reports whether there are requests to send.
func (w *WebSub) reconcile(ctx context.Context, fresh, known string, args ...any) (changed bool, err error) {
	var add []wish
	var leave, drop []string
	err = w.Store.Read(ctx, func(r store.Reader) error {
		leave, drop, err = w.strays(r, known, args...)
		if err != nil || !w.Config.Subscribe {
			return err
		}
		add, err = wishes(r, fresh, args...)
		return err
	})
	if err != nil || len(add)+len(leave)+len(drop) == 0 {
		return false, err
	}
	err = w.Store.Write(ctx, func(tx *store.Tx) error {
		now := tx.Now().UnixMilli()
		for _, id := range drop {
			if _, err := tx.Exec(dropRow, id); err != nil {
				return err
			}
		}
		for _, id := range leave {
			if _, err := tx.Exec(leaveHub, id, now); err != nil {
				return err
			}
		}
		for _, a := range add {
			if _, err := tx.Exec(putRow, rand.Text(), a.source, strings.Fields(a.hubs)[0], a.topic(), rand.Text(), now); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(leave)+len(drop) > 0 && w.Config.Subscribe { // a new hub or topic replaces the old one
		_, err = w.reconcile(ctx, fresh, known, args...)
	}
	return err == nil, err
}

func wishes(r store.Reader, query string, args ...any) (out []wish, err error) {
	err = r.Rows(func(rows store.Rows) error {
		var n wish
		err := rows.Scan(&n.source, &n.url, &n.final, &n.hubs, &n.self)
		if strings.TrimSpace(n.hubs) != "" {
			out = append(out, n)
		}
		return err
	}, query, args...)
	return out, err
}

// strays returns the subscriptions that no feed names any more: those to end, and
// those to delete because no request was ever sent.
func (w *WebSub) strays(r store.Reader, query string, args ...any) (leave, drop []string, err error) {
	err = r.Rows(func(rows store.Rows) error {
		var id, hub, topic string
		var asked int64
		var n wish
		if err := rows.Scan(&id, &n.source, &hub, &topic, &asked, &n.url, &n.final, &n.hubs, &n.self); err != nil {
			return err
		}
		switch {
		case w.Config.Subscribe && n.names(hub, topic):
		case asked == 0:
			drop = append(drop, id)
		default:
			leave = append(leave, id)
		}
		return nil
	}, query, args...)
	return leave, drop, err
}
