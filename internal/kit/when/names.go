package when

import "strings"

// isWeekday reports whether a word is a weekday that begins like a month.
func isWeekday(w string) bool {
	switch w {
	case "mardi", "martes", "martedi", "marted\u00ec", "mar\u021bi", "maandag", "maanantai", "maanantaina", "\u0441\u0435\u0440\u0435\u0434\u0430", "\u0441\u0435\u0440\u0435\u0434\u0443":
		return true
	}
	return false
}

// isAmbiguous reports whether a word abbreviates both a month and a weekday:
// for March or Tuesday in Romance languages, for August or Wednesday in Ukrainian.
func isAmbiguous(w string) bool { return w == "mar" || w == "maa" || w == "\u0441\u0435\u0440" }

// monthOf returns the number of a month by its name or abbreviation in lower case, or
// 0. Languages: English, German, French, Spanish, Italian,
// Portuguese, Catalan, Romanian, Dutch, Swedish, Danish, Norwegian, Finnish,
// Polish, Czech, Hungarian, Turkish, Indonesian, Russian, Ukrainian, Belarusian,
// Bulgarian, Serbian, Greek, Hebrew, Arabic.
func monthOf(w []byte) int {
	if len(w) < 3 || w[0] == 'm' && (isWeekday(string(w)) || strings.HasPrefix(string(w), "marras")) {
		return marras(w)
	}
	if m := latinMonth(string(w[:3])); m > 0 {
		return m
	}
	if len(w) >= 4 {
		if m := fourBytes(w); m > 0 {
			return m
		}
	}
	if len(w) >= 6 && w[0] >= 0xce {
		if isWeekday(string(w)) {
			return 0
		}
		if m := cyrillicMonth(string(w[:6])); m > 0 {
			return m
		}
		return otherMonth(w)
	}
	return 0
}

// marras is November in Finnish, which begins like March in other languages.
func marras(w []byte) int {
	if strings.HasPrefix(string(w), "marras") {
		return 11
	}
	return 0
}

// latinMonth compares three letters, which distinguish most months.
func latinMonth(w string) int {
	switch w {
	case "jan", "ene", "gen", "sty", "ian", "oca", "led", "tam":
		return 1
	case "feb", "fev", "lut", "hel":
		return 2
	case "mar", "mrt", "maa":
		return 3
	case "apr", "abr", "avr", "kwi", "nis", "dub", "huh":
		return 4
	case "may", "mai", "maj", "mei", "mag", "tou":
		return 5
	case "jun", "giu", "cze", "iun", "haz", "kes":
		return 6
	case "jul", "lug", "lip", "iul", "tem", "hei":
		return 7
	case "aug", "ago", "sie", "agu", "srp", "elo":
		return 8
	case "sep", "set", "wrz", "eyl", "syy":
		return 9
	case "oct", "okt", "ott", "out", "eki", "lok":
		return 10
	case "nov", "lis", "noi", "kas":
		return 11
	case "dec", "dez", "dic", "gru", "des", "ara", "pro", "jou":
		return 12
	}
	return 0
}

// fourBytes compares four bytes and more: a letter with an accent takes two.
func fourBytes(w []byte) int {
	switch string(w[:4]) {
	case "j\u00e4n":
		return 1
	case "f\u00e9v", "\u015fub", "\u00fano":
		return 2
	case "m\u00e4r", "m\u00e1r", "b\u0159e":
		return 3
	case "\u00e1pr":
		return 4
	case "m\u00e1j", "kv\u011b":
		return 5
	case "juin", "j\u00fan":
		return 6
	case "juil", "j\u00fal":
		return 7
	case "\u010der":
		return cerven(w)
	case "ao\u00fb", "a\u011fu":
		return 8
	case "szep":
		return 9
	case "pa\u017a":
		return 10
	case "d\u00e9c":
		return 12
	}
	switch {
	case strings.HasPrefix(string(w), "z\u00e1\u0159"):
		return 9
	case strings.HasPrefix(string(w), "\u0159\u00edj"):
		return 10
	}
	return 0
}

// cerven distinguishes June from July in Czech.
func cerven(w []byte) int {
	if strings.Contains(string(w), "nec") || strings.Contains(string(w), "nce") {
		return 7
	}
	return 6
}

// cyrillicMonth compares three letters, which are six bytes.
func cyrillicMonth(w string) int {
	switch w {
	case "янв", "січ", "яну", "јан", "сту":
		return 1
	case "фев", "лют":
		return 2
	case "мар", "бер", "сак":
		return 3
	case "апр", "кві", "кра":
		return 4
	case "май", "мая", "тра", "мај":
		return 5
	case "июн", "чер", "юни", "јун", "чэр":
		return 6
	case "июл", "лип", "юли", "јул", "ліп":
		return 7
	case "авг", "сер", "жні":
		return 8
	case "сен", "вер", "сеп":
		return 9
	case "окт", "жов", "кас":
		return 10
	case "ноя", "лис", "ное", "нов", "ліс":
		return 11
	case "дек", "гру", "дец", "сне":
		return 12
	}
	return 0
}

// otherMonth compares three letters of Greek, Hebrew and Arabic.
func otherMonth(w []byte) int {
	switch string(w[:6]) {
	case "ιαν", "ינו", "ينا":
		return 1
	case "φεβ", "פבר", "فبر":
		return 2
	case "μαρ", "μάρ", "מרץ", "مار":
		return 3
	case "απρ", "אפר", "أبر", "ابر":
		return 4
	case "μαι", "μαϊ", "μάι", "μαΐ", "מאי", "ماي":
		return 5
	case "יונ", "يون":
		return 6
	case "יול", "يول":
		return 7
	case "αυγ", "αύγ", "אוג", "أغس", "اغس":
		return 8
	case "σεπ", "ספט", "سبت":
		return 9
	case "οκτ", "אוק", "أكت", "اكت":
		return 10
	case "νοε", "νοέ", "נוב", "نوف":
		return 11
	case "δεκ", "דצמ", "ديس":
		return 12
	case "ιου", "ιού":
		switch {
		case strings.HasPrefix(string(w[6:]), "ν"):
			return 6
		case strings.HasPrefix(string(w[6:]), "λ"):
			return 7
		}
	}
	return 0
}

// zoneOf returns the minutes east of UTC of a zone's name in lower case. Ambiguous
// names have the meaning that is usual in feeds.
func zoneOf(w string) (minutes int, ok bool) {
	switch w {
	case "gmt", "utc", "ut", "wet":
		return 0, true
	case "est", "cdt", "cot", "pet":
		return -5 * 60, true
	case "edt", "ast", "clt", "bot":
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
	case "adt", "brt", "art", "clst", "uyt":
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
	case "bst", "cet", "west", "mez", "wat", "met":
		return 60, true
	case "cest", "eet", "sast", "mesz", "cat", "mest":
		return 2 * 60, true
	case "msk", "eest", "trt", "eat", "мск":
		return 3 * 60, true
	case "msd", "samt", "gst":
		return 4 * 60, true
	case "yekt", "pkt", "uzt":
		return 5 * 60, true
	case "ist":
		return 5*60 + 30, true
	case "npt":
		return 5*60 + 45, true
	case "omst", "almt":
		return 6 * 60, true
	case "krat", "novt", "wib", "ict":
		return 7 * 60, true
	case "irkt", "awst", "hkt", "sgt", "pht", "wita", "myt":
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
