import { defineConfig } from 'vitest/config';

// The limits only guard against hangs: on a loaded machine a test may take many times as long as alone. What is to be
// fast is measured in bench/, not here.
const FULL_LIMIT = 1_800_000;
const INTEGRATION_LIMIT = 300_000;
const EDITOR = ['test/unit/extension/**/*.test.ts'];
/** For `expect.poll`. */
const poll = { timeout: 60_000 };

export default defineConfig(({ mode }) => {
  // Read by test/full.ts, in every process of the tests.
  const full = mode === 'full';
  if (full) process.env.AGENTIC_ROBO_RL_FULL = '1';
  const unitLimit = full ? FULL_LIMIT : 180_000;
  const unit = {
    testTimeout: unitLimit,
    hookTimeout: unitLimit,
    expect: { poll },
    pool: 'forks',
    maxWorkers: 2,
  } as const;
  return {
    test: {
      projects: [
        {
          test: {
            name: 'unit',
            ...unit,
            include: ['test/unit/**/*.test.ts'],
            exclude: EDITOR,
            // Starting a process and loading the same modules for each file takes as long as a third of the tests.
            isolate: false,
          },
        },
        {
          // Each file has an API of the editor of its own, which the modules of others must not have got hold of.
          test: {
            name: 'unit-editor',
            ...unit,
            include: EDITOR,
          },
        },
        {
          test: {
            name: 'integration',
            include: ['test/{integration,endurance}/**/*.test.ts'],
            exclude: ['**/*.full.test.ts'],
            testTimeout: INTEGRATION_LIMIT,
            hookTimeout: INTEGRATION_LIMIT,
            expect: { poll },
            pool: 'forks',
            maxWorkers: 2,
          },
        },
        {
          // A real VS Code with the packaged extension (`npm run package` comes first).
          test: {
            name: 'workbench',
            include: ['test/workbench/**/*.test.ts'],
            globalSetup: 'test/workbench/bed/install.ts',
            testTimeout: INTEGRATION_LIMIT,
            hookTimeout: INTEGRATION_LIMIT,
            expect: { poll },
            pool: 'forks',
            // A window waits for its server most of the time, so that two at a time are done in two thirds of it.
            maxWorkers: 2,
            // A busy window does not hear everything; a person would do it again. What fails three times fails.
            retry: 2,
          },
        },
        {
          // What takes too long for every day: `npm run test:full`.
          test: {
            name: 'full',
            include: ['test/**/*.full.test.ts'],
            testTimeout: FULL_LIMIT,
            hookTimeout: INTEGRATION_LIMIT,
            expect: { poll },
            pool: 'forks',
            maxWorkers: 1,
          },
        },
      ],
    },
  };
});
