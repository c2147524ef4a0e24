/**
 * The fields of requests that are sent on as they come: OpenAI's, and the additions of vLLM, SGLang and llama.cpp's
 * server. Others are sent on as well, but a person hears of them, because a misspelt field changes nothing anywhere.
 */
import { choiceOf } from '../reply-shapes.ts';
import { SAMPLING_FIELDS } from '../sampling.ts';
import { list, record } from '../upstreams/shapes.ts';

/** Names at the top of a request and, where it has some, of its messages. */
export interface KnownFields {
  top: ReadonlySet<string>;
  message?: ReadonlySet<string>;
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/** What steers a server of either endpoint and is no sampling field. */
const SHARED = words(`
  model stream stream_options stop n user logprobs top_logprobs metadata store service_tier safety_identifier
  prompt_cache_key prompt_cache_retention response_format
  stop_token_ids include_stop_str_in_output skip_special_tokens spaces_between_special_tokens truncate_prompt_tokens
  prompt_logprobs return_token_ids return_tokens_as_token_ids structured_outputs guided_json guided_regex guided_choice
  guided_grammar guided_decoding_backend guided_whitespace_pattern priority request_id cache_salt kv_transfer_params
  vllm_xargs mm_processor_kwargs
  regex ebnf no_stop_trim stop_regex lora_path session_params return_hidden_states return_meta_info return_routed_experts
  rid bootstrap_host bootstrap_port bootstrap_room
  cache_prompt id_slot grammar json_schema n_probs post_sampling_probs return_tokens timings_per_token lora
  provider transforms models route plugins usage`);

export const KNOWN_CHAT: KnownFields = {
  top: new Set([
    ...SHARED,
    ...SAMPLING_FIELDS,
    ...words(`
      messages tools tool_choice parallel_tool_calls functions function_call reasoning_effort verbosity modalities audio
      prediction web_search_options reasoning include_reasoning thinking enable_thinking
      chat_template chat_template_kwargs add_generation_prompt continue_final_message add_special_tokens documents
      separate_reasoning stream_reasoning reasoning_format parse_tool_calls thinking_forced_open`),
  ]),
  message: new Set(
    words(`role content name tool_calls tool_call_id function_call refusal audio annotations reasoning_content reasoning
      reasoning_details thinking cache_control tools prefix partial is_error`),
  ),
};

export const KNOWN_COMPLETION: KnownFields = {
  top: new Set([...SHARED, ...SAMPLING_FIELDS, ...words('prompt echo suffix add_special_tokens')]),
};

/** What of a reply is recorded, or says how it came about and is no part of it. */
const KNOWN_REPLY = {
  root: new Set(
    words(`id object created model choices usage error system_fingerprint service_tier provider timings metadata meta_info
      prompt_token_ids prompt_logprobs kv_transfer_params weight_version policy_version sglext nvext obfuscation`),
  ),
  choice: new Set(
    words(`index message delta text finish_reason native_finish_reason stop_reason matched_stop logprobs token_ids
      prompt_token_ids output_ids meta_info hidden_states routed_experts sglext`),
  ),
  message: new Set(
    words('role content reasoning reasoning_content refusal tool_calls function_call name reasoning_details'),
  ),
};

/** A field of a reply or chunk, and where it stands. */
export interface ReplyField {
  place: 'root' | 'choice' | 'message';
  name: string;
  /** For people and records (`choices[].message.odd`); long names are cut. */
  path: string;
  value: unknown;
}

/** @returns the fields of a reply or chunk that hold something and that are not known; of the choice that counts only. */
export function unknownInReply(reply: Record<string, unknown>): ReplyField[] {
  const fields: ReplyField[] = [];
  const look = (holder: Record<string, unknown>, place: ReplyField['place'], before: string) => {
    for (const name in holder)
      if (!KNOWN_REPLY[place].has(name) && !isEmpty(holder[name]))
        fields.push({ place, name, path: (before + name).slice(0, 200), value: holder[name] });
  };
  look(reply, 'root', '');
  const choice = choiceOf(reply);
  if (choice === undefined) return fields;
  look(choice, 'choice', 'choices[].');
  look(record(choice.message ?? choice.delta), 'message', 'choices[].message.');
  return fields;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** @returns the paths of fields that `known` does not name, each once (`messages[].odd`). */
export function unknownFields(body: unknown, known: KnownFields): string[] {
  const paths = new Set<string>();
  const look = (value: unknown, names: ReadonlySet<string>, place: string) => {
    for (const name of Object.keys(record(value))) if (!names.has(name)) paths.add((place + name).slice(0, 200));
  };
  look(body, known.top, '');
  if (known.message !== undefined)
    for (const message of list(record(body).messages)) look(message, known.message, 'messages[].');
  return [...paths];
}
