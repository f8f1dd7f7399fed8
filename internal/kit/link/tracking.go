package link

import "strings"

// isTracking says whether a parameter only tells where a reader came from. The
// name comes in lower case.
func isTracking(name string) bool {
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "twclid", "ttclid", "li_fat_id",
		"igshid", "igsh", "yclid", "ysclid", "ymclid", "_openstat", "openstat", "from_openstat", "rb_clickid",
		"mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
		"vero_id", "vero_conv", "wickedid", "oly_anon_id", "oly_enc_id", "s_cid", "_ga", "_gl", "srsltid",
		"epik", "ml_subscriber", "ml_subscriber_hash", "cvid", "oicd", "at_medium", "at_campaign":
		return true
	}
	return strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "pk_") || strings.HasPrefix(name, "mtm_") ||
		strings.HasPrefix(name, "hmb_")
}

// maxTracking is longer than every name above; longer names need no look.
const maxTracking = 40

// dropTracking removes the tracking parameters of a query, keeping the order
// and the spelling of the others.
func dropTracking(query string) string {
	if !hasTracking(query) {
		return query
	}
	var kept []string
	for param := range strings.SplitSeq(query, "&") {
		if !tracks(param) {
			kept = append(kept, param)
		}
	}
	return strings.Join(kept, "&")
}

func hasTracking(query string) bool {
	for query != "" {
		param, rest, _ := strings.Cut(query, "&")
		if tracks(param) {
			return true
		}
		query = rest
	}
	return false
}

// tracks looks only at names that begin as tracking parameters do.
func tracks(param string) bool {
	name, _, _ := strings.Cut(param, "=")
	if name == "" || len(name) > maxTracking {
		return false
	}
	return isTracking(strings.ToLower(name))
}
