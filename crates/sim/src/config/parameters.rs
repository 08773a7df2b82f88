//! Tables of parameters: each parameter is written once, with what scenario files call it, its range and its default.

/// The engine's type of a parameter of this kind.
macro_rules! kind {
    (Bytes) => {
        u32
    };
    (($engine:ty as $written:ty = $default:expr)) => {
        $engine
    };
    ($kind:ident) => {
        $kind
    };
}
pub(super) use kind;

/// A table of parameters: the struct that the engine reads, with its defaults, and a macro by which the crate of scenarios reads it
/// from a file, with the same names, descriptions, ranges and defaults.
///
/// A row is `name: kind range = default;`. Kinds are whole numbers (`u32 [1, 1000]`), `f64 [0, 1]`, `bool`, times (`Span from 0.001`,
/// in seconds), sizes (`Bytes from 1`), and others, whose value in a file and its default stand in brackets
/// (`(engine as written = default)`): those are resolved by hand.
macro_rules! parameters {
    (
        ($d:tt)
        $(#[$doc:meta])*
        $config:ident, listed by $list:ident:
        $(
            $(#[$about:meta])*
            $name:ident: $kind:tt $([$low:literal, $high:literal])? $(from $least:literal)? = $default:expr;
        )*
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $config {
            $( $(#[$about])* pub $name: kind!($kind), )*
        }

        impl Default for $config {
            fn default() -> $config {
                $config { $($name: $default,)* }
            }
        }

        /// Hands the rows of the table to a macro, after what is given.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d callback:ident! $d ($d before:tt)*) => {
                $d callback! {
                    $d ($d before)*
                    $( $(#[$about])* $name: $kind [$($low, $high)?] [$($least)?]; )*
                }
            };
        }
    };
}
pub(super) use parameters;
