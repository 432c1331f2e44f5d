import { createUsageServer } from '../adapters/prometheus/usage-server.ts';
import type { UsageServers } from '../ports.ts';
import { Failure } from './failure.ts';

/** Prometheus servers, each flag a list of NAME=VALUE. */
export interface PrometheusFlags {
  readonly prometheus: readonly string[];
  readonly prometheusTokenFile: readonly string[];
  readonly prometheusCaFile: readonly string[];
}

/** The servers that flags name. Throws Failure for what cannot be meant. */
export function openUsageServers(flags: PrometheusFlags): UsageServers {
  const urls = namedValues('--prometheus', flags.prometheus, 'main=https://prometheus.monitoring:9090');
  const tokens = namedValues('--prometheus-token-file', flags.prometheusTokenFile, 'main=/var/run/token');
  const cas = namedValues('--prometheus-ca-file', flags.prometheusCaFile, 'main=/etc/ca.crt');
  for (const [flag, files] of [
    ['--prometheus-token-file', tokens],
    ['--prometheus-ca-file', cas],
  ] as const) {
    const stray = [...files.keys()].find((name) => !urls.has(name));
    if (stray !== undefined) {
      throw new Failure(`${flag} ${stray}=...: there is no server ${stray}: write --prometheus ${stray}=URL beside it`);
    }
  }
  return new Map(
    [...urls].map(([name, url]) => {
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
        throw new Failure(`--prometheus ${name}=${url}: is no URL: write http:// or https://, a host and a port`);
      }
      return [name, createUsageServer({ name, url, tokenFile: tokens.get(name), caFile: cas.get(name) })] as const;
    }),
  );
}

function namedValues(flag: string, texts: readonly string[], example: string): ReadonlyMap<string, string> {
  const pairs = texts.map((text) => {
    const [, name, value] = /^([A-Za-z0-9][\w.-]{0,62})=(.+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw new Failure(`${flag} ${text}: is not NAME=VALUE: write something like ${flag} ${example}`);
    }
    return [name, value] as const;
  });
  const found = new Map(pairs);
  if (found.size < pairs.length) {
    throw new Failure(`${flag} names a server twice: write each once`);
  }
  return found;
}
