//! Tables of parameters: each parameter is written once, with its name in scenario files, its range, its
//! default and its meaning.

use multihop_core::Span;

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
    (BitRate) => {
        f64
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

/// A value of the engine that files write as a `W`.
pub trait Written<W>: Sized {
    /// What a value of a file means.
    fn read(written: W) -> Self;
    /// The value of a file that means this; none if only leaving the key out does.
    fn written(&self) -> Option<W>;
}

impl Written<u32> for Option<u32> {
    fn read(written: u32) -> Option<u32> {
        Some(written)
    }

    fn written(&self) -> Option<u32> {
        *self
    }
}

impl Written<f64> for Option<f64> {
    fn read(written: f64) -> Option<f64> {
        Some(written)
    }

    fn written(&self) -> Option<f64> {
        *self
    }
}

/// No time is none.
impl Written<Span> for Option<Span> {
    fn read(written: Span) -> Option<Span> {
        Some(written).filter(|span| *span > Span::ZERO)
    }

    fn written(&self) -> Option<Span> {
        Some(self.unwrap_or(Span::ZERO))
    }
}

/// A table of parameters: the struct that the engine reads, with its defaults, and a macro by which the crate
/// of scenarios reads it from a file, with the same names, descriptions, ranges and defaults.
///
/// A row is `name: kind range = default;`. Kinds are whole numbers (`u32 [1, 1000]`), `f64 [0, 1]` or `f64
/// [above 0, 1]`, `bool`, times (`Span from "1 ms" to "10 s"`), sizes (`Bytes from "1 B" to "2304 B"`), enums
/// that have names in files (`[Enum]`), what there may be or not (`(Option<u32> as Bytes)`), and others,
/// whose value in a file and its default stand in brackets (`(engine as written = default)`): those are
/// resolved by hand. Bounds of quantities are written as in a file; a time without an upper bound may last as
/// long as the clock. Parameters that no file sets stand in braces after the rows. Serialized, such a table has the parameters that differ from their default: the scenario
/// hash is made of it, so that a parameter that is added changes no hash of a scenario without it.
///
/// A table `by` an enum of presets has defaults of each, from its function `of`: `name: kind range = default,
/// Preset: other;`, where presets that are not named have the first. There are two more kinds there:
/// `BitRate`, of which the engine has bytes per second, infinite for none, and `(Engine as kind)`, which the
/// engine has otherwise than a file ([`Written`]). What has no default at all is an argument of `of`
/// (`Config(name: type)`), and what no file sets stands in braces after the rows.
#[macro_export]
macro_rules! parameters {
    (
        ($d:tt)
        $(#[$doc:meta])*
        $config:ident, listed by $list:ident:
        $(
            $(#[$about:meta])*
            $name:ident: $kind:tt $([$($range:tt)*])? $(from $least:literal $(to $most:literal)?)? = $default:expr;
        )*
        $({
            $( $(#[$note:meta])* $beside:ident: $type:ty = $value:expr; )*
        })?
    ) => {
        $(#[$doc])*
        pub struct $config {
            $( $(#[$about])* pub $name: $crate::parameter_kind!($kind), )*
            $($( $(#[$note])* pub $beside: $type, )*)?
        }

        impl $config {
            /// All defaults.
            pub const DEFAULT: $config = $config { $($name: $default,)* $($($beside: $value,)*)? };
        }

        impl Default for $config {
            fn default() -> $config {
                $config::DEFAULT
            }
        }

        impl $crate::serde::Serialize for $config {
            fn serialize<S: $crate::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::serde::ser::SerializeStruct as _;
                let fields = 0 $(+ usize::from(self.$name != $config::DEFAULT.$name))*
                    $($(+ usize::from(self.$beside != $config::DEFAULT.$beside))*)?;
                let mut table = serializer.serialize_struct(stringify!($config), fields)?;
                $(
                    if self.$name != $config::DEFAULT.$name {
                        table.serialize_field(stringify!($name), &self.$name)?;
                    }
                )*
                $($(
                    if self.$beside != $config::DEFAULT.$beside {
                        table.serialize_field(stringify!($beside), &self.$beside)?;
                    }
                )*)?
                table.end()
            }
        }

        $crate::parameter_rows! {
            ($d) $config, listed by $list:
            $( $(#[$about])* $name: $kind [$($($range)*)? $($least $(, $most)?)?]; )*
        }
    };
    (
        ($d:tt)
        $(#[$doc:meta])*
        $config:ident $(($( $(#[$meaning:meta])* $given:ident: $of:ty ),+))? by $presets:ident, listed by $list:ident:
        $(
            $(#[$about:meta])*
            $name:ident: $kind:tt $([$($range:tt)*])? $(from $least:literal to $most:literal)?
                = $default:expr $(, $preset:ident: $value:expr)*;
        )*
        $({
            $(
                $(#[$note:meta])*
                $beside:ident: $type:ty = $first:expr $(, $unlike:ident: $other:expr)*;
            )*
        })?
    ) => {
        $(#[$doc])*
        pub struct $config {
            $($( $(#[$meaning])* pub $given: $of, )+)?
            $( $(#[$about])* pub $name: $crate::parameter_kind!($kind), )*
            $($( $(#[$note])* pub $beside: $type, )*)?
        }

        impl $config {
            /// All defaults of a preset.
            pub fn of(preset: $presets $($(, $given: $of)+)?) -> $config {
                $config {
                    $($( $given, )+)?
                    $( $name: $crate::of_preset!(preset, $presets, $default $(, $preset: $value)*), )*
                    $($( $beside: $crate::of_preset!(preset, $presets, $first $(, $unlike: $other)*), )*)?
                }
            }
        }

        $crate::parameter_rows! {
            ($d) $config, listed by $list:
            $( $(#[$about])* $name: $kind [$($($range)*)? $($least, $most)?]; )*
        }
    };
}

/// What every table has besides its struct.
#[doc(hidden)]
#[macro_export]
macro_rules! parameter_rows {
    (
        ($d:tt) $config:ident, listed by $list:ident:
        $( $(#[$about:meta])* $name:ident: $kind:tt [$($range:tt)*]; )*
    ) => {
        /// Hands the rows of the table to a macro, after what is given.
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $list {
            ($d callback:ident! $d ($d before:tt)*) => {
                $d callback! {
                    $d ($d before)*
                    $( $(#[$about])* $name: $kind [$($range)*]; )*
                }
            };
        }
    };
}

/// The default of a preset: its own, or the first.
#[doc(hidden)]
#[macro_export]
macro_rules! of_preset {
    ($of:ident, $presets:ident, $first:expr) => {
        $first
    };
    ($of:ident, $presets:ident, $first:expr $(, $preset:ident: $value:expr)+) => {
        match $of {
            $($presets::$preset => $value,)+
            _ => $first,
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Written as _;
    use multihop_core::Span;

    parameters! {
        ($)
        /// Of a protocol.
        Protocol, listed by protocol_parameters:
        /// Size of its requests.
        rreq_size: u32 [1, 9] = 4;
        /// How long routes live.
        lifetime: Span from "1 s" = Span::from_ms(1_000);
    }

    /// A parameter that is added changes no hash of a scenario without it.
    #[test]
    fn parameters_that_differ_from_their_defaults_are_serialized() {
        let json = |protocol: Protocol| serde_json::to_string(&protocol).unwrap();
        assert_eq!(json(Protocol::DEFAULT), "{}");
        assert_eq!(json(Protocol { rreq_size: 5, ..Protocol::DEFAULT }), "{\"rreq_size\":5}");
        assert_eq!(json(Protocol { lifetime: Span::ZERO, ..Protocol::DEFAULT }), "{\"lifetime\":0}");
    }

    #[derive(Clone, Copy)]
    pub enum Of {
        Paper,
        Program,
        Kernel,
    }

    parameters! {
        ($)
        /// Of an end.
        #[derive(Debug, PartialEq)]
        Ends(
            /// Its size.
            size: u32
        ) by Of, listed by ends_parameters:
        /// What it waits.
        wait: (Option<Span> as Span) from "0 s" to "1 s" = None, Program: Some(Span::from_ms(2));
        /// How fast it is.
        rate: BitRate from "1 b/s" to "1 Gb/s" = 8.0;
        {
            /// Twice the size, or not.
            room: u32 = size, Program: 2 * size, Kernel: 0;
        }
    }

    #[test]
    fn a_preset_has_its_own_defaults_and_else_the_first() {
        let of = |preset| {
            let Ends { size, wait, rate, room } = Ends::of(preset, 5);
            (size, wait.map(Span::ns), rate, room)
        };
        assert_eq!(of(Of::Paper), (5, None, 8.0, 5));
        assert_eq!(of(Of::Program), (5, Some(2_000_000), 8.0, 10));
        assert_eq!(of(Of::Kernel), (5, None, 8.0, 0));
    }

    #[test]
    fn what_files_write_otherwise_is_read_back() {
        assert_eq!(
            (Option::<u32>::read(3), None::<u32>.written(), Some(2.5).written()),
            (Some(3), None, Some(2.5))
        );
        assert_eq!((Option::<f64>::read(0.5), Some(3).written()), (Some(0.5), Some(3)));
        let (none, second) = (Span::ZERO, Span::from_ms(1_000));
        assert_eq!([none, second].map(Option::<Span>::read), [None, Some(second)]);
        assert_eq!([None, Some(second)].map(|span: Option<Span>| span.written()), [Some(none), Some(second)]);
    }
}
