package link

import "strings"

// Feed returns the web address that an address of a subscription stands for. Such
// addresses begin with feed:, rss: or the like in place of http:, or before an address
// of the web. Other addresses are returned unchanged.
func Feed(address string) string {
	scheme, rest, ok := strings.Cut(address, ":")
	if !ok {
		return address
	}
	switch strings.ToLower(scheme) {
	case "feed", "feeds", "rss", "itpc", "pcast", "podcast":
	default:
		return address
	}
	if lower := strings.ToLower(rest); strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
		return rest
	}
	rest = strings.TrimLeft(rest, "/")
	if strings.EqualFold(scheme, "feeds") {
		return "https://" + rest
	}
	return "http://" + rest
}

// Entered returns the canonical form of an address as people write it: perhaps without a
// scheme, or with that of subscriptions.
func Entered(text string) (string, error) {
	address := Feed(strings.TrimSpace(text))
	if !strings.Contains(address, "://") && strings.Contains(address, ".") {
		address = "https://" + address
	}
	return Canonical(address)
}
