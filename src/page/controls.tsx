import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useNames } from './names.tsx';

/** Rows of a long list, the first of them until more are asked for. */
export function useMore<Row>(rows: readonly Row[], most: number): readonly [readonly Row[], ComponentChildren] {
  const [limit, setLimit] = useState(most);
  const hidden = rows.length - limit;
  const button: JSX.Element | null =
    hidden > 0 ? (
      <button type="button" class="more" onClick={() => setLimit(limit + Math.max(most, 200))}>
        Show more <span class="quiet">({hidden.toLocaleString('en')} hidden)</span>
      </button>
    ) : null;
  return [rows.slice(0, limit), button];
}

/** A table that scrolls sideways where it does not fit, by keys too. */
export function TableBox({ label, children }: { label: string; children: ComponentChildren }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys (WCAG 2.1.1)
    <section class="table-box" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

interface TableProps {
  readonly label: string;
  /** Headings of the columns, some with their class. */
  readonly heads: readonly (string | JSX.Element | readonly [heading: string, className: string])[];
  readonly children: ComponentChildren;
}

/** A table with one row of headings, in its box; `children` are the rows, which become cards on a narrow screen. */
export function Table({ label, heads, children }: TableProps): JSX.Element {
  const headings = heads.map((head) => (Array.isArray(head) ? head : [head, undefined]));
  return (
    <TableBox label={label}>
      <table class="stack">
        <thead>
          <tr>
            {headings.map(([heading, className], place) => (
              <th key={place} scope="col" class={className}>
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </TableBox>
  );
}

/** Text that opens something. */
export function OpenButton({ onOpen, children }: { onOpen: () => void; children: ComponentChildren }): JSX.Element {
  return (
    <button type="button" class="link" onClick={onOpen}>
      {children}
    </button>
  );
}

/** The short name of a node, which opens it; its full name is the tooltip and what assistive technology reads. */
export function NodeButton({ name, onOpen }: { name: string; onOpen: (node: string) => void }): JSX.Element {
  return (
    <button type="button" class="link" title={name} aria-label={name} onClick={() => onOpen(name)}>
      {useNames()(name)}
    </button>
  );
}

interface SegmentedProps<Value extends string> {
  readonly legend: string;
  readonly options: readonly (readonly [Value, string])[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A choice between a few: radio buttons side by side, by arrow keys as browsers have it. */
export function Segmented<Value extends string>({
  legend,
  options,
  value,
  onChange,
}: SegmentedProps<Value>): JSX.Element {
  return (
    <fieldset class="segmented">
      <legend>{legend}</legend>
      {options.map(([option, label]) => (
        <label key={option}>
          <input type="radio" name={legend} checked={option === value} onChange={() => onChange(option)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}
