import { expect, it } from 'vitest';
import { filesPattern, outputFolders, outputsNamedIn, splitPattern } from '../../../extension/adapters/outputs-text.ts';

it('reads the lines that name outputs', () => {
  const text =
    "// @outputs ./recordings/*\n  //@outputs a b/**  \nconst x = '// @outputs no';\n/* @outputs no */\n// @outputs\n";
  expect(outputsNamedIn(text)).toEqual(['./recordings/*', 'a b/**']);
});

it('splits patterns at their first wildcard', () => {
  expect(splitPattern('./recordings/*')).toEqual({ base: 'recordings', rest: '*' });
  expect(splitPattern('../runs/*/teacher/output/*')).toEqual({ base: '../runs', rest: '*/teacher/output/*' });
  expect(splitPattern('**')).toEqual({ base: '.', rest: '**' });
  expect(splitPattern('./one/')).toEqual({ base: 'one', rest: '' });
});

it('asks for the files in the folders', () => {
  expect(['', '*', 'a/*', '**', 'a/**'].map(filesPattern)).toEqual([
    ...['**/*', '*/**/*', 'a/*/**/*', '**/*', 'a/**/*'],
  ]);
});

it.each<[string, string[], string[]]>([
  ['', ['a.json', 'b/c.txt'], ['.']],
  ['', [], []],
  ['*', ['1/result.json', '2/logs/run.log', '2/result.json', 'stray.txt'], ['1', '2']],
  ['*/output/*', ['r/output/e1/x', 'r/output/e2/y/z', 'r/output/stray'], ['r/output/e1', 'r/output/e2']],
  // With ** the uppermost folders that hold files: logs/ belongs to its episode.
  ['**', ['a/1/result.json', 'a/1/logs/run.log', 'a/2/result.json', 'b/result.json'], ['a/1', 'a/2', 'b']],
  ['**', ['result.json', 'a/x'], ['.']],
])('%s of %j', (rest, files, folders) => {
  expect(outputFolders(files, rest)).toEqual(folders);
});
