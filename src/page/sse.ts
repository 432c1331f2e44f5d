/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** The events that `text` completes, and what is left of it. Events end with an empty line, as the server writes them. */
export function splitEvents(text: string): { readonly events: readonly StreamEvent[]; readonly rest: string } {
  const frames = text.split('\n\n');
  const rest = frames.pop() ?? '';
  return { events: frames.map(parseEvent), rest };
}

function parseEvent(frame: string): StreamEvent {
  const fields = new Map(
    frame.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  return { event: fields.get('event') ?? '', data: fields.get('data') ?? '' };
}
