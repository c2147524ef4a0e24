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
          include: ['test/{integration,endurance}/**/*.test.ts'],
          exclude: ['**/*.full.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 1,
        },
      },
      {
        // What takes too long for every day: `npm run test:full`.
        test: {
          name: 'full',
          include: ['test/**/*.full.test.ts'],
          testTimeout: 1_800_000,
          hookTimeout: 60_000,
          pool: 'forks',
          maxWorkers: 1,
        },
      },
    ],
  },
});
