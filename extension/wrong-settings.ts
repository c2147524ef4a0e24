/** Tells the user of settings that are not what they must be, and leads to them. */
import { commands, type Disposable, type LogOutputChannel, l10n } from 'vscode';
import { SECTION } from './ids.ts';
import { tellWarning } from './messages.ts';
import { onWrongSetting, type SettingName } from './settings.ts';

/** One warning, with the way to the setting, and a line in the log for each wrong value; nothing is told twice. */
export function tellWrongSettings(log: LogOutputChannel): Disposable {
  return onWrongSetting(({ setting, message }) => {
    log.warn(message);
    const open = l10n.t('Open Settings');
    void tellWarning(`AgenticRoboRL: ${message}`, open).then((chosen) => chosen === open && showSettings(setting));
  });
}

/** Opens the editor's settings at one of ours. */
export function openSetting(name: SettingName): Thenable<unknown> {
  return showSettings(`${SECTION}.${name}`);
}

function showSettings(setting: string): Thenable<unknown> {
  return commands.executeCommand('workbench.action.openSettings', setting);
}
