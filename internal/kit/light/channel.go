package light

import (
	"regexp"
	"strings"

	"github.com/courant-platform/courant/internal/kit/link"
)

// channel returns the label for a kind of contact.
func channel(kind string) string {
	switch kind {
	case "call":
		return "Call"
	case "mail":
		return "Mail"
	case "chat":
		return "Chat"
	case "facebook":
		return "Facebook"
	case "google":
		return "Google"
	case "odnoklassniki":
		return "OK"
	case "telegram":
		return "Telegram"
	case "twitter":
		return "X"
	case "viber":
		return "Viber"
	case "vkontakte":
		return "VK"
	case "whatsapp":
		return "WhatsApp"
	}
	return kind
}

// watch returns the page of a video whose player was embedded, and whether the player
// is known. If a player does not work outside a frame, it returns the page of the video
// instead.
func watch(player string) (url string, known bool) {
	host := strings.TrimPrefix(link.Host(player), "www.")
	switch host {
	case "youtube.com", "youtube-nocookie.com":
		return page(player, "https://www.youtube.com/watch?v=")
	case "player.vimeo.com":
		return page(player, "https://vimeo.com/")
	case "rutube.ru":
		return page(player, "https://rutube.ru/video/")
	case "youtu.be", "vimeo.com", "vk.com", "vk.ru", "vkvideo.ru", "ok.ru", "dailymotion.com", "geo.dailymotion.com", "dzen.ru", "frontend.vh.yandex.ru":
		return player, true
	}
	return player, false
}

var embedded = regexp.MustCompile(`^https?://[^/]+/(?:embed|video|play/embed)/([A-Za-z0-9_-]+)/?(?:[?#].*)?$`)

// page builds the address of a video from the identifier in the address of its player.
func page(player, prefix string) (string, bool) {
	if m := embedded.FindStringSubmatch(player); m != nil && m[1] != "videoseries" {
		return prefix + m[1], true
	}
	return player, true
}
