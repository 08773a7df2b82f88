//! The name that was meant.

/// The known name that is nearest to one that is not known, if one is near: few letters apart, or with the name for one of its parts, as
/// `tcp-cubic` for `cubic`.
pub fn nearest_name<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let has_part = |candidate: &&str| candidate.split(['-', '_']).any(|part| part.eq_ignore_ascii_case(name));
    let near = 1 + name.chars().count() / 3;
    // A part that many names share says little.
    let by_part = known.clone().filter(has_part).min_by_key(|candidate| candidate.len());
    let by_part = by_part.filter(|_| known.clone().filter(has_part).count() <= 2);
    by_part.or_else(|| {
        let apart = known.map(|candidate| (edit_distance(name, candidate), candidate));
        apart
            .filter(|(distance, _)| *distance <= near)
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, name)| name)
    })
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
        ] {
            assert_eq!(nearest_name(name, known.iter().copied()), expected, "{name}");
        }
    }
}
