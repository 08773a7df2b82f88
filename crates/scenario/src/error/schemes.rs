//! Problems with `[schemes]`.

use super::{instead_of, problems};

problems! {
    /// Problem with schemes and their variants.
    SchemeProblem:

    NoBase { name: String, known: Vec<String> } =>
        "{name:?} is not a scheme";
        "add base = \"...\" to make a variant, or correct the name; {}", instead_of(name, known);
    NameOfScheme { name: String, base: String } =>
        "VALUE cannot be the base of a variant called {name:?}, which is a scheme itself";
        "give the variant another name, such as \"{base}-variant\"";
    NoDatagram { size: u32 } =>
        "segments of {size} B do not fit into datagrams";
        "give a size from 1 B to 65507 B (the largest datagram)";
    NoMsdu { size: u32, headers: u32, largest: u32 } =>
        "segments of {size} B and at least {headers} B of headers exceed the largest MSDU, {largest} B";
        "give at most {} B, or set mac.rules = \"ns2\", which has no limit", largest - headers;
}
