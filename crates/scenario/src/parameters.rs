//! Tables of parameters of the engine, as tables of a scenario file.

/// The engine's default of a parameter, as it would stand in a file.
macro_rules! write {
    (bool, $value:expr) => {
        $value
    };
    (f64, $value:expr) => {
        $value
    };
    (Span, $value:expr) => {
        multihop_schemes::quantity::Duration($value.seconds())
    };
    (Bytes, $value:expr) => {
        multihop_schemes::quantity::Size(f64::from($value))
    };
    ([$choice:ty], $value:expr) => {
        $value
    };
    (($engine:ty as $written:ty = $default:expr), $value:expr) => {
        $default
    };
    ($whole:ident, $value:expr) => {
        u32::try_from($value).expect("defaults are small")
    };
}

/// The range of a quantity, for its schema.
macro_rules! quantities {
    () => {
        |_: &mut schemars::Schema| ()
    };
    ($least:literal) => {
        multihop_schemes::keys::Bounds::from($least)
    };
    ($least:literal, $most:literal) => {
        multihop_schemes::bounds!($least, $most)
    };
}

/// The engine's value of a parameter that was read, and is in its range but for times that are longer than
/// the clock has.
macro_rules! check {
    (($engine:ty as $written:ty = $default:expr), $document:expr, $at:expr, $value:expr, $preset:expr, [] []) => {
        $preset
    };
    ([$choice:ty], $document:expr, $at:expr, $value:expr, $preset:expr, [] []) => {
        $value
    };
    (bool, $document:expr, $at:expr, $value:expr, $preset:expr, [] []) => {
        $value
    };
    (Span, $document:expr, $at:expr, $value:expr, $preset:expr, [] [$least:literal]) => {
        $document.time(
            &$at,
            $value,
            $crate::document::bound::<multihop_schemes::quantity::Duration>($least).0,
        )?
    };
    (Span, $document:expr, $at:expr, $value:expr, $preset:expr, [] [$least:literal, $most:literal]) => {
        $value.span()
    };
    (Bytes, $document:expr, $at:expr, $value:expr, $preset:expr, [] [$least:literal, $most:literal]) => {
        $value.bytes() as u32
    };
    (f64, $document:expr, $at:expr, $value:expr, $preset:expr, [$low:literal, $high:literal] []) => {
        $value
    };
    ($whole:ident, $document:expr, $at:expr, $value:expr, $preset:expr, [$low:literal, $high:literal] []) => {
        $whole::try_from($value).expect("the range fits the type")
    };
}

/// The table `keys` of a file, whose keys are the parameters of `config`. `resolve_listed` checks all ranges;
/// parameters that are resolved by hand have the engine's default in what it returns.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $name:ident of $config:ident in $keys:tt;
        $( $(#[$about:meta])* $parameter:ident: $kind:tt [$($low:literal, $high:literal)?] [$($bounds:tt)*]; )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$about])*
                $(#[schemars(range(min = $low, max = $high))])?
                #[schemars(transform = $crate::parameters::quantities!($($bounds)*))]
                pub $parameter: multihop_schemes::written!($kind),
            )*
        }

        impl Default for $name {
            /// The engine's.
            fn default() -> $name {
                $name { $($parameter: $crate::parameters::write!($kind, $config::DEFAULT.$parameter),)* }
            }
        }

        impl $name {
            fn resolve_listed(
                &self,
                document: &$crate::document::Document<'_>,
            ) -> $crate::document::Result<$config> {
                Ok($config {
                    $($parameter: $crate::parameters::check!(
                        $kind,
                        document,
                        $crate::document::key!$keys.join(stringify!($parameter)),
                        self.$parameter,
                        $config::DEFAULT.$parameter,
                        [$($low, $high)?] [$($bounds)*]
                    ),)*
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
        $( $(#[$about:meta])* $parameter:ident: $kind:tt [$($low:literal, $high:literal)?] [$($bounds:tt)*]; )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, serde::Deserialize, schemars::JsonSchema, serde::Serialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$about])*
                $(#[schemars(range(min = $low, max = $high))])?
                #[schemars(transform = $crate::parameters::quantities!($($bounds)*))]
                pub $parameter: Option<multihop_schemes::written!($kind)>,
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
                        [$($low, $high)?] [$($bounds)*]
                    );
                })*
                config
            }
        }
    };
}

pub(crate) use {check, overrides, quantities, table, write};
