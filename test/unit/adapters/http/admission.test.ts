import { describe, expect, it } from 'vitest';
import { admissionEndpoint, type PodMutation } from '../../../../src/adapters/http/admission.ts';

const PATCH = [{ op: 'add', path: '/spec/affinity', value: {} }];
const request = { uid: 'u', operation: 'CREATE', namespace: 'shop', object: { kind: 'Pod', metadata: { name: 'p' } } };
const review = (changes: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { ...request, ...changes },
});

/** The answer to a body, and what was reported. */
async function ask(body: unknown, mutate: PodMutation = () => PATCH, times = 1) {
  const reported: string[] = [];
  const endpoint = admissionEndpoint(mutate, (problem) => reported.push(problem));
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  let answer = await endpoint(Buffer.from(text), new AbortController().signal);
  for (let time = 1; time < times; time += 1) {
    answer = await endpoint(Buffer.from(text), new AbortController().signal);
  }
  return { code: answer.code, reported, ...(JSON.parse(String(answer.body)) as { readonly response: object }) };
}

describe('admissionEndpoint', () => {
  it('answers with the patch for the pod in its namespace', async () => {
    const seen: unknown[] = [];
    const answer = await ask(review(), (pod, namespace) => {
      seen.push([pod, namespace]);
      return PATCH;
    });
    expect(seen).toEqual([[request.object, 'shop']]);
    expect(answer).toEqual({
      code: 200,
      reported: [],
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: {
        uid: 'u',
        allowed: true,
        patchType: 'JSONPatch',
        patch: Buffer.from(JSON.stringify(PATCH)).toString('base64'),
      },
    });
  });

  it('allows a pod that needs no patch', async () => {
    expect((await ask(review(), () => [])).response).toEqual({ uid: 'u', allowed: true });
  });

  it.each([
    ['no JSON', '{', '', 'a request is no AdmissionReview'],
    ['a list', [], '', 'a request is no AdmissionReview'],
    ['another kind', { ...review(), kind: 'Pod' }, '', 'a request is no AdmissionReview'],
    ['no uid', review({ uid: 7 }), '', 'a request is no AdmissionReview'],
    ['an old version', { ...review(), apiVersion: 'v1beta1' }, 'u', 'an AdmissionReview is not of admission.k8s.io/v1'],
    ['an update', review({ operation: 'UPDATE' }), 'u', 'an AdmissionReview is not about a pod that is created'],
    ['no pod', review({ object: null }), 'u', 'an AdmissionReview is not about a pod that is created'],
    [
      'another object',
      review({ object: { kind: 'Node' } }),
      'u',
      'an AdmissionReview is not about a pod that is created',
    ],
  ])('leaves alone what it cannot read, and reports it once: %s', async (_what, body, uid, problem) => {
    const answer = await ask(body, () => PATCH, 3);
    expect(answer).toMatchObject({ code: 200, reported: [problem], response: { uid, allowed: true } });
    expect(answer.response).not.toHaveProperty('patch');
  });

  it('leaves a pod alone that cannot be patched', async () => {
    const answer = await ask(review(), () => {
      throw new Error('bug');
    });
    expect(answer).toMatchObject({
      code: 200,
      reported: ['a pod could not be patched: bug'],
      response: { uid: 'u', allowed: true },
    });
  });
});
