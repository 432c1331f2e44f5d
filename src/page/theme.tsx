import type { JSX } from 'preact';
import { useState } from 'preact/hooks';

type Theme = 'light' | 'dark';

const KEY = 'evenkeel-theme';

/** Shows the page in the theme that was chosen last, or else in that of the system. */
export function restoreTheme(): void {
  const stored = localStorage.getItem(KEY);
  if (stored === 'light' || stored === 'dark') {
    document.documentElement.dataset['theme'] = stored;
  }
}

function themeInForce(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') {
    return theme;
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Switches between light and dark, and remembers it. */
export function ThemeToggle(): JSX.Element {
  const [theme, setTheme] = useState(themeInForce);
  const other: Theme = theme === 'dark' ? 'light' : 'dark';
  const toggle = (): void => {
    document.documentElement.dataset['theme'] = other;
    localStorage.setItem(KEY, other);
    setTheme(other);
  };
  return (
    <button type="button" class="icon-button" onClick={toggle} aria-label={`Switch to the ${other} theme`}>
      <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
        {theme === 'dark' ? (
          <path d="M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.5 1.5M14.2 14.2l1.5 1.5M4.3 15.7l1.5-1.5M14.2 5.8l1.5-1.5M13.5 10a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z" />
        ) : (
          <path d="M16.5 12.3A7 7 0 0 1 7.7 3.5a7 7 0 1 0 8.8 8.8z" />
        )}
      </svg>
    </button>
  );
}
