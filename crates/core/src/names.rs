//! Names in messages, and suggestions for misspelt ones.

use std::fmt::Display;

/// Nearest known name, if any: a name that contains the unknown one between hyphens or underscores, such as
/// `tcp-cubic` for `cubic`, or else a name that differs in few letters.
pub fn nearest_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let near = 1 + name.chars().count() / 3;
    let by_part = with_part(name, known.clone());
    // A part that many names share says little.
    let by_part = by_part.iter().copied().min_by_key(|name| name.len()).filter(|_| by_part.len() <= 2);
    by_part.or_else(|| {
        let apart = known.map(|candidate| (edit_distance(name, candidate), candidate));
        apart
            .filter(|(distance, _)| *distance <= near)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, name)| name)
    })
}

/// The known names that contain this one as parts.
fn with_part<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let meant = name.to_lowercase();
    let has_part = |candidate: &&str| {
        let candidate = candidate.to_lowercase();
        let mut places = candidate.match_indices(&meant);
        // Whole parts: what is around them is nothing, or another part.
        places.any(|(at, found)| {
            let (before, after) = (&candidate[..at], &candidate[at + found.len()..]);
            (before.is_empty() || before.ends_with(['-', '_']))
                && (after.is_empty() || after.starts_with(['-', '_']))
        })
    };
    known.filter(has_part).collect()
}

/// Suggestion for an unknown name: the nearest known name, or up to three that contain it, and the list of
/// known names.
pub fn instead_of(name: &str, known: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    let known: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    if known.is_empty() {
        return "there is none to choose from".into();
    }
    let hint = match with_part(name, known.iter().copied())[..] {
        [first, second, third] => format!("did you mean {first:?}, {second:?} or {third:?}? "),
        _ => nearest_name(name, known.iter().copied())
            .map(|nearest| format!("did you mean {nearest:?}? "))
            .unwrap_or_default(),
    };
    format!("{hint}known: {}", first_of(&known))
}

/// The first few names of a long list.
pub fn first_of<T: Display>(names: &[T]) -> String {
    const SHOWN: usize = 24;
    let shown: Vec<String> = names.iter().take(SHOWN).map(T::to_string).collect();
    let more = if names.len() > SHOWN { format!(", ... ({} in all)", names.len()) } else { String::new() };
    shown.join(", ") + &more
}

/// A text shortened to one line of limited length, for messages.
pub fn shorten(text: &str) -> String {
    const SHOWN: usize = 60;
    let mut line = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == SHOWN || c == '\n' {
            return line + "...";
        }
        line.push(if c.is_control() { '\u{fffd}' } else { c });
    }
    line
}

/// Levenshtein distance of the first characters of two names, ignoring case (Levenshtein 1966).
fn edit_distance(a: &str, b: &str) -> usize {
    const COMPARED: usize = 64;
    let chars =
        |text: &str| -> Vec<char> { text.chars().take(COMPARED).flat_map(char::to_lowercase).collect() };
    let (a, b) = (chars(a), chars(b));
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshtein() {
        for (a, b, expected) in
            [("kitten", "sitting", 3), ("", "abc", 3), ("Same", "same", 0), ("flaw", "lawn", 2)]
        {
            assert_eq!((edit_distance(a, b), edit_distance(b, a)), (expected, expected), "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_name_by_letters_or_by_a_part() {
        let known = ["udp", "tcp-newreno", "tcp-cubic", "tcp-bbr", "xcp", "xcp-b", "rcp-winf", "xcp-winf"];
        for (name, expected) in [
            ("tcp-newrno", Some("tcp-newreno")),
            ("cubic", Some("tcp-cubic")),
            ("Newreno", Some("tcp-newreno")),
            ("winf", Some("rcp-winf")),
            ("xpc", Some("xcp")),
            ("tcp", Some("xcp")),
            ("carrier-pigeon", None),
            ("", None),
        ] {
            assert_eq!(nearest_name(name, known.iter().copied()), expected, "{name}");
        }
    }

    #[test]
    fn a_longer_name_is_found_by_the_shorter_one_that_it_replaced() {
        let known = ["goodput_bps", "video_frames_late", "video_frames_lost", "video_frame_delay_p95_s"];
        assert_eq!(nearest_name("frames_late", known.iter().copied()), Some("video_frames_late"));
        assert_eq!(nearest_name("frame_delay_p95_s", known.iter().copied()), Some("video_frame_delay_p95_s"));
        assert_eq!(nearest_name("rames_late", known.iter().copied()), None);
    }

    #[test]
    fn only_near_names_are_proposed() {
        let known = ["chain", "grid"];
        assert_eq!(instead_of("chian", known), "did you mean \"chain\"? known: chain, grid");
        assert_eq!(instead_of("mesh", known), "known: chain, grid");
        let rates = ["data_rate", "control_rate", "ack_rate"];
        let three = "did you mean \"data_rate\", \"control_rate\" or \"ack_rate\"? known: ";
        assert_eq!(instead_of("rate", rates), format!("{three}data_rate, control_rate, ack_rate"));
        let many: Vec<String> = (0..30).map(|i| format!("n{i}")).collect();
        assert!(first_of(&many).ends_with("n23, ... (30 in all)"));
    }

    #[test]
    fn long_and_broken_texts_are_shortened() {
        assert_eq!(shorten("a\nb"), "a...");
        assert_eq!(shorten(&"x".repeat(100)).len(), 63);
        assert_eq!(shorten("\u{1b}[0m"), "\u{fffd}[0m");
    }
}
