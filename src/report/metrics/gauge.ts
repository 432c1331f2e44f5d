import { Gauge, type Registry } from 'prom-client';

/** A value with its labels. */
export type Figure = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Registers a gauge that shows `figures` as they are whenever metrics are read, and nothing else. */
export function gaugeOf(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: readonly string[],
  figures: () => readonly Figure[],
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [labels, value] of figures()) {
        this.set(labels, value);
      }
    },
  });
}
