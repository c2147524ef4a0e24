import { beforeEach, describe, expect, it, vi } from 'vitest';

interface Group {
  viewColumn: number;
  tabs: Tab[];
  activeTab?: Tab;
}
interface Tab {
  input: unknown;
  group: Group;
}
type Listener = () => void;

const editor = vi.hoisted(() => {
  class TabInputWebview {
    readonly viewType: string;
    constructor(viewType: string) {
      this.viewType = viewType;
    }
  }
  const run: string[] = [];
  const state = { groups: [] as unknown[], active: undefined as unknown, told: undefined as unknown, run };
  return { TabInputWebview, state };
});

vi.mock('vscode', () => ({
  TabInputWebview: editor.TabInputWebview,
  ViewColumn: { Beside: -2 },
  commands: { executeCommand: async (id: string) => void editor.state.run.push(id) },
  window: {
    tabGroups: {
      get all() {
        return editor.state.groups;
      },
      get activeTabGroup() {
        return editor.state.active;
      },
      onDidChangeTabs: () => ({ dispose: () => {} }),
      onDidChangeTabGroups: (listener: unknown) => {
        editor.state.told = listener;
        return { dispose: () => {} };
      },
    },
  },
}));

const { columnOfStages, keepStageApart, roomBesideStage } = await import(
  '../../../../../extension/replay/stage/room.ts'
);

const STAGE = new editor.TabInputWebview('mainThreadWebview-agenticRoboRL.stage');
/** Groups by what is in their tabs; the last tab is in front. */
function show(active: number, ...groups: unknown[][]): Group[] {
  const made = groups.map((inputs, k): Group => {
    const group: Group = { viewColumn: k + 1, tabs: [] };
    group.tabs = inputs.map((input) => ({ input, group }));
    group.activeTab = group.tabs.at(-1);
    return group;
  });
  editor.state.groups = made;
  editor.state.active = made[active];
  return made;
}

beforeEach(() => {
  editor.state.run.length = 0;
});

describe('the room of stages', () => {
  it('is locked when a stage is opened in a group of its own', () => {
    const told = () => (editor.state.told as Listener)();
    show(0, ['text']);
    keepStageApart();
    // The editor tells of groups and tabs one after the other.
    for (const moment of [() => show(0, ['text'], []), () => show(1, ['text'], []), () => show(1, ['text'], [STAGE])]) {
      expect(editor.state.run).toEqual([]);
      moment();
      told();
    }
    expect(editor.state.run).toEqual(['workbench.action.lockEditorGroup']);
    editor.state.run.length = 0;
    // Among texts, as the only group, and where another group is in use by now, nothing is locked.
    show(0, ['text']);
    keepStageApart();
    for (const one of [
      () => show(1, ['text'], ['other', STAGE]),
      () => show(0, [STAGE]),
      () => show(0, ['t'], [STAGE]),
    ]) {
      one();
      told();
    }
    expect(editor.state.run).toEqual([]);
  });

  it('takes further stages; texts get a group beside the only one', async () => {
    show(0, ['text'], ['other', STAGE], [STAGE, STAGE]);
    expect(columnOfStages()).toBe(3);
    show(0, ['text']);
    expect(columnOfStages()).toBe(-2);
    await roomBesideStage();
    expect(editor.state.run).toEqual([]);
    show(0, [STAGE]);
    await roomBesideStage();
    expect(editor.state.run[0]).toBe('workbench.action.newGroupLeft');
    expect(editor.state.run).toContain('workbench.action.lockEditorGroup');
  });
});
