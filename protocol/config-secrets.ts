/** Finds secrets that were written into a config, where they would end in version control and in every run. */

/** Tokens of well-known makers, and passwords in URLs. Each names what it is. */
const TOKENS: [RegExp, string][] = [
  [/\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}/g, 'an API key'],
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
  [/\bhttps?:\/\/[^\s/:@"']{1,64}:([^\s/@"']{3,128})@/g, 'a password in a URL'],
];

export interface Secret {
  start: number;
  end: number;
  kind: string;
}

/** At most ten; comments count, too. */
export function secretsIn(text: string): Secret[] {
  const found: Secret[] = [];
  for (const [pattern, kind] of TOKENS)
    for (const match of text.matchAll(pattern)) {
      if (isPlaceholder(match[1] ?? match[0])) continue;
      const at = match[1] === undefined ? 0 : match[0].lastIndexOf(match[1]);
      found.push({ start: match.index + at, end: match.index + at + (match[1] ?? match[0]).length, kind });
      if (found.length >= 10) return found;
    }
  return found;
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
