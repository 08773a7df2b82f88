//! Keys that override options of the transport. A value in a file replaces the default of a preset. The rows
//! are those of the transport's own `parameters!` table (`multihop_config`).

use multihop_config::keys::state_default;
use multihop_transport::Flavour;
use serde_json::Value;

/// Table whose keys are parameters of `Options`.
pub trait Overrides<Options> {
    /// Replaces values of `options` with the values that are given.
    fn apply(&self, options: &mut Options);
    /// Returns each key with the value of `options` as a file would write it; none if no value in a file
    /// means it.
    fn written(options: &Options) -> Vec<Stated>;
}

/// Key, and its default as a file would write it.
pub type Stated = (&'static str, Option<Value>);

/// Adds the default of each key to its schema, from the key's default for each flavour.
pub(crate) fn state_defaults(schema: &mut Value, by_flavour: &[(Flavour, Vec<Stated>)]) {
    let Some((_, first)) = by_flavour.first() else { return };
    for (index, (key, _)) in first.iter().enumerate() {
        let values = by_flavour.iter().map(|(flavour, stated)| (flavour.name(), stated[index].1.as_ref()));
        if let Some(property) = schema["properties"][*key].as_object_mut() {
            state_default(property, values);
        }
    }
}

/// Type that a file has for a parameter of this kind.
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
        multihop_config::quantity::Duration
    };
    (Bytes) => {
        multihop_config::quantity::Size
    };
    (BitRate) => {
        multihop_config::quantity::BitRate
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

/// Converts a value of a file to the engine's value.
#[doc(hidden)]
#[macro_export]
macro_rules! read {
    (bool, $value:expr) => {
        $value
    };
    (f64, $value:expr) => {
        $value
    };
    (Span, $value:expr) => {
        $value.span()
    };
    (Bytes, $value:expr) => {
        $value.bytes() as u32
    };
    (BitRate, $value:expr) => {
        $value.bytes_per_second()
    };
    ([$choice:ty], $value:expr) => {
        $value
    };
    (($engine:ty as $kind:ident), $value:expr) => {
        <$engine as multihop_config::Written<multihop_config::parameter_kind!($kind)>>::read($crate::read!(
            $kind, $value
        ))
    };
    ($whole:ident, $value:expr) => {
        $whole::try_from($value).expect("the range fits the type")
    };
}

/// Converts the engine's value to a file's; none if no value in a file means it.
macro_rules! stated {
    (Span, $value:expr) => {
        Some(serde_json::json!(multihop_config::quantity::Duration::from($value).shown()))
    };
    (Bytes, $value:expr) => {
        Some(serde_json::json!(multihop_config::quantity::Size(f64::from($value)).shown()))
    };
    (BitRate, $value:expr) => {
        Some(8.0 * $value)
            .filter(|rate| rate.is_finite())
            .map(|rate| serde_json::json!(multihop_config::quantity::BitRate(rate)))
    };
    (($engine:ty as $kind:ident), $value:expr) => {
        <$engine as multihop_config::Written<multihop_config::parameter_kind!($kind)>>::written(&$value)
            .and_then(|value| $crate::overrides::stated!($kind, value))
    };
    ($kind:tt, $value:expr) => {
        Some(serde_json::json!($value))
    };
}

/// Defines a table of the transport's rows, all optional, and the preset that supplies their defaults.
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
                #[schemars(transform = multihop_config::bounds!($($range)*))]
                pub $key: Option<$crate::written!($kind)>,
            )*
        }
    };
}

/// Implements [`Overrides`] of the options for the table `name` with these rows.
macro_rules! onto {
    (
        $name:ident, $options:ident;
        $( $(#[$about:meta])* $key:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        impl $crate::overrides::Overrides<$options> for $name {
            fn apply(&self, options: &mut $options) {
                $(if let Some(value) = self.$key {
                    options.$key = $crate::read!($kind, value);
                })*
            }

            fn written(options: &$options) -> Vec<$crate::overrides::Stated> {
                vec![$((stringify!($key), $crate::overrides::stated!($kind, options.$key)),)*]
            }
        }
    };
}

pub(crate) use {onto, overrides, stated};
