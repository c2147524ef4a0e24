/** What the paper's method asks of a config beyond ranges: whose probabilities are recorded, and who can read along. */
import type { TrainingConfig } from './config.ts';
import type { Add } from './config-checks.ts';

/** Whether rollouts are drawn from the plain distribution of the policy. */
export function plainSampling(sampling: TrainingConfig['rl']['sampling']): boolean {
  return offPlain(sampling).length === 0;
}

const PLAIN = { temperature: 1, topP: 1, topK: -1, presencePenalty: 0 } as const;
type SamplingKey = keyof typeof PLAIN;

function offPlain(sampling: TrainingConfig['rl']['sampling']): SamplingKey[] {
  return (Object.keys(PLAIN) as SamplingKey[]).filter((name) =>
    name === 'topK' ? sampling.topK > 0 : sampling[name] !== PLAIN[name],
  );
}

/** Keys that make log b something else than the log-probability of the policy (eq. 6), and the clipping of eq. 7. */
export function checkProbabilities(config: TrainingConfig, written: Record<string, unknown>, add: Add): void {
  const { sampling, clip, maxTokens, rounds } = config.rl;
  if (rounds === 0) return;
  for (const name of offPlain(sampling))
    add(
      'warning',
      'rollout-sampling',
      `rl.sampling.${name}`,
      `rollouts with ${name} ${sampling[name]} are not samples of the policy that is trained: sample from the plain distribution (temperature 1, topP 1, topK -1, no penalty)`,
      {
        fix: { title: `Set ${name} to ${PLAIN[name]}`, safe: true, set: ['rl', 'sampling', name], value: PLAIN[name] },
      },
    );
  if (clip.dual <= 1 + clip.high)
    add(
      'hint',
      'dual-clip-low',
      'rl.clip.dual',
      `clip.dual (${clip.dual}) lies inside the clipping range (1 + high = ${Number((1 + clip.high).toPrecision(12))}); the paper takes 3`,
      {
        rests: ['rl.clip.high'],
        fix:
          clip.high < 2
            ? { title: 'Set clip.dual to 3', safe: false, set: ['rl', 'clip', 'dual'], value: 3 }
            : undefined,
      },
    );
  const { responseTokens } = config.harness.limits;
  const wish = written as { rl?: { maxTokens?: unknown }; harness?: { limits?: { responseTokens?: unknown } } };
  // The paper's own numbers are not held against those who wrote neither.
  const chosen = wish.rl?.maxTokens !== undefined || wish.harness?.limits?.responseTokens !== undefined;
  if (chosen && responseTokens >= maxTokens)
    add(
      'warning',
      'sample-limit-low',
      'rl.maxTokens',
      `a response may have ${responseTokens} tokens (harness.limits.responseTokens), but a sample, prompt and response together, only ${maxTokens}: long responses are never trained on`,
      { rests: ['harness.limits.responseTokens'] },
    );
  checkLogProbabilities(config, add);
}

function checkLogProbabilities(config: TrainingConfig, add: Add): void {
  const { upstream } = config.serving;
  const advice = {
    vllm: 'vLLM gives raw log-probs unless it is started with --logprobs-mode processed_logprobs',
    llamacpp: 'llama.cpp gives the log-probs from before its samplers',
    openai: 'what log-probs this server gives is not known',
  } as const;
  if (upstream !== 'vllm' && upstream !== 'llamacpp' && upstream !== 'openai') return;
  const plain = plainSampling(config.rl.sampling);
  add(
    plain ? 'hint' : 'warning',
    'raw-log-probs',
    'serving.upstream',
    `${advice[upstream]}; eq. 6 needs those of the distribution the tokens were drawn from${plain ? '' : ', and these rollouts are not drawn from the plain one'}. "agentic-robo-rl doctor --upstream" tells which they are`,
    { rests: ['rl.sampling'] },
  );
}

const SECTIONS = ['serving', 'teacher', 'trainer'] as const;

/** URLs others can read along on, a proxy others can reach, engines on devices they do not have. */
export function checkServers(config: TrainingConfig, add: Add): void {
  for (const section of SECTIONS) {
    const { url } = config[section];
    if (url === null || !/^\s*http:/i.test(url) || isLoopback(hostOf(url))) continue;
    add(
      'warning',
      'url-without-tls',
      `${section}.url`,
      `prompts, responses and the key go to ${hostOf(url)} unencrypted; use https, or a tunnel that ends at 127.0.0.1`,
      { fix: { title: 'Use https', safe: false, set: [section, 'url'], value: url.replace(/^\s*http:/i, 'https:') } },
    );
  }
  const { listen } = config.serving.proxy;
  if (!isLoopback(listen))
    add(
      'warning',
      'proxy-not-loopback',
      'serving.proxy.listen',
      `the recording proxy will be reachable from other machines at ${listen}; every request still needs its episode's key`,
      {
        fix: {
          title: 'Listen on 127.0.0.1 only',
          safe: false,
          set: ['serving', 'proxy', 'listen'],
          value: '127.0.0.1',
        },
      },
    );
  const { engine, device } = config.trainer;
  const wrong =
    engine === 'tfjs' && device === 'webgpu'
      ? 'the tfjs engine runs on cpu or cuda, not on webgpu'
      : engine === 'tinker' && device !== 'auto'
        ? `the tinker engine trains on its server, whose devices "device: ${device}" cannot choose; write "device: auto"`
        : undefined;
  if (wrong)
    add('error', 'engine-device', 'trainer.device', wrong, {
      rests: ['trainer.engine'],
      fix: { title: 'Set device to auto', safe: true, set: ['trainer', 'device'], value: 'auto' },
    });
}

function hostOf(url: string): string {
  try {
    return new URL(url).hostname;
  } catch {
    return url;
  }
}

/** This machine only: 127.0.0.0/8, also written as IPv6 (`::ffff:127.0.0.1`), and ::1 in any of its forms. */
function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const plain = bare.includes(':') ? hostOf(`http://[${bare}]`) : bare.toLowerCase();
  return (
    plain === 'localhost' ||
    plain.endsWith('.localhost') ||
    plain === '[::1]' ||
    /^127(\.\d+){3}$/.test(plain) ||
    /^\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\]$/.test(plain)
  );
}
