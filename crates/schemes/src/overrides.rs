//! Keys that are parameters of the transport: what a file gives stands in place of a preset's default. Rows
//! are those of `parameters!` of `multihop_config`, where the transport has them.

use multihop_config::keys::state_default;
use multihop_transport::Flavour;
use serde_json::Value;

/// A table whose keys are parameters of `Options`.
pub trait Overrides<Options> {
    /// Puts what is given in place of what `options` have.
    fn apply(&self, options: &mut Options);
    /// Each key, and what a file would have that means what `options` have; none if no value does.
    fn written(options: &Options) -> Vec<Stated>;
}

/// A key, and its value as in a file.
pub type Stated = (&'static str, Option<Value>);

/// Adds the default of each key to its schema, from what its value is by flavour.
pub(crate) fn state_defaults(schema: &mut Value, by_flavour: &[(Flavour, Vec<Stated>)]) {
    let Some((_, first)) = by_flavour.first() else { return };
    for (index, (key, _)) in first.iter().enumerate() {
        let values = by_flavour.iter().map(|(flavour, stated)| (flavour.name(), stated[index].1.as_ref()));
        if let Some(property) = schema["properties"][*key].as_object_mut() {
            state_default(property, values);
        }
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

/// The engine's value of what a file has.
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

/// The engine's value as in a file; none if nothing there means it.
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
                #[schemars(transform = multihop_config::bounds!($($range)*))]
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
