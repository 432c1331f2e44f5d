/** Units are types: adding bytes to millicores does not compile. All are plain numbers at run time. */
declare const unit: unique symbol;

type Unit<Name extends string> = number & { readonly [unit]: Name };

/** CPU in thousandths of a core; usage may be fractional, requests and allocatable are whole. */
export type MilliCpu = Unit<'millicpu'>;
/** Memory or storage in bytes. */
export type Bytes = Unit<'bytes'>;
/** A length of time in seconds. */
export type Seconds = Unit<'seconds'>;
/** A wall-clock instant in seconds since 1970-01-01T00:00:00Z. */
export type EpochSeconds = Unit<'epoch-seconds'>;

/** Brands a number of thousandths of a core. */
export function milliCpu(value: number): MilliCpu {
  return value as MilliCpu;
}

/** Brands a number of bytes. */
export function bytes(value: number): Bytes {
  return value as Bytes;
}

/** Brands a number of seconds. */
export function seconds(value: number): Seconds {
  return value as Seconds;
}

/** Brands seconds since the epoch. */
export function epochSeconds(value: number): EpochSeconds {
  return value as EpochSeconds;
}

/** Seconds from `earlier` to `later`; negative when `later` is before `earlier`. */
export function elapsed(earlier: EpochSeconds, later: EpochSeconds): Seconds {
  return (later - earlier) as Seconds;
}

/** The instant `span` after `instant`. */
export function after(instant: EpochSeconds, span: Seconds): EpochSeconds {
  return (instant + span) as EpochSeconds;
}
