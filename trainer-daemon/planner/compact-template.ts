/**
 * The chat template of planners of our own: ChatML with as few tokens as it can do with, because contexts are short and
 * every token costs time. One line a tool; reasoning stays in the history; a tool's result is
 * `<tool_response>...</tool_response>` right after the call; a call is `<tool_call>NAME{JSON arguments}</tool_call>`.
 * Each message ends in a control token and begins behind one, so a longer transcript extends a shorter one token for
 * token. Plain Jinja2: transformers renders it to the same text.
 */
export const COMPACT_TEMPLATE = `{#- compact-chatml 1: one line a tool, calls as NAME{arguments} -#}
{%- macro kind(schema) -%}
{%- if schema is not mapping -%}any
{%- elif schema['enum'] is defined -%}
{%- for value in schema['enum'] -%}{{- '' if loop.first else '|' -}}{{- value if value is string else value | tojson -}}{%- endfor -%}
{%- elif schema['type'] is not defined -%}any
{%- elif schema['type'] == 'array' -%}{{- kind(schema['items']) if schema['items'] is mapping else 'any' -}}[]
{%- elif schema['type'] is string -%}{{- schema['type'] -}}
{%- else -%}{{- schema['type'] | join('|') -}}
{%- endif -%}
{%- endmacro -%}
{%- macro signature(tool) -%}
{{- tool['name'] -}}(
{%- set parameters = tool['parameters'] if tool['parameters'] is mapping else {} -%}
{%- set properties = parameters['properties'] if parameters['properties'] is mapping else {} -%}
{%- set required = parameters['required'] if parameters['required'] is defined else [] -%}
{%- for name, schema in properties | items -%}
{{- '' if loop.first else ', ' -}}{{- name -}}{{- '' if name in required else '?' -}}{{- ':' + kind(schema) -}}
{%- endfor -%}
)
{%- endmacro -%}
{%- set opening = messages[0]['content'] or '' if messages[0]['role'] == 'system' else '' -%}
{%- if tools or messages[0]['role'] == 'system' -%}
{{- '<|im_start|>system\\n' + opening -}}
{%- if tools -%}
{{- '\\nTools:' if opening else 'Tools:' -}}
{%- for tool in tools -%}{{- '\\n' + signature(tool['function']) -}}{%- endfor -%}
{%- endif -%}
{{- '<|im_end|>' -}}
{%- endif -%}
{%- for message in messages -%}
{%- if message['role'] == 'system' and loop.first -%}
{%- elif message['role'] == 'assistant' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if message['reasoning_content'] -%}{{- '<think>' + message['reasoning_content'] + '</think>' -}}{%- endif -%}
{{- message['content'] or '' -}}
{%- for call in message['tool_calls'] or [] -%}
{%- set arguments = call['function']['arguments'] -%}
{{- '<tool_call>' + call['function']['name'] -}}{{- arguments if arguments is string else arguments | tojson -}}{{- '</tool_call>' -}}
{%- endfor -%}
{{- '<|im_end|>' -}}
{%- elif message['role'] == 'tool' -%}
{{- '<tool_response>' + (message['content'] or '') + '</tool_response>' -}}
{%- else -%}
{{- '<|im_start|>' + message['role'] + '\\n' + (message['content'] or '') + '<|im_end|>' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}
`;

/** Whether a template is the one above (as read back from a checkpoint, whatever its line ends). */
export function isCompact(template: string): boolean {
  return template.startsWith('{#- compact-chatml 1');
}
