//! Tables of parameters of the engine, as tables of a scenario file.

/// The type of a parameter of this kind in a file.
macro_rules! written {
    (bool) => {
        bool
    };
    (f64) => {
        f64
    };
    (Span) => {
        multihop_schemes::quantity::Duration
    };
    (Bytes) => {
        multihop_schemes::quantity::Size
    };
    (($engine:ty as $written:ty = $default:expr)) => {
        $written
    };
    ($whole:ident) => {
        u32
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
        multihop_schemes::quantity::Duration($value.seconds())
    };
    (Bytes, $value:expr) => {
        multihop_schemes::quantity::Size(f64::from($value))
    };
    (($engine:ty as $written:ty = $default:expr), $value:expr) => {
        $default
    };
    ($whole:ident, $value:expr) => {
        u32::try_from($value).expect("defaults are small")
    };
}

/// The engine's value of a parameter that was read, if it is in its range.
macro_rules! check {
    (($engine:ty as $written:ty = $default:expr), $document:expr, $at:expr, $value:expr, $preset:expr, [] []) => {
        $preset
    };
    (bool, $document:expr, $at:expr, $value:expr, $preset:expr, [] []) => {
        $value
    };
    (Span, $document:expr, $at:expr, $value:expr, $preset:expr, [] [$least:literal]) => {
        $document.time(&$at, $value, $least)?
    };
    (Bytes, $document:expr, $at:expr, $value:expr, $preset:expr, [] [$least:literal]) => {
        $document
            .within(&$at, $value.0, f64::from($least)..=2304.0, (concat!($least, " B"), "2304 B"))?
            .round() as u32
    };
    (f64, $document:expr, $at:expr, $value:expr, $preset:expr, [$low:literal, $high:literal] []) => {
        $document.within(
            &$at,
            $value,
            f64::from($low)..=f64::from($high),
            (stringify!($low), stringify!($high)),
        )?
    };
    ($whole:ident, $document:expr, $at:expr, $value:expr, $preset:expr, [$low:literal, $high:literal] []) => {
        $whole::try_from($document.count(&$at, $value, $low, $high)?).expect("the range fits the type")
    };
}

/// The table `name` of a file, whose keys are the parameters of `config`. `resolve_listed` checks all ranges; parameters that are
/// resolved by hand have the engine's default in what it returns.
macro_rules! table {
    (
        $(#[$doc:meta])*
        $name:ident of $config:ident in $key:literal;
        $( $(#[$about:meta])* $parameter:ident: $kind:tt [$($low:literal, $high:literal)?] [$($least:literal)?]; )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, serde::Deserialize, schemars::JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$about])*
                $(#[schemars(range(min = $low, max = $high))])?
                pub $parameter: $crate::parameters::written!($kind),
            )*
        }

        impl Default for $name {
            /// The engine's.
            fn default() -> $name {
                let engine = $config::default();
                $name { $($parameter: $crate::parameters::write!($kind, engine.$parameter),)* }
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
                        $crate::document::key![$key, stringify!($parameter)],
                        self.$parameter,
                        $config::default().$parameter,
                        [$($low, $high)?] [$($least)?]
                    ),)*
                })
            }
        }
    };
}

pub(crate) use {check, table, write, written};
