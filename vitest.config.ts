import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000, pool: 'forks', maxWorkers: 2 },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 1,
        },
      },
    ],
  },
});
