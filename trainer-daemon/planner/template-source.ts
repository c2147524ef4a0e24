/** Where a checkpoint's chat template stands: a file of its own, or tokenizer_config.json. */
import { join } from 'node:path';
import { CheckpointError } from './checkpoint-error.ts';
import { isCompact } from './compact-template.ts';
import { type JsonObject, readTextFile } from './json-file.ts';

export interface TemplateSource {
  text: string;
  /** The file it was read from. */
  file: string;
  /** Whether a line of the template is a line of the file. */
  ownFile: boolean;
  /** What its owner should know of where it was found. */
  note?: string;
}

/** The longest known has about 20 KB; reading a hostile one must come to an end. */
const LONGEST = 1_000_000;

/**
 * The folder's chat template. chat_template.jinja rules over tokenizer_config.json's `chat_template`, a text or a list of `{name, template}`, of
 * which `tool_use` rules over `default`: a harness offers tools.
 * @param config the folder's tokenizer_config.json.
 * @throws CheckpointError when there is none: no template of ours could stand in for the one a model was trained with.
 */
export async function readChatTemplate(folder: string, config: JsonObject): Promise<TemplateSource> {
  const source = await findChatTemplate(folder, config);
  if (source.text.length > LONGEST) {
    throw new CheckpointError(
      source.file,
      `the chat template has ${source.text.length} characters, more than any needs (${LONGEST}); copy it from the checkpoint again`,
    );
  }
  return source;
}

async function findChatTemplate(folder: string, config: JsonObject): Promise<TemplateSource> {
  const file = join(folder, 'chat_template.jinja');
  const own = await readTextFile(file);
  const configFile = join(folder, 'tokenizer_config.json');
  const value = config.chat_template ?? undefined;
  if (own !== undefined) {
    const differs = typeof value === 'string' && value.trim() !== own.trim();
    const note = 'is used; tokenizer_config.json has another chat_template, which is ignored';
    return { text: own, file, ownFile: true, ...(differs ? { note } : {}) };
  }
  if (value === undefined) {
    throw new CheckpointError(
      file,
      "does not exist, and tokenizer_config.json has no chat_template; a base model has none: copy an instruction-tuned checkpoint's",
    );
  }
  if (typeof value === 'string') {
    // Planners of ours are written with both; the file was lost, or taken away for a reason.
    const note = 'its chat_template is used, because chat_template.jinja does not exist';
    return { text: value, file: configFile, ownFile: false, ...(isCompact(value) ? { note } : {}) };
  }
  const named = Array.isArray(value) ? value.map((entry) => (entry ?? {}) as Record<string, unknown>) : [];
  const sound = named.filter(({ name, template }) => typeof name === 'string' && typeof template === 'string');
  if (sound.length === 0 || sound.length < named.length) {
    throw new CheckpointError(
      configFile,
      'chat_template must be a text or a list of {name, template}; copy the file from the checkpoint again',
    );
  }
  const chosen = sound.find(({ name }) => name === 'tool_use') ?? sound.find(({ name }) => name === 'default');
  if (chosen === undefined) {
    throw new CheckpointError(
      configFile,
      `chat_template has only the templates ${sound.map(({ name }) => name).join(', ')}; one named "tool_use" or "default" is needed`,
    );
  }
  return { text: chosen.template as string, file: configFile, ownFile: false };
}
