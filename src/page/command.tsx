import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

const LABELS = { idle: 'Copy', copied: 'Copied', selected: 'Selected: press Ctrl+C' } as const;

/** A command for a terminal, with a button that copies it; where the browser denies that, the button selects it. */
export function CopyableCommand({ command }: { readonly command: string }): JSX.Element {
  const code = useRef<HTMLElement>(null);
  const [state, setState] = useState<keyof typeof LABELS>('idle');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(command);
      setState('copied');
    } catch {
      if (code.current !== null) {
        getSelection()?.selectAllChildren(code.current);
      }
      setState('selected');
    }
  };
  return (
    <div class="command">
      <code ref={code}>{command}</code>
      <button type="button" class="button" aria-live="polite" onClick={() => void copy()}>
        {LABELS[state]}
      </button>
    </div>
  );
}
