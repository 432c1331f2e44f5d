/** Formats of `evenkeel import`. */
export const IMPORT_OUTPUTS = ['yaml', 'json'] as const;
/** A format of `evenkeel import`. */
export type ImportOutput = (typeof IMPORT_OUTPUTS)[number];
