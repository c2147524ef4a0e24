import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../../protocol/config.ts';
import { childEnvironment, keyVariables } from '../../../../trainer-daemon/rollouts/child-environment.ts';

const daemon = {
  PATH: '/bin',
  HOME: '/home/me',
  TOKENIZERS_PARALLELISM: 'false',
  MY_TEACHER: 'sk-1',
  OPENAI_API_KEY: 'sk-2',
  HF_TOKEN: 'hf-1',
  AWS_SECRET_ACCESS_KEY: 'aws',
  db_password: 'x',
};

describe('the environment of a child process', () => {
  it('is ours without secrets', () => {
    expect(childEnvironment({}, ['my_teacher'], daemon)).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      TOKENIZERS_PARALLELISM: 'false',
    });
  });

  it('has what the launch adds, and our own variables that it asks for by name', () => {
    const added = {
      OPENAI_API_KEY: 'key of the episode',
      HF_TOKEN: '$HF_TOKEN',
      HOME: '$HOME_OF_ROBOT',
      X: '$X',
    };
    expect(childEnvironment(added, ['MY_TEACHER'], daemon)).toEqual({
      PATH: '/bin',
      HOME: '$HOME_OF_ROBOT',
      TOKENIZERS_PARALLELISM: 'false',
      OPENAI_API_KEY: 'key of the episode',
      HF_TOKEN: 'hf-1',
    });
  });

  it('withholds every variable that the config names as a key', () => {
    const config = configSchema.parse({
      version: 1,
      name: 'x',
      harness: { adapter: 'tabletop-skills', suites: ['s'] },
      teacher: { upstream: 'openai', url: 'http://127.0.0.1:1', model: 'm', apiKeyEnvironment: 'MY_TEACHER' },
      serving: { apiKeyEnvironment: 'MY_SERVER' },
    });
    expect(keyVariables(config).sort()).toEqual(['MY_SERVER', 'MY_TEACHER']);
  });
});
