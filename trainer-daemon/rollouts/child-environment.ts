/**
 * The environment of harnesses and adapters. They get the daemon's, so that paths, proxies and devices are found, but
 * no secret of it: a harness reaches models through the recording proxy, with the key of its episode.
 */

/** Names that by custom hold secrets. */
const SECRET = /(API_?KEY|ACCESS_KEY|PRIVATE_KEY|TOKEN|SECRET|PASSWORD)$/i;

/**
 * The daemon's environment without its secrets, and what the adapter's launch adds.
 * @param added the `env` of a launch. A value `$NAME` under the same NAME asks for the daemon's own variable, also for
 *   one that is withheld otherwise; where the daemon has none, the child gets none.
 * @param withheld names of further variables that are not handed on: those that the config names as holding keys.
 */
export function childEnvironment(
  added: Record<string, string> = {},
  withheld: readonly string[] = [],
  daemon: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  // Windows does not tell upper from lower case in names.
  const named = new Set(withheld.map((name) => name.toUpperCase()));
  const environment: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(daemon))
    if (!SECRET.test(name) && !named.has(name.toUpperCase())) environment[name] = value;
  for (const [name, value] of Object.entries(added)) {
    const own = value === `$${name}` ? daemon[name] : value;
    if (own === undefined) delete environment[name];
    else environment[name] = own;
  }
  return environment;
}

/** The variables that a config names as holding keys (`apiKeyEnvironment`, wherever it stands). */
export function keyVariables(config: unknown): string[] {
  if (typeof config !== 'object' || config === null) return [];
  return Object.entries(config).flatMap(([key, value]) =>
    key === 'apiKeyEnvironment' && typeof value === 'string' ? [value] : keyVariables(value),
  );
}
