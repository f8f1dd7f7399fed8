package when

// monthOf returns the number of a month by its name or the beginning of it, in
// lower case, or 0. Languages: English, German, French, Spanish, Italian,
// Portuguese, Dutch, Swedish, Danish, Polish, Russian, Ukrainian.
func monthOf(w []byte) int {
	if len(w) < 3 {
		return 0
	}
	if m := latinMonth(string(w[:3])); m > 0 {
		return m
	}
	if len(w) >= 4 {
		if m := fourLetters(string(w[:4])); m > 0 {
			return m
		}
	}
	if len(w) >= 6 {
		return cyrillicMonth(string(w[:6]))
	}
	return 0
}

// latinMonth compares three letters, which tell the months apart in all of the
// languages but where fourLetters has them.
func latinMonth(w string) int {
	switch w {
	case "jan", "ene", "gen", "sty":
		return 1
	case "feb", "fev", "lut":
		return 2
	case "mar", "mrt", "maa":
		return 3
	case "apr", "abr", "avr", "kwi":
		return 4
	case "may", "mai", "maj", "mei", "mag":
		return 5
	case "jun", "giu", "cze":
		return 6
	case "jul", "lug", "lip":
		return 7
	case "aug", "ago", "sie":
		return 8
	case "sep", "set", "wrz":
		return 9
	case "oct", "okt", "ott", "out":
		return 10
	case "nov", "lis":
		return 11
	case "dec", "dez", "dic", "gru":
		return 12
	}
	return 0
}

// fourLetters compares four bytes: a letter with an accent takes two.
func fourLetters(w string) int {
	switch w {
	case "j\u00e4n":
		return 1
	case "f\u00e9v":
		return 2
	case "m\u00e4r":
		return 3
	case "juin":
		return 6
	case "juil":
		return 7
	case "ao\u00fb":
		return 8
	case "pa\u017a":
		return 10
	case "d\u00e9c":
		return 12
	}
	return 0
}

// cyrillicMonth compares three letters, which are six bytes.
func cyrillicMonth(w string) int {
	switch w {
	case "янв", "січ":
		return 1
	case "фев", "лют":
		return 2
	case "мар", "бер":
		return 3
	case "апр", "кві":
		return 4
	case "май", "мая", "тра":
		return 5
	case "июн", "чер":
		return 6
	case "июл", "лип":
		return 7
	case "авг", "сер":
		return 8
	case "сен", "вер":
		return 9
	case "окт", "жов":
		return 10
	case "ноя", "лис":
		return 11
	case "дек", "гру":
		return 12
	}
	return 0
}

// zoneOf returns the minutes east of UTC of a zone's name in lower case. Names
// that mean several zones have the meaning they have in feeds.
func zoneOf(w string) (minutes int, ok bool) {
	switch w {
	case "gmt", "utc", "ut", "wet":
		return 0, true
	case "est", "cdt":
		return -5 * 60, true
	case "edt", "ast":
		return -4 * 60, true
	case "cst", "mdt":
		return -6 * 60, true
	case "mst", "pdt":
		return -7 * 60, true
	case "pst", "akdt":
		return -8 * 60, true
	case "akst", "hdt":
		return -9 * 60, true
	case "hst":
		return -10 * 60, true
	case "adt", "brt", "art":
		return -3 * 60, true
	case "nst":
		return -3*60 - 30, true
	case "ndt":
		return -2*60 - 30, true
	}
	return eastern(w)
}

// eastern holds the zones east of Greenwich.
func eastern(w string) (minutes int, ok bool) {
	switch w {
	case "bst", "cet", "west", "mez":
		return 60, true
	case "cest", "eet", "sast", "mesz":
		return 2 * 60, true
	case "msk", "eest", "trt", "мск":
		return 3 * 60, true
	case "msd", "samt", "gst":
		return 4 * 60, true
	case "yekt", "pkt", "uzt":
		return 5 * 60, true
	case "ist":
		return 5*60 + 30, true
	case "omst", "almt":
		return 6 * 60, true
	case "krat", "novt", "wib", "ict":
		return 7 * 60, true
	case "irkt", "awst", "hkt", "sgt", "pht", "wita":
		return 8 * 60, true
	case "jst", "kst", "yakt", "wit":
		return 9 * 60, true
	case "acst":
		return 9*60 + 30, true
	case "aest", "vlat":
		return 10 * 60, true
	case "aedt", "magt":
		return 11 * 60, true
	case "nzst", "pett":
		return 12 * 60, true
	case "nzdt":
		return 13 * 60, true
	}
	return 0, false
}
