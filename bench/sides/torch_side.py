"""PyTorch's side of the speed comparisons: the same planner, losses and updates, written as PyTorch is usually written
(eager, fused kernels where it has them, no repeated keys or values, logits at the target tokens only).

Reads one JSON request a line, answers one JSON line; see protocol.ts.
"""
import json
import math
import os
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F


class Clock:
    def __enter__(self):
        self.wall, self.cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_):
        self.result = dict(seconds=time.perf_counter() - self.wall, cpu=time.process_time() - self.cpu)


def rms_norm(x, scale, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * scale


def rotate(x, cos, sin):
    low, high = x.chunk(2, -1)
    return torch.cat([low * cos - high * sin, high * cos + low * sin], -1)


class Planner:
    def __init__(self, request):
        a = self.a = request['architecture']
        flat = np.fromfile(request['weights'], dtype='<f4')
        self.weights, start = {}, 0
        for tensor in request['tensors']:
            size = math.prod(tensor['shape'])
            part = torch.from_numpy(flat[start:start + size].copy()).view(tensor['shape'])
            self.weights[tensor['name']] = part.requires_grad_(True)
            start += size
        half = a['headDim'] // 2
        frequency = a['ropeTheta'] ** (-torch.arange(half, dtype=torch.float64) / half)
        angle = torch.arange(a['context'], dtype=torch.float64)[:, None] * frequency[None]
        self.cos, self.sin = angle.cos().float(), angle.sin().float()

    def hidden(self, ids, caches=None, past=0):
        """ids [B, S] -> [B, S, hidden] behind the last norm. caches: [(keys, values)], each [B, kvHeads, most, headDim]."""
        a, w = self.a, self.weights
        batch, length = ids.shape
        heads, kv, d, eps = a['heads'], a['kvHeads'], a['headDim'], a['rmsEpsilon']
        group = heads // kv
        cos, sin = self.cos[past:past + length], self.sin[past:past + length]
        mask = None
        if length > 1:
            mask = torch.full((length, past + length), float('-inf')).triu(past + 1).repeat(group, 1)
        x = F.embedding(ids, w['model.embed_tokens.weight'])
        for l in range(a['layers']):
            p = f'model.layers.{l}.'
            h = rms_norm(x, w[p + 'input_layernorm.weight'], eps)
            q = F.linear(h, w[p + 'self_attn.q_proj.weight']).view(batch, length, heads, d).transpose(1, 2)
            k = F.linear(h, w[p + 'self_attn.k_proj.weight']).view(batch, length, kv, d).transpose(1, 2)
            v = F.linear(h, w[p + 'self_attn.v_proj.weight']).view(batch, length, kv, d).transpose(1, 2)
            q = rotate(rms_norm(q, w[p + 'self_attn.q_norm.weight'], eps), cos, sin)
            k = rotate(rms_norm(k, w[p + 'self_attn.k_norm.weight'], eps), cos, sin)
            if caches is not None:
                keys, values = caches[l]
                keys[:, :, past:past + length] = k
                values[:, :, past:past + length] = v
                k, v = keys[:, :, :past + length], values[:, :, :past + length]
            # A group's query heads become rows of one matrix: keys and values are not repeated.
            scores = q.reshape(batch, kv, group * length, d) @ k.transpose(-1, -2) / math.sqrt(d)
            if mask is not None:
                scores = scores + mask
            mixed = (scores.softmax(-1) @ v).view(batch, heads, length, d).transpose(1, 2).reshape(batch, length, heads * d)
            x = x + F.linear(mixed, w[p + 'self_attn.o_proj.weight'])
            h = rms_norm(x, w[p + 'post_attention_layernorm.weight'], eps)
            gated = F.silu(F.linear(h, w[p + 'mlp.gate_proj.weight'])) * F.linear(h, w[p + 'mlp.up_proj.weight'])
            x = x + F.linear(gated, w[p + 'mlp.down_proj.weight'])
        return x

    def logits(self, x):
        w = self.weights
        head = w.get('lm_head.weight', w['model.embed_tokens.weight'])
        return F.linear(rms_norm(x, w['model.norm.weight'], self.a['rmsEpsilon']), head)


class Training:
    def __init__(self, planner, items, micro_batch_tokens):
        self.planner, self.optimizer = planner, None
        self.tokens = sum(len(item['responseTokenIds']) for item in items)
        rows = sorted((item['promptTokenIds'] + item['responseTokenIds'], len(item['responseTokenIds'])) for item in items)
        rows.sort(key=lambda row: -len(row[0]))
        parts = []
        for row in rows:
            if parts and (micro_batch_tokens == 0 or len(parts[-1][0][0]) * (len(parts[-1]) + 1) <= micro_batch_tokens):
                parts[-1].append(row)
            else:
                parts.append([row])
        self.batches = [self.batch(part) for part in parts]

    @staticmethod
    def batch(rows):
        # The last token of a row predicts nothing.
        length = max(len(ids) for ids, _ in rows) - 1
        ids = torch.zeros(len(rows), length, dtype=torch.long)
        places, targets = [], []
        for r, (row, response) in enumerate(rows):
            ids[r, :len(row) - 1] = torch.tensor(row[:-1])
            for t in range(len(row) - response, len(row)):
                places.append(r * length + t - 1)
                targets.append(row[t])
        return ids, torch.tensor(places), torch.tensor(targets)

    def loss(self, batch):
        ids, places, targets = batch
        x = self.planner.hidden(ids)
        logits = self.planner.logits(x.reshape(-1, x.shape[-1])[places])
        return F.cross_entropy(logits, targets, reduction='sum') / self.tokens

    def whole_loss(self):
        with torch.no_grad():
            return sum(float(self.loss(batch)) for batch in self.batches)

    def step(self, options):
        parameters = list(self.planner.weights.values())
        if self.optimizer is None:
            self.optimizer = torch.optim.AdamW(parameters, lr=options['learningRate'], betas=tuple(options['betas']),
                                               eps=options['epsilon'], weight_decay=options['weightDecay'], foreach=True)
        total = 0.0
        for batch in self.batches:
            loss = self.loss(batch)
            loss.backward()
            total += float(loss)
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, options['clipNorm']))
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return dict(loss=total, gradNorm=norm)


