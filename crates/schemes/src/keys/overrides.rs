//! Keys that are parameters of the transport: what a file gives stands in place of a preset's default. Rows
//! are those of `parameters!` of `multihop_core`, where the transport has them.

use multihop_transport::Flavour;
use serde_json::Value;

/// A table whose keys are parameters of `Options`.
pub trait Overrides<Options> {
    /// Puts what is given in place of what `options` have.
    fn apply(&self, options: &mut Options);
    /// Each key, and what a file would have that means what `options` have; none if no value does.
    fn written(options: &Options) -> Vec<Stated>;
}

/// A key, and the text of its value as in a file.
pub type Stated = (&'static str, Option<String>);

/// Adds the sentence about the default to the description of each key, from what its value is by flavour.
pub(crate) fn state_defaults(schema: &mut Value, by_flavour: &[(Flavour, Vec<Stated>)]) {
    let Some((_, first)) = by_flavour.first() else { return };
    for (index, (key, _)) in first.iter().enumerate() {
        let values = by_flavour.iter().map(|(flavour, stated)| (flavour.name(), stated[index].1.as_deref()));
        let sentence = default_sentence(values);
        if let Some(description) = schema["properties"][*key].get_mut("description") {
            *description = format!("{} {sentence}", description.as_str().unwrap_or_default()).into();
        }
    }
}

/// Such as `Default "1 s" (rfc, linux) or "3 s" (ns2).`
fn default_sentence<'a>(values: impl Iterator<Item = (&'a str, Option<&'a str>)>) -> String {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (flavour, value) in values {
        let value = value.unwrap_or("none");
        match groups.iter_mut().find(|(other, _)| *other == value) {
            Some((_, flavours)) => flavours.push(flavour),
            None => groups.push((value, vec![flavour])),
        }
    }
    let shown: Vec<String> = match &groups[..] {
        [(value, _)] => vec![(*value).to_owned()],
        several => several.iter().map(|(value, of)| format!("{value} ({})", of.join(", "))).collect(),
    };
    match &shown[..] {
        [before @ .., last] if !before.is_empty() => format!("Default {} or {last}.", before.join(", ")),
        shown => format!("Default {}.", shown.concat()),
    }
}

/// The type of a parameter of this kind in a file.
#[doc(hidden)]
#[macro_export]
macro_rules! written {
    (bool) => {
        bool
    };
    (f64) => {
        f64
    };
    (Span) => {
        $crate::quantity::Duration
    };
    (Bytes) => {
        $crate::quantity::Size
    };
    (BitRate) => {
        $crate::quantity::BitRate
    };
    ([$choice:ty]) => {
        $choice
    };
    (($engine:ty as $kind:ident)) => {
        $crate::written!($kind)
    };
    (($engine:ty as $written:ty = $default:expr)) => {
        $written
    };
    ($whole:ident) => {
        u32
    };
}

/// The engine's value of what a file has.
macro_rules! read {
    (Span, $value:expr) => {
        $value.span()
    };
    (Bytes, $value:expr) => {
        $value.bytes() as u32
    };
    (BitRate, $value:expr) => {
        $value.bytes_per_second()
    };
    (($engine:ty as $kind:ident), $value:expr) => {
        <$engine as multihop_core::Written<multihop_core::parameter_kind!($kind)>>::read(
            $crate::keys::overrides::read!($kind, $value),
        )
    };
    ($kind:tt, $value:expr) => {
        $value
    };
}

/// The text of the engine's value as in a file; none if nothing there means it.
macro_rules! text {
    (Span, $value:expr) => {
        Some(format!("{:?}", $crate::quantity::Duration($value.seconds()).shown()))
    };
    (Bytes, $value:expr) => {
        Some(format!("{:?}", $crate::quantity::Size(f64::from($value)).shown()))
    };
    (BitRate, $value:expr) => {
        Some(8.0 * $value)
            .filter(|rate| rate.is_finite())
            .map(|rate| format!("{:?}", $crate::quantity::BitRate(rate).to_string()))
    };
    (($engine:ty as $kind:ident), $value:expr) => {
        <$engine as multihop_core::Written<multihop_core::parameter_kind!($kind)>>::written(&$value)
            .and_then(|value| $crate::keys::overrides::text!($kind, value))
    };
    ([$choice:ty], $value:expr) => {
        Some(serde_json::json!($value).to_string())
    };
    ($kind:ident, $value:expr) => {
        Some($value.to_string())
    };
}

/// The range of a key, if it has one.
macro_rules! range {
    () => {
        |_: &mut schemars::Schema| ()
    };
    ($($range:tt)+) => {
        $crate::bounds!($($range)+)
    };
}

/// A table of rows of the transport, each of which may be left out, and the preset whose defaults stand then.
macro_rules! overrides {
    (
        $(#[$doc:meta])*
        $name:ident by $(#[$whose:meta])* $preset:ident: $presets:ty;
        $( $(#[$about:meta])* $key:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        #[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema, PartialEq, serde::Serialize)]
        #[serde(default)]
        $(#[$doc])*
        pub struct $name {
            $(#[$whose])*
            pub $preset: $presets,
            $(
                $(#[$about])*
                #[schemars(transform = $crate::keys::overrides::range!($($range)*))]
                pub $key: Option<$crate::written!($kind)>,
            )*
        }
    };
}

/// The table `name` is one of overrides of these rows of `options`.
macro_rules! onto {
    (
        $name:ident, $options:ident;
        $( $(#[$about:meta])* $key:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        impl $crate::keys::Overrides<$options> for $name {
            fn apply(&self, options: &mut $options) {
                $(if let Some(value) = self.$key {
                    options.$key = $crate::keys::overrides::read!($kind, value);
                })*
            }

            fn written(options: &$options) -> Vec<$crate::keys::Stated> {
                vec![$((stringify!($key), $crate::keys::overrides::text!($kind, options.$key)),)*]
            }
        }
    };
}

pub(crate) use {onto, overrides, range, read, text};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavours_of_one_default_share_it() {
        let sentence =
            |values: [Option<&str>; 3]| default_sentence(["rfc", "ns2", "linux"].into_iter().zip(values));
        assert_eq!(sentence([Some("3"); 3]), "Default 3.");
        assert_eq!(sentence([None; 3]), "Default none.");
        let (second, three) = (Some("\"1 s\""), Some("\"3 s\""));
        assert_eq!(sentence([second, three, second]), "Default \"1 s\" (rfc, linux) or \"3 s\" (ns2).");
        assert_eq!(sentence([None, Some("2"), Some("10")]), "Default none (rfc), 2 (ns2) or 10 (linux).");
    }
}
