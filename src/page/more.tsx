import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';

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