def caches(planner, batch, most):
    a = planner.a
    shape = (batch, a['kvHeads'], most, a['headDim'])
    return [(torch.zeros(shape), torch.zeros(shape)) for _ in range(a['layers'])]


@torch.no_grad()
def generate(planner, prompts, count, pick):
    """Tokens [B, count], log-probs [B, count], what prompt and decoding took, seconds of each step. pick: log-probs [B, V] -> ids [B, 1]."""
    ids = torch.tensor(prompts)
    length = ids.shape[1]
    kept, tokens, logprobs = caches(planner, len(prompts), length + count), [], []
    with Clock() as prompt:
        x = planner.hidden(ids, kept)[:, -1]
        logp = planner.logits(x).log_softmax(-1)
        tokens.append(pick(logp))
        logprobs.append(logp.gather(1, tokens[-1]))
    steps = []
    with Clock() as decode:
        for n in range(1, count):
            started = time.perf_counter()
            x = planner.hidden(tokens[-1], kept, length + n - 1)[:, -1]
            logp = planner.logits(x).log_softmax(-1)
            tokens.append(pick(logp))
            logprobs.append(logp.gather(1, tokens[-1]))
            steps.append(time.perf_counter() - started)
        tokens, logprobs = torch.cat(tokens, 1).tolist(), torch.cat(logprobs, 1).tolist()
    return tokens, logprobs, prompt.result, decode.result, steps


def main():
    replies, planner, training = os.fdopen(os.dup(1), 'w'), None, None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            kind = request['do']
            if kind == 'load':
                torch.set_num_threads(request['threads'])
                planner, reply = Planner(request), {}
            elif kind == 'loss':
                training = Training(planner, request['items'], request['microBatchTokens'])
                reply = dict(loss=training.whole_loss())
            elif kind == 'step':
                with Clock() as clock:
                    reply = training.step(request['optimizer'])
                reply.update(clock.result)
            elif kind == 'greedy':
                tokens, logprobs, *_ = generate(planner, request['prompts'], request['tokens'], lambda p: p.argmax(-1, keepdim=True))
                reply = dict(tokens=tokens, logprobs=logprobs)
            elif kind == 'sample':
                torch.manual_seed(request['seed'])
                _, _, prompt, decode, steps = generate(planner, request['prompts'], request['tokens'], lambda p: torch.multinomial(p.exp(), 1))
                reply = dict(prompt=prompt, decode=decode, steps=steps)
            elif kind == 'product':
                a, b = torch.randn(request['size'], request['size']), torch.randn(request['size'], request['size'])
                with Clock() as clock:
                    for _ in range(request['repeats']):
                        torch.mm(a, b)
                reply = clock.result
            else:
                reply = dict(error=f'no request {kind}')
        except Exception as error:
            reply = dict(error=repr(error))
        replies.write(json.dumps(reply) + '\n')
        replies.flush()


main()
