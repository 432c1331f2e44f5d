/** What a piece of text means, for those who show it in colours. */
export type Tone = 'heading' | 'good' | 'bad' | 'notice' | 'quiet';

/** How text is shown: how wide it may be, and in which colours. */
export interface Look {
  /** Characters of a line of a table; `undefined`: as long as it is. */
  readonly columns: number | undefined;
  readonly paint: (tone: Tone, text: string) => string;
}

/** As files and other programs get it: whole and without colours. */
export const PLAIN: Look = { columns: undefined, paint: (_tone, text) => text };
