//! Macros that make tables of a scenario file of the engine's parameter tables.

/// Closure that gives the default of a key in each of several cases, for attributes, in which closures are
/// not allowed.
macro_rules! of {
    (|$case:ident| $value:expr) => {
        |$case| serde_json::json!($value)
    };
}

/// Type of a parameter of this kind in a file.
macro_rules! written {
    (Elapsed) => {
        $crate::values::Switch<multihop_config::quantity::Duration>
    };
    (($engine:ty as $kind:ident)) => {
        Option<multihop_schemes::written!($kind)>
    };
    ($kind:tt) => {
        multihop_schemes::written!($kind)
    };
}

/// The engine's default of a parameter, in its type in a file.
macro_rules! write {
    (bool, $value:expr) => {
        $value
    };
    (f64, $value:expr) => {
        $value
    };
    (Span, $value:expr) => {
        multihop_config::quantity::Duration::from($value)
    };
    (Bytes, $value:expr) => {
        multihop_config::quantity::Size(f64::from($value))
    };
    ([$choice:ty], $value:expr) => {
        $value
    };
    (Elapsed, $value:expr) => {
        match $value {
            multihop_link::Elapsed::SinceStart => $crate::values::Switch::Off,
            multihop_link::Elapsed::Window(window) => {
                $crate::values::Switch::At($crate::parameters::write!(Span, window))
            }
        }
    };
    (($engine:ty as $kind:ident), $value:expr) => {
        $value.map(|value| $crate::parameters::write!($kind, value))
    };
    (($engine:ty as $written:ty = $default:expr), $value:expr) => {
        $default
    };
    ($whole:ident, $value:expr) => {
        u32::try_from($value).expect("defaults are small")
    };
}

/// The engine's value of a parameter from a file, whose range has been checked. Times are checked against the
/// maximum time of the clock here.
macro_rules! check {
    (($engine:ty as $written:ty = $default:expr), $document:expr, $at:expr, $value:expr, $preset:expr, []) => {
        $preset
    };
    (($engine:ty as $kind:ident), $document:expr, $at:expr, $value:expr, $preset:expr, $range:tt) => {
        match $value {
            None => None,
            Some(value) => Some($crate::parameters::check!($kind, $document, $at, value, $preset, $range)),
        }
    };
    (Elapsed, $document:expr, $at:expr, $value:expr, $preset:expr, $range:tt) => {
        match $value {
            $crate::values::Switch::Off => multihop_link::Elapsed::SinceStart,
            $crate::values::Switch::At(window) => multihop_link::Elapsed::Window(window.span()),
        }
    };
    (Span, $document:expr, $at:expr, $value:expr, $preset:expr, [$least:literal]) => {
        $document.time(
            &$at,
            $value,
            $crate::document::bound::<multihop_config::quantity::Duration>($least).0,
        )?
    };
    ($kind:tt, $document:expr, $at:expr, $value:expr, $preset:expr, $range:tt) => {
        multihop_schemes::read!($kind, $value)
    };
}

/// Defines a table of a file, with the parameters of `config` after keys of its own. `resolve_listed` returns
/// the parameters of the table at `at`; those that are resolved elsewhere have the engine's default.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $name:ident of $config:ident
            $(, after { $( $(#[$note:meta])* pub $before:ident: $type:ty, )* })?;
        $( $(#[$about:meta])* $parameter:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        $(#[$doc])*
        pub struct $name {
            $($( $(#[$note])* pub $before: $type, )*)?
            $(
                $(#[$about])*
                #[schemars(transform = multihop_config::bounds!($($range)*))]
                pub $parameter: $crate::parameters::written!($kind),
            )*
        }

        impl Default for $name {
            /// The engine's defaults.
            fn default() -> $name {
                $name {
                    $($( $before: Default::default(), )*)?
                    $($parameter: $crate::parameters::write!($kind, $config::DEFAULT.$parameter),)*
                }
            }
        }

        impl $name {
            #[allow(unused_variables)] // used only by ranges without an upper end
            fn resolve_listed(
                &self,
                document: &$crate::document::Document<'_>,
                at: &$crate::document::KeyPath,
            ) -> $crate::document::Result<$config> {
                #[allow(clippy::needless_update)] // not needed if a file has all parameters
                Ok($config {
                    $($parameter: $crate::parameters::check!(
                        $kind,
                        document,
                        at.join(stringify!($parameter)),
                        self.$parameter,
                        $config::DEFAULT.$parameter,
                        [$($range)*]
                    ),)*
                    ..$config::DEFAULT
                })
            }
        }
    };
}

/// Defines the table at `keys` of a file, with the parameters of `config` that differ from a preset, and more
/// keys. `resolve_listed` returns the parameters; those that are resolved elsewhere have the preset's value.
macro_rules! overrides {
    (
        $(#[$doc:meta])*
        $name:ident of $config:ident in $keys:tt, with { $($more:tt)* };
        $( $(#[$about:meta])* $parameter:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema, serde::Serialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$about])*
                #[schemars(transform = multihop_config::bounds!($($range)*))]
                pub $parameter: Option<$crate::parameters::written!($kind)>,
            )*
            $($more)*
        }

        impl $name {
            fn resolve_listed(
                &self,
                preset: $config,
            ) -> $config {
                let mut config = preset;
                $(if let Some(_value) = self.$parameter {
                    config.$parameter = $crate::parameters::check!(
                        $kind,
                        (), // not used: no rule is a time without an upper end
                        $crate::document::key!$keys.join(stringify!($parameter)),
                        _value,
                        preset.$parameter,
                        [$($range)*]
                    );
                })*
                config
            }
        }
    };
}

pub(crate) use {check, of, overrides, table, write, written};
