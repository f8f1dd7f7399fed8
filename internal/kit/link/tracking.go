package link

import "strings"

// isTracking reports whether a parameter is only for tracking or a session. name must
// be in lower case.
func isTracking(name string) bool {
	switch name {
	case "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "twclid", "ttclid", "li_fat_id",
		"igshid", "igsh", "yclid", "ysclid", "ymclid", "_openstat", "openstat", "from_openstat", "rb_clickid",
		"mc_cid", "mc_eid", "mkt_tok", "_hsenc", "_hsmi", "__hssc", "__hstc", "__hsfp", "hsctatracking",
		"vero_id", "vero_conv", "wickedid", "oly_anon_id", "oly_enc_id", "s_cid", "_ga", "_gl", "srsltid",
		"phpsessid", "jsessionid", "sessionid", "session_id", "cfid", "cftoken", "asp.net_sessionid",
		"epik", "ml_subscriber", "ml_subscriber_hash", "cvid", "oicd", "at_medium", "at_campaign":
		return true
	}
	return strings.HasPrefix(name, "utm_") || strings.HasPrefix(name, "aspsessionid") || strings.HasPrefix(name, "pk_") || strings.HasPrefix(name, "mtm_") ||
		strings.HasPrefix(name, "hmb_")
}

// maxTracking is the limit of names in bytes; longer ones are not compared.
const maxTracking = 40

// dropTracking removes the tracking parameters of a query and keeps the order and the
// spelling of the others.
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

// tracks is isTracking for a whole parameter; s and sid are sessions if their value is
// 32 hexadecimal digits.
func tracks(param string) bool {
	name, value, _ := strings.Cut(param, "=")
	if name == "" || len(name) > maxTracking {
		return false
	}
	return isTracking(strings.ToLower(name)) || len(value) == 32 && (name == "sid" || name == "s") && isHex(value)
}

// isHex distinguishes the session id of a forum from the number of an article.
func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i] | 0x20; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// dropSession removes the session id that Java servlets write into the path.
func dropSession(path string) string {
	i := strings.Index(strings.ToLower(path), ";jsessionid=")
	if i < 0 {
		return path
	}
	rest := path[i+1:]
	if end := strings.IndexAny(rest, "/;"); end >= 0 {
		return path[:i] + dropSession(rest[end:])
	}
	return path[:i]
}
