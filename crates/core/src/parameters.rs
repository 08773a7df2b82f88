//! Tables of parameters: each parameter is written once, with its name in scenario files, its range, its
//! default and its meaning.

/// The engine's type of a parameter of this kind.
#[doc(hidden)]
#[macro_export]
macro_rules! parameter_kind {
    (Bytes) => {
        u32
    };
    ([$choice:ty]) => {
        $choice
    };
    (($engine:ty as $written:ident)) => {
        $engine
    };
    (($engine:ty as $written:ty = $default:expr)) => {
        $engine
    };
    ($kind:ident) => {
        $kind
    };
}

/// The first name that a parameter had.
#[doc(hidden)]
#[macro_export]
macro_rules! first_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $old:ident) => {
        stringify!($old)
    };
}

/// A table of parameters: the struct that the engine reads, with its defaults, and a macro by which the crate
/// of scenarios reads it from a file, with the same names, descriptions, ranges and defaults.
///
/// A row is `name: kind range = default;`. Kinds are whole numbers (`u32 [1, 1000]`), `f64 [0, 1]` or `f64
/// [above 0, 1]`, `bool`, times (`Span from "1 ms" to "10 s"`), sizes (`Bytes from "1 B" to "2304 B"`), enums
/// that have names in files (`[Enum]`), what there may be or not (`(Option<u32> as Bytes)`), and others,
/// whose value in a file and its default stand in brackets (`(engine as written = default)`): those are
/// resolved by hand. Bounds of quantities are written as in a file; a time without an upper bound may last as
/// long as the clock. A parameter that had another name before is `name (once old_name)`.
#[macro_export]
macro_rules! parameters {
    (
        ($d:tt)
        $(#[$doc:meta])*
        $config:ident, listed by $list:ident:
        $(
            $(#[$about:meta])*
            $name:ident $((once $old:ident))?: $kind:tt $([$($range:tt)*])? $(from $least:literal $(to $most:literal)?)?
                = $default:expr;
        )*
    ) => {
        $(#[$doc])*
        pub struct $config {
            $( $(#[$about])* pub $name: $crate::parameter_kind!($kind), )*
        }

        impl $config {
            /// All defaults.
            pub const DEFAULT: $config = $config { $($name: $default,)* };
            /// Parameters that had another name before: that, and today's.
            pub const RENAMED: &'static [(&'static str, &'static str)] =
                &[$($((stringify!($old), stringify!($name)),)?)*];
        }

        impl Default for $config {
            fn default() -> $config {
                $config::DEFAULT
            }
        }

        /// As `derive` would, with the first name of each parameter: hashes of scenarios are made of it, and
        /// a new name leaves them as they are.
        impl std::fmt::Debug for $config {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($config))
                    $(.field($crate::first_name!($name $($old)?), &self.$name))*
                    .finish()
            }
        }

        /// Hands the rows of the table to a macro, after what is given.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d callback:ident! $d ($d before:tt)*) => {
                $d callback! {
                    $d ($d before)*
                    $( $(#[$about])* $name: $kind [$($($range)*)?] [$($least $(, $most)?)?]; )*
                }
            };
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::Span;

    parameters! {
        ($)
        /// Of a protocol.
        Protocol, listed by protocol_parameters:
        /// Size of its requests.
        rreq_size (once request_size): u32 [1, 9] = 4;
        /// How long routes live.
        lifetime: Span from "1 s" = Span::from_ms(1_000);
    }

    #[test]
    fn a_parameter_with_a_new_name_keeps_the_identity_of_scenarios() {
        let shown = format!("{:?}", Protocol { rreq_size: 5, ..Protocol::DEFAULT });
        assert_eq!(shown, format!("Protocol {{ request_size: 5, lifetime: {:?} }}", Span::from_ms(1_000)));
        assert_eq!(Protocol::RENAMED, [("request_size", "rreq_size")]);
    }
}
