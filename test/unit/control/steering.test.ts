import { describe, expect, it } from 'vitest';
import { chooseSteering, SteeringUnavailableError, startFields } from '../../../src/control/steering.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import type { Gates, Steering } from '../../../src/ports.ts';

const NEVER = new AbortController().signal;

function ports(offered: { readonly AdmissionPolicy?: boolean; readonly Webhook?: boolean; readonly Gate?: boolean }) {
  const offer = (mode: 'AdmissionPolicy' | 'Webhook') => ({
    available: offered[mode] ?? false,
    why: offered[mode] === true ? `${mode} is there` : `${mode} is missing`,
  });
  const unused = async (): Promise<never> => {
    throw new Error('not for this test');
  };
  const steering: Steering = {
    offers: async () => ({ AdmissionPolicy: offer('AdmissionPolicy'), Webhook: offer('Webhook') }),
    place: unused,
    remove: unused,
    discard: unused,
    list: unused,
  };
  const gates: Gates = { available: async () => offered.Gate ?? false, list: unused, open: unused, release: unused };
  const clock = { now: () => epochSeconds(0), monotonic: () => seconds(0), sleep: unused };
  return { steering, gates, clock };
}

describe('chooseSteering', () => {
  it.each([
    [{ AdmissionPolicy: true, Webhook: true, Gate: true }, 'AdmissionPolicy', 'AdmissionPolicy is there'],
    [{ Webhook: true, Gate: true }, 'Webhook', 'Webhook is there'],
  ])('takes with Auto the best of %o', async (offered, mode, message) => {
    expect(await chooseSteering('Auto', ports(offered), NEVER)).toEqual({ mode, available: true, message });
  });

  it('takes none with Auto where nothing is offered, and says what to install', async () => {
    const chosen = await chooseSteering('Auto', ports({ Gate: true }), NEVER);
    expect(chosen).toMatchObject({ mode: 'None', available: true });
    expect(chosen.message).toMatch(
      /AdmissionPolicy is missing; Webhook is missing: mode DryRun needs no steering; .* install .*overlays\/default.*webhook/,
    );
  });

  it.each(['AdmissionPolicy', 'Webhook', 'Gate'] as const)('takes %s where a policy asks for it', async (mode) => {
    expect(await chooseSteering(mode, ports({ [mode]: true }), NEVER)).toMatchObject({ mode, available: true });
    const missing = await chooseSteering(mode, ports({}), NEVER);
    expect(missing).toMatchObject({
      mode,
      available: false,
      message: expect.stringContaining('install deploy/overlays/'),
    });
  });

  it('asks nobody with None', async () => {
    expect(await chooseSteering('None', ports({}), NEVER)).toMatchObject({ mode: 'None', available: true });
  });
});

describe('startFields', () => {
  it('are the time and the mode', async () => {
    const started = await startFields('Auto', ports({ Webhook: true }), NEVER);
    expect(started).toEqual({ startedAt: '1970-01-01T00:00:00Z', steering: 'Webhook' });
  });

  it('are refused to a policy that insists on what is not offered', async () => {
    const refused = startFields('Webhook', ports({ AdmissionPolicy: true }), NEVER);
    await expect(refused).rejects.toThrow(SteeringUnavailableError);
    await expect(refused).rejects.toThrow(
      'steering.mode is Webhook, but Webhook is missing: install deploy/overlays/webhook (Kubernetes 1.30 or later), or write mode: Auto',
    );
  });
});
