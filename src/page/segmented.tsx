import type { JSX } from 'preact';

/** What a choice between a few looks like. */
export interface SegmentedProps<Value extends string> {
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
