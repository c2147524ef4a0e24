/** Finds secrets that were written into a config, where they would end in version control and in every run. */

/** Tokens of well-known makers, and passwords in URLs. Each names what it is. */
const TOKENS: [RegExp, string][] = [
  [/\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}/g, 'an API key'],
  [/\b(?:gsk_|xai-|tml-)[A-Za-z0-9_-]{20,}/g, 'an API key'],
  [/\br8_[A-Za-z0-9]{20,}/g, 'a Replicate token'],
  [/\bhf_[A-Za-z0-9]{20,}/g, 'a Hugging Face token'],
  [/\bgh[pousr]_[A-Za-z0-9]{20,}/g, 'a GitHub token'],
  [/\bgithub_pat_[A-Za-z0-9_]{20,}/g, 'a GitHub token'],
  [/\bglpat-[A-Za-z0-9_-]{16,}/g, 'a GitLab token'],
  [/\bAKIA[0-9A-Z]{16}\b/g, 'an AWS access key'],
  [/\bAIza[0-9A-Za-z_-]{35}/g, 'a Google API key'],
  [/\bnvapi-[A-Za-z0-9_-]{20,}/g, 'an NVIDIA API key'],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/g, 'a Slack token'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g, 'a signed token'],
  [/-----BEGIN (?:[A-Z]{2,12} )?PRIVATE KEY-----/g, 'a private key'],
  [
    /\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:(?:bearer|basic|token)\s{1,4})?(?=[^\s"',}]{0,200}\d)([^\s"',}]{12,4096})/gi,
    'the key of a header',
  ],
  // What looks drawn by chance: `EXAMPLE_TOKEN=whatever-goes-here` in a comment is no secret.
  [
    /\b(?:[A-Z0-9]{1,40}_){1,8}(?:KEY|TOKEN|SECRET|PASSWORD)=["']?(?=[^\s"']{0,200}\d)(?=[^\s"']{0,200}[A-Za-z])([^\s"']{12,4096})/g,
    "an environment variable's secret",
  ],
  [/\bhttps?:\/\/[^\s/:@"']{1,64}:([^\s/@"']{3,128})@/g, 'a password in a URL'],
];

/** A URL with a query, and what a parameter of one is called whose value opens something. */
const QUERY = /\bhttps?:\/\/[^\s"'?]{1,512}\?([^\s"'#]{1,2048})/g;
const KEY_PARAMETER =
  /(?<=^|[&;])(?:[\w.-]*[_-])?(?:api[_-]?key|access[_-]?key|subscription[_-]?key|auth|token|secret|password|passwd|pwd)=([^&;,}\]]{8,})/gi;
/** Names that stand before other things, too: only what looks drawn by chance counts. */
const PERHAPS_KEY = /(?<=^|[&;])(?:key|code|sig|signature)=(?=[^&;,}\]]*\d)([^&;,}\]]{16,})/gi;

export interface Secret {
  start: number;
  end: number;
  kind: string;
}

/** At most ten; comments count, too. */
export function secretsIn(text: string): Secret[] {
  const found: Secret[] = [];
  const add = (start: number, value: string, kind: string) => {
    const end = start + value.length;
    // A well-known token in a URL is one secret.
    if (!isPlaceholder(value) && !found.some((other) => other.start < end && start < other.end))
      found.push({ start, end, kind });
    return found.length < 10;
  };
  for (const [pattern, kind] of TOKENS)
    for (const [whole, part, { length }, index] of matches(pattern, text))
      if (!add(index + length, part ?? whole, kind)) return found;
  for (const [url, query, , index] of matches(QUERY, text))
    for (const pattern of [KEY_PARAMETER, PERHAPS_KEY])
      for (const [, value, { length }, at] of matches(pattern, query ?? ''))
        if (!add(index + url.length - (query ?? '').length + at + length, value ?? '', 'a key in a URL')) return found;
  return found;
}

/** Each match with its first group, what stands before that group, and its place. */
function* matches(pattern: RegExp, text: string): Generator<[string, string | undefined, string, number]> {
  for (const match of text.matchAll(pattern)) {
    const before = match[1] === undefined ? '' : match[0].slice(0, match[0].lastIndexOf(match[1]));
    yield [match[0], match[1], before, match.index];
  }
}

/** Whether a value is the text of a well-known kind of secret; such a value is not repeated in messages. */
export function looksSecret(text: string): boolean {
  return text.length < 10_000 && secretsIn(text).length > 0;
}

/** `apiKey`, `hf_token`, `password`: a key whose text would be a secret. */
export function namesSecret(name: string): boolean {
  return (
    /^(?:.*[_-])?(?:api[_-]?key|access[_-]?key|secret|token|password|passwd|authorization|bearer)$/i.test(name) ||
    /[a-z](?:ApiKey|Token|Secret|Password)$/.test(name)
  );
}

/** `sk-xxxxxxxx`, `YOUR_KEY`, `$OPENAI_API_KEY`, `<key>`: shows where a secret would stand, and is none. */
export function isPlaceholder(value: string): boolean {
  return /(.)\1{5}/.test(value) || /^(?:\$|<|%|\{)/.test(value) || /your|example|placeholder|\.\.\./i.test(value);
}
