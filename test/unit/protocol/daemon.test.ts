import { describe, expect, it } from 'vitest';
import {
  DAEMON_ERRORS,
  daemonMethods,
  daemonPlaces,
  rpcAnswerSchema,
  rpcRequestSchema,
} from '../../../protocol/daemon.ts';

const linux = (environment: Record<string, string> = {}) => ({ platform: 'linux', home: '/home/ada', environment });

describe('places of a daemon', () => {
  it('lie in the state folder of the user, one folder a workspace', () => {
    const one = daemonPlaces('/work/robots', linux());
    const two = daemonPlaces('/work/robots two', linux());
    expect(one.state).toMatch(/^\/home\/ada\/\.local\/state\/agentic-robo-rl\/workspaces\/[0-9a-f]{20}$/);
    expect(two.state).not.toBe(one.state);
    expect(one.copy).toBe('/work/robots/.agentic-robo-rl/daemon.json');
  });

  it('follow the environment only where it names an absolute path', () => {
    const { state } = daemonPlaces('/w', linux({ XDG_STATE_HOME: '/state' }));
    expect(state).toMatch(/^\/state\/agentic-robo-rl\/workspaces\//);
    expect(daemonPlaces('/w', linux({ XDG_STATE_HOME: './state' })).state).toMatch(/^\/home\/ada\//);
    expect(daemonPlaces('/w', linux({ AGENTIC_ROBO_RL_STATE: '/own', XDG_STATE_HOME: '/state' })).state).toMatch(
      /^\/own\/workspaces\//,
    );
  });

  it('follow the custom of the platform', () => {
    const mac = daemonPlaces('/w', { platform: 'darwin', home: '/Users/ada', environment: {} });
    expect(mac.record).toMatch(
      /^\/Users\/ada\/Library\/Application Support\/agentic-robo-rl\/workspaces\/.*\/daemon.json$/,
    );
    const windows = daemonPlaces('C:\\w', {
      platform: 'win32',
      home: 'C:\\Users\\ada',
      environment: { LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local' },
    });
    expect(windows.log).toMatch(
      /^C:\\Users\\ada\\AppData\\Local\\agentic-robo-rl\\workspaces\\[0-9a-f]{20}\\daemon.log$/,
    );
  });
});

describe('the contract', () => {
  it('has no two errors with one code', () => {
    const codes = Object.values(DAEMON_ERRORS);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('refuses parameters that a method does not know', () => {
    expect(daemonMethods['runs.stop'].params.safeParse({ run: 'a', mode: 'now', force: true }).success).toBe(false);
    expect(daemonMethods['runs.stop'].params.safeParse({ run: 'a', mode: 'soon' }).success).toBe(false);
    expect(daemonMethods['episodes.list'].params.parse({ run: 'a', section: 'teacher' })).toMatchObject({
      offset: 0,
      limit: 100,
      newestFirst: false,
    });
  });

  it('tells requests, results, errors and notifications apart', () => {
    expect(rpcRequestSchema.safeParse({ jsonrpc: '2.0', id: 1, method: 'runs.list' }).success).toBe(true);
    expect(rpcRequestSchema.safeParse({ jsonrpc: '1.0', id: 1, method: 'runs.list' }).success).toBe(false);
    expect(rpcRequestSchema.safeParse({ jsonrpc: '2.0', id: 1, method: 'runs.list', params: [] }).success).toBe(false);
    expect(rpcAnswerSchema.safeParse({ jsonrpc: '2.0', id: 1, result: null }).success).toBe(true);
    expect(rpcAnswerSchema.safeParse({ jsonrpc: '2.0', id: 1 }).success).toBe(false);
    const error = { code: DAEMON_ERRORS.busy, message: 'a run is at work', data: { kind: 'busy', run: 'runs/a' } };
    expect(rpcAnswerSchema.safeParse({ jsonrpc: '2.0', id: null, error }).success).toBe(true);
  });
});
