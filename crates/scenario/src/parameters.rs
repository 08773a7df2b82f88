//! Tables of parameters of the engine, as tables of a scenario file.

/// What a key is by default in each of several cases, for attributes, in which closures cannot stand.
macro_rules! of {
    (|$case:ident| $value:expr) => {
        |$case| serde_json::json!($value)
    };
}

/// The type of a parameter of this kind in a file.
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

/// The engine's default of a parameter, as it would stand in a file.
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

/// The engine's value of a parameter that was read, and is in its range but for times that are longer than
/// the clock has.
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

/// A table of a file, whose keys are the parameters of `config`, after others of its own. `resolve_listed`
/// checks all ranges of the table that is at `at`; parameters that are resolved by hand have the engine's
/// default in what it returns.
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
            /// The engine's.
            fn default() -> $name {
                $name {
                    $($( $before: Default::default(), )*)?
                    $($parameter: $crate::parameters::write!($kind, $config::DEFAULT.$parameter),)*
                }
            }
        }

        impl $name {
            #[allow(unused_variables)] // of a table whose ranges all have two ends
            fn resolve_listed(
                &self,
                document: &$crate::document::Document<'_>,
                at: &$crate::document::KeyPath,
            ) -> $crate::document::Result<$config> {
                #[allow(clippy::needless_update)] // of a table whose parameters are all of files
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

/// The table `keys` of a file, whose keys are the parameters of `config` that differ from a preset, and more
/// keys. `resolve_listed` checks all ranges; parameters that are resolved by hand are those of the preset in
/// what it returns.
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
                        (), // no time of it may last as long as the clock
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
